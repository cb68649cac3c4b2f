/* SPDX-License-Identifier: MIT */
/*
 * actor/find.h - finds the actor of a PID. Any thread; see slots.h.
 */
#ifndef ACTOR_FIND_H
#define ACTOR_FIND_H

#include "actor/runtime.h"

/* The actor in the slot of a PID; NULL: WEIR_EUNKNOWN. The slot may hold another actor now: compare
 * the serial. */
static inline struct actor *actor_find(struct runtime *runtime, weir_pid pid)
{
    /* An even serial is that of a free slot: see actor/slots.h. */
    return actor_serial_of(pid) & 1 ? slots_get(&runtime->slots, (uint32_t)pid) : NULL;
}

/* The actor of a PID, alive at this instant: in a read section its slot is not used again.
 * WEIR_EUNKNOWN: no actor of this runtime ever had the PID; WEIR_ETERMINATED: its actor has ended.
 * Inline, since each message that is sent to a PID needs it. */
static inline int actor_find_alive(struct runtime *runtime, weir_pid pid, struct actor **out)
{
    struct actor *actor = actor_find(runtime, pid);
    uint64_t word;

    if (!actor)
        return WEIR_EUNKNOWN;
    /* Acquire pairs with [M0]: the slot's fields belong to this serial. */
    word = atomic_load_explicit(&actor->mailbox.word, memory_order_acquire);
    if (mailbox_serial(word) != actor_serial_of(pid))
        return mailbox_serial(word) < actor_serial_of(pid) ? WEIR_EUNKNOWN : WEIR_ETERMINATED;
    *out = actor;
    return 0;
}

/* The routing of the pool with this PID; NULL: it has ended, or is no pool. Any thread, in a read
 * section; valid to its end, also if the pool ends during it. */
struct router *actor_find_router(struct runtime *runtime, weir_pid pid);

#endif
