/* SPDX-License-Identifier: MIT */
/*
 * actor/given_up.h - requests for which their requesters no longer wait.
 *
 * A requester that cancels a request, or whose incarnation ends, does not know where the request is
 * now. It adds a note {requester, reference} here, and so does an outside thread whose time-out has
 * passed. An actor checks the notes before it handles a request, and drops a request that was given
 * up. The time-out of an actor's request needs no note: the message has its deadline.
 *
 * A note is removed when its request ends in any way: so there are never more notes than requests
 * under way. When memory is out, no note is added, and the request is handled for nothing.
 *
 * Any thread, any operation. While there are no notes, a check is one load.
 */
#ifndef ACTOR_GIVEN_UP_H
#define ACTOR_GIVEN_UP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/table.h"

#include <weir/message.h>

struct given_up {
    _Atomic uint32_t count; /* written under the lock: notes */
    _Atomic uint64_t added; /* written under the lock: notes so far */
    struct lock lock;
    struct table notes; /* lock: by requester and reference */
};

void given_up_init(struct given_up *given_up);
void given_up_finish(struct given_up *given_up);

/* False: there are no notes. Relaxed: a requester that gave up before this check, as far as this
 * thread can know, has counted its note before. */
static inline bool given_up_any(const struct given_up *given_up)
{
    return atomic_load_explicit(&given_up->count, memory_order_relaxed) > 0;
}

/* The number of notes that were added so far. Relaxed: a check after this call finds those of them
 * that are still there, since both are written under the lock. */
static inline uint64_t given_up_added(const struct given_up *given_up)
{
    return atomic_load_explicit(&given_up->added, memory_order_relaxed);
}

void given_up_add(struct given_up *given_up, weir_pid requester, uint64_t reference);

/* True when there is a note; given_up_take also removes it. */
bool given_up_has(struct given_up *given_up, weir_pid requester, uint64_t reference);
bool given_up_take(struct given_up *given_up, weir_pid requester, uint64_t reference);

#endif
