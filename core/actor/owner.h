/*
 * actor/owner.h - what an actor asks of its owner: the pool of a worker or a manager, or who
 * made a source, a child or a single actor.
 *
 * The place of an actor names the owner. Operations are called in the actor's own turn, without
 * locks, at rare points of its life; what a turn looks at for each message is a field. An
 * operation that is NULL does what stands beside it.
 */
#ifndef ACTOR_OWNER_H
#define ACTOR_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/fullness.h"

struct actor;
struct executor;
struct message;
struct owner;
struct place;
struct spec;
struct waiters;

/* Who decides about an actor that fails too often, and whose restart escalates. */
enum appeal {
    APPEAL_NOBODY,  /* a reload may yet take the actor back, or it leaves: it is tried again */
    APPEAL_ABOVE,   /* the owner's owner: `escalate` asks */
    APPEAL_PROGRAM, /* the program ends */
};

struct owner_ops {
    bool replaces; /* an actor that failed or stopped is opened again, by the restart of its spec */
    bool members;  /* what its actors handle was sent to the owner; the next five are there */

    /* Its actor is open: it is let in, unless it has been told to go. NULL: it is let in. */
    void (*opened)(struct place *place);
    /* Its actor is between two incarnations: nothing more is let in. NULL: its mailbox closes. */
    void (*failed)(struct place *place);
    /* Hands a message of the backlog to another member. Takes it on 0. */
    int (*reroute)(struct place *place, struct message *message);
    /* Room was made, and somebody waits for it, here or above: `places` are free in a member
     * again, and `pulled` messages were taken from the shared queue. */
    void (*freed)(struct owner *owner, uint32_t places, uint32_t pulled, struct executor *executor);
    /* The turn ends with messages in the shared queue: another member may take them. */
    void (*pass_on)(struct owner *owner, struct executor *executor);

    /* Its actor has ended. The place lives until this returns; the owner, too, when it has
     * members, for as long as the read section. NULL: nothing. */
    void (*ended)(struct place *place);

    /* Whether the actor has the order to leave. `out_due_ns`: the latest time for that, 0 = none.
     * NULL: the signals decide. */
    bool (*is_leaving)(struct place *place, uint64_t *out_due_ns);
    /* A leaving actor has nothing left. False: it has been called back, or has the shared queue to
     * finish; that not if it `leaves_queue` to others. NULL: true. */
    bool (*may_close)(struct place *place, bool leaves_queue);
    /* SIGNAL_RESPEC: fills the new spec, owned by the caller. False: there is none. */
    bool (*take_spec)(struct place *place, struct spec **out_spec);

    /* The queue that members share; all NULL: they share none. */
    struct message *(*take)(struct actor *actor); /* NULL: the actor is noted as idle */
    void (*awake)(struct place *place);           /* the note is taken back */
    bool (*keeps)(struct place *place);           /* the actor has to finish it before it leaves */
    void (*discard)(struct place *place, bool as_removed); /* if it keeps it; or then only if the
                                                              owner as a whole is removed */

    /* Failures past the bound. NULL: APPEAL_PROGRAM. */
    enum appeal (*appeal)(struct place *place);
    void (*escalate)(struct place *place);

    /* The actor is ready for the restart that the owner, or one above it, has ordered; then that
     * has begun. `out_pause_ms`: how long it waits if it is not open. False: the order was taken
     * back, or the actor leaves. NULL: nobody orders any. */
    bool (*restart)(struct place *place, uint64_t *out_pause_ms);
};

struct owner {
    const struct owner_ops *ops; /* const */

    /* Of one that has members. */
    struct owner *above;      /* const: whose member it is itself; NULL: it is at the top */
    struct waiters *waiters;  /* const: senders that wait for room in its members */
    struct fullness fullness; /* see there */
    _Atomic uint32_t waiting; /* messages in the queue that its members share */
    _Atomic bool shares;      /* they shall look into that queue also when it is empty */
};

/* Whether a turn has to look into the shared queue. */
static inline bool owner_may_give(const struct owner *owner)
{
    /* Relaxed: who has members look signals every one of them afterwards. */
    return atomic_load_explicit(&owner->shares, memory_order_relaxed) ||
           atomic_load_explicit(&owner->waiting, memory_order_relaxed) > 0;
}

#endif
