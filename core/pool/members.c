/* SPDX-License-Identifier: MIT */
#include "pool/members.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "actor/handover.h"

static struct members *allocate(uint32_t room)
{
    struct members *members = calloc(1, sizeof *members + room * sizeof members->own[0]);

    if (!members)
        return NULL;
    members->memory = members;
    members->members = members->own;
    members->room = room;
    members->is_dense = true;
    atomic_init(&members->users, 1);
    return members;
}

struct members *members_create(uint32_t count)
{
    struct members *members = allocate(count);

    if (members)
        members->count = count;
    return members;
}

/* Memory for more to come, so that growth by one copies each member a few times in all. */
static struct members *copy(const struct members *present, uint32_t count)
{
    struct members *members = allocate(count + count / 2);

    if (members)
        memcpy(members->own, present->members, present->count * sizeof present->members[0]);
    return members;
}

static struct members *share(struct members *memory)
{
    struct members *members = allocate(0);

    if (!members)
        return NULL;
    /* Relaxed: the published array, which the caller keeps from being replaced, is one user. */
    atomic_fetch_add_explicit(&memory->users, 1, memory_order_relaxed);
    members->memory = memory;
    members->members = memory->own;
    return members;
}

struct members *members_extend(struct members *present, uint32_t count)
{
    struct members *memory = present->memory;
    bool is_newest = memory->used == present->count && count <= memory->room;
    struct members *members = is_newest ? share(memory) : copy(present, count);

    if (!members)
        return NULL;
    members->count = count;
    members->is_dense = present->is_dense;
    return members;
}

static void leave(struct members *memory)
{
    /* Each release pairs with the acquire of the last one: all uses were before. */
    if (atomic_fetch_sub_explicit(&memory->users, 1, memory_order_acq_rel) == 1)
        free(memory);
}

void members_destroy(struct members *members)
{
    struct members *memory;

    if (!members)
        return;
    memory = members->memory;
    handover_unref(members->handover);
    if (members != memory)
        free(members);
    leave(memory);
}

static void free_members(struct retired *retired, struct reader *reader)
{
    struct members *members = (struct members *)(void *)((char *)retired -
                                                         offsetof(struct members, retired));

    (void)reader;
    if (members->handover)
        handover_mark(members->handover);
    members_destroy(members);
}

void members_publish(_Atomic(struct members *) *slot, struct members *next, struct reader *reader)
{
    struct members *old;

    next->memory->used = next->count;
    /* [P1] pairs with the acquire of the senders in route.c. */
    old = atomic_exchange_explicit(slot, next, memory_order_acq_rel);
    if (!old)
        return;
    old->retired.free = free_members;
    reader_retire(reader, &old->retired);
}
