/* SPDX-License-Identifier: MIT */
/*
 * actor/handover.h - a new member of a pool with keys begins when the old ones are done.
 *
 * With `route: hash` a new member owns keys that old members have owned. Its first messages wait in
 * its mailbox until each old member (a *giver*) has settled what it had accepted before: a giver's
 * *mark* is the end of its mailbox at the time when no sender uses the old members any more. So two
 * members never have messages of one key in hand, and the order of each sender stays. If a giver
 * takes too long, the new member begins at the time-out, and the log says so.
 *
 * Life: create, under the lock of the pool. The old array of members holds one reference, and each
 * new member one. The reclamation of the array sets the marks; the new members look at them in
 * their turns (newcomer.h).
 */
#ifndef ACTOR_HANDOVER_H
#define ACTOR_HANDOVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct actor;

struct giver {
    struct actor *actor; /* const; it may have ended */
    uint32_t serial;     /* const */
    uint32_t mark;       /* written before `marked` */
};

struct handover {
    _Atomic uint32_t references;
    _Atomic bool marked; /* set once */
    uint64_t begun_ns;   /* const */
    uint64_t due_ns;     /* const: the time-out; TIMER_NEVER: none */
    bool in_order;       /* const: the givers settle in order, as their spec says */
    uint32_t count;      /* const */
    struct giver givers[];
};

/* With one reference and room for `count` givers, which the caller fills in. NULL when memory is
 * out. Returns owned. */
struct handover *handover_create(uint32_t count, uint64_t now_ns, uint64_t due_ns);
/* NULL is allowed in both. */
struct handover *handover_ref(struct handover *handover);
void handover_unref(struct handover *handover);

/* No sender uses the old members any more. Once. */
void handover_mark(struct handover *handover);

#endif
