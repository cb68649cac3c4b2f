/* SPDX-License-Identifier: MIT */
#include "actor/descriptors.h"

#include <stdbool.h>
#include <stdlib.h>

#include <weir/descriptors.h>
#include <weir/status.h>

#define PART_FOR_OTHERS 8u
#define USERS_FIRST 8u

struct descriptors_user {
    const void *who; /* an owner of members, or an actor: an address alone */
    uint32_t taken;
};

void descriptors_init(struct descriptors *descriptors, uint32_t limit)
{
    *descriptors = (struct descriptors){ .limit = limit ? limit : UINT32_MAX };
    lock_init(&descriptors->lock, LOCK_DESCRIPTORS);
}

void descriptors_finish(struct descriptors *descriptors)
{
    free(descriptors->users);
    lock_finish(&descriptors->lock);
}

/* --- users ------------------------------------------------------------------------------------ */

static struct descriptors_user *add_locked(struct descriptors *descriptors, const void *who)
{
    uint32_t room = descriptors->room ? 2 * descriptors->room : USERS_FIRST;
    struct descriptors_user *users = descriptors->users;

    if (descriptors->count == descriptors->room) {
        users = realloc(users, room * sizeof *users);
        if (!users)
            return NULL;
        descriptors->users = users;
        descriptors->room = room;
    }
    users[descriptors->count] = (struct descriptors_user){ who, 0 };
    return &users[descriptors->count++];
}

/* Pools are few. NULL: memory is out. */
static struct descriptors_user *user_locked(struct descriptors *descriptors, const void *who)
{
    for (uint32_t i = 0; i < descriptors->count; i++)
        if (descriptors->users[i].who == who)
            return &descriptors->users[i];
    return add_locked(descriptors, who);
}

static void forget_locked(struct descriptors *descriptors, struct descriptors_user *user)
{
    if (user->taken == 0)
        *user = descriptors->users[--descriptors->count];
}

/* --- shares ----------------------------------------------------------------------------------- */

static uint32_t for_others(uint32_t limit)
{
    uint32_t part = limit / PART_FOR_OTHERS;

    if (limit == UINT32_MAX)
        return 0;
    if (part < WEIR_DESCRIPTORS_FLOOR)
        part = WEIR_DESCRIPTORS_FLOOR;
    return part < limit ? part : limit;
}

static bool is_granted(const struct descriptors *descriptors, uint32_t all, uint32_t own)
{
    uint32_t limit = descriptors->limit;

    return own <= WEIR_DESCRIPTORS_FLOOR || all <= limit - for_others(limit);
}

static int set_locked(struct descriptors *descriptors, const void *who, uint32_t before,
                      uint32_t count)
{
    struct descriptors_user *user = user_locked(descriptors, who);
    int status = 0;

    if (!user)
        return WEIR_ENOMEM;
    if (count > before && (count - before > UINT32_MAX - descriptors->taken ||
                           !is_granted(descriptors, descriptors->taken + (count - before),
                                       user->taken + (count - before))))
        status = WEIR_EFULL;
    if (status == 0) {
        user->taken += count - before;
        descriptors->taken += count - before;
    }
    forget_locked(descriptors, user);
    return status;
}

int descriptors_set(struct descriptors *descriptors, const void *who, uint32_t before,
                    uint32_t count)
{
    int status;

    lock_acquire(&descriptors->lock);
    status = set_locked(descriptors, who, before, count);
    lock_release(&descriptors->lock);
    return status;
}

uint32_t descriptors_taken(struct descriptors *descriptors)
{
    uint32_t taken;

    lock_acquire(&descriptors->lock);
    taken = descriptors->taken;
    lock_release(&descriptors->lock);
    return taken;
}
