/* SPDX-License-Identifier: MIT */
#include "kit_watch.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "kit_turn.h"

#define EVENTS_ALL ((uint32_t)WEIR_READABLE | (uint32_t)WEIR_WRITABLE)

static struct kit_watch **find(struct weir_kit *kit, int descriptor)
{
    struct kit_watch **link = &kit->watches;

    while (*link && (*link)->descriptor != descriptor)
        link = &(*link)->next;
    return link;
}

static void drop(struct kit_watch **link)
{
    struct kit_watch *watch = *link;

    *link = watch->next;
    free(watch);
}

/* Same answers as the host's poller. */
static int check(struct weir_kit *kit, int descriptor, uint32_t events, weir_ready *ready)
{
    struct stat file;

    if (descriptor < 0 || events == 0 || (events & ~EVENTS_ALL) || !ready ||
        fstat(descriptor, &file) != 0)
        return WEIR_EINVALID;
    if (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode))
        return WEIR_EUNSUPPORTED;
    if (*find(kit, descriptor))
        return WEIR_EEXISTS;
    return kit_allocation_fails(kit) ? WEIR_ENOMEM : 0;
}

int kit_watch_begin(struct weir_self *self, int descriptor, uint32_t events, weir_ready *ready,
                    void *context, uint64_t *out_watch)
{
    struct weir_kit *kit = kit_of(self);
    int status = check(kit, descriptor, events, ready);
    struct kit_watch *watch;

    if (status != 0)
        return status;
    watch = kit_take(sizeof *watch);
    *watch = (struct kit_watch){
        .number = ++kit->last_number,
        .descriptor = descriptor,
        .events = events,
        .ready = ready,
        .context = context,
    };
    *find(kit, descriptor) = watch;
    if (out_watch)
        *out_watch = watch->number;
    return 0;
}

int kit_watch_end(struct weir_self *self, uint64_t number)
{
    struct kit_watch **link = &kit_of(self)->watches;

    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if (!*link)
        return WEIR_EUNKNOWN;
    drop(link);
    return 0;
}

int weir_kit_ready(struct weir_kit *kit, int descriptor, int readiness)
{
    struct kit_watch **link = find(kit, descriptor);
    struct kit_watch watch;

    if (!*link || (readiness >= 0 && !((uint32_t)readiness & (*link)->events)))
        return WEIR_EUNKNOWN;
    watch = **link;
    drop(link); /* the callback may begin another watch */
    if (readiness >= 0)
        readiness &= (int)watch.events;
    kit_turn_begin(kit);
    watch.ready(&kit->self, kit->state, watch.context, descriptor, readiness);
    kit_turn_end(kit);
    return 0;
}

/* The readiness to report now; 0: none yet. */
static int look(struct weir_kit *kit, const struct kit_watch *watch)
{
    struct pollfd look = {
        .fd = watch->descriptor,
        .events = (short)((watch->events & WEIR_READABLE ? POLLIN : 0) |
                          (watch->events & WEIR_WRITABLE ? POLLOUT : 0)),
    };

    if (poll(&look, 1, 0) <= 0)
        return 0;
    if (look.revents & POLLNVAL) {
        kit_problem(kit, "descriptor %d was closed while it was watched", watch->descriptor);
        return WEIR_EINVALID;
    }
    if (look.revents & (POLLERR | POLLHUP))
        return (int)watch->events;
    return (look.revents & POLLIN ? (int)WEIR_READABLE : 0) |
           (look.revents & POLLOUT ? (int)WEIR_WRITABLE : 0);
}

size_t weir_kit_poll(struct weir_kit *kit)
{
    uint64_t newest =
        kit->last_number; /* watches that begin during this call wait for the next one */
    struct kit_watch *watch = kit->watches;
    size_t reported = 0;

    while (watch) {
        int readiness = watch->number <= newest ? look(kit, watch) : 0;

        if (readiness == 0) {
            watch = watch->next;
            continue;
        }
        reported += weir_kit_ready(kit, watch->descriptor, readiness) == 0;
        watch = kit->watches; /* the callback may have changed the list */
    }
    return reported;
}

size_t weir_kit_watch_count(const struct weir_kit *kit)
{
    size_t count = 0;

    for (const struct kit_watch *watch = kit->watches; watch; watch = watch->next)
        count++;
    return count;
}

void kit_watch_finish(struct weir_kit *kit)
{
    while (kit->watches)
        drop(&kit->watches);
}
