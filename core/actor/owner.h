/* SPDX-License-Identifier: MIT */
/*
 * actor/owner.h - the operations of an actor's owner: the pool of a worker or a manager, or the
 * creator of a source, a child or a stand-alone actor.
 *
 * The place of an actor names the owner. Operations are called in the actor's own turn, without
 * locks, at rare points of its life; values that a turn reads for each message are fields. The
 * comment of an operation says what NULL means.
 */
#ifndef ACTOR_OWNER_H
#define ACTOR_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct actor;
struct executor;
struct leases;
struct loan;
struct message;
struct message_list;
struct owner;
struct place;
struct spec;
struct wait_queue;

/* Decides about an actor that failed too often, and whose `then` is `escalate`. */
enum appeal {
    /* restart the actor after a pause: a reload may still undo it, or it is leaving */
    APPEAL_NOBODY,
    APPEAL_ABOVE,   /* the owner's owner: `escalate` calls it */
    APPEAL_PROGRAM, /* the program ends */
};

struct owner_ops {
    bool replaces; /* an actor that failed or stopped is restarted, by the `restart` of its spec */
    /* The actors handle messages that were sent to the owner: the next seven operations are set,
     * and so are `back_up` and `fetch`. */
    bool members;

    /* Its actor is open: opens its mailbox and publishes its names, unless it is ordered to leave.
     * NULL: does both. */
    void (*opened)(struct place *place);
    /* An incarnation of its actor has closed. NULL: nothing to do. */
    void (*closed)(struct place *place);
    /* Its actor is between two incarnations: no message is admitted. NULL: closes its mailbox. */
    void (*failed)(struct place *place);
    /* Its actor has failed too often, and stays closed. NULL: nothing to do. */
    void (*stopped)(struct place *place);
    /* Passes a message of the backlog to another member. Takes it on 0. */
    int (*reroute)(struct place *place, struct message *message);
    /* As reroute, for an actor that leaves and could still handle the message itself. With
     * `finishes` it only goes to an equal member. */
    int (*hand_back)(struct place *place, struct message *message, bool finishes);
    /* Room was made, and senders wait for it, here or above: `places` are free in a member again,
     * and `pulled` messages were taken from the shared queue. */
    void (*credit)(struct owner *owner, uint32_t places, uint32_t pulled,
                   struct executor *executor);
    /* The turn ends with messages in the shared queue: another member may take them. */
    void (*pass_on)(struct owner *owner, struct executor *executor);

    /* Its actor has ended. The place lives until this call returns; an owner with members lives to
     * the end of the read section. NULL: nothing to do. */
    void (*ended)(struct place *place);

    /* Whether the actor has the order to leave. `out_due_ns`: the latest time for that, 0 = none.
     * NULL: the signals decide. */
    bool (*is_leaving)(struct place *place, uint64_t *out_due_ns);
    /* The backlog of a leaving actor is empty. False: it has been recalled, or must finish the
     * shared queue unless it `leaves_queue` to others. NULL: true. */
    bool (*may_close)(struct place *place, bool leaves_queue);
    /* Whether the owner itself ends: nobody takes over what its actors leave. NULL: false. */
    bool (*ends)(struct place *place);
    /* SIGNAL_RESPEC: fills the new spec, owned by the caller. False: there is none. */
    bool (*take_spec)(struct place *place, struct spec **out_spec);

    /* The shared queue of the members; all NULL: there is none. */
    struct message *(*take)(struct actor *actor); /* returns NULL: the actor is marked idle */
    void (*awake)(struct place *place);           /* removes the idle mark */
    /* The lease of the actor is over, and no turn of it knew of that lease: marks it as idle again,
     * or leases it to the thread that waits first, as in `out_next`. Its entry is locked. False: it
     * needs a turn. */
    bool (*end_loan)(struct place *place, struct executor *executor, uint64_t now_ns,
                     struct loan *out_next);
    /* The actor, which is not idle, comes to the queue: `at_once`, or when it is open again. */
    void (*comes)(struct place *place, bool at_once, uint64_t now_ns);
    /* Puts a message of `take` back at the front of the queue, for another member. Takes it. */
    void (*put_back)(struct place *place, struct message *message);
    bool (*keeps)(struct place *place); /* the actor must finish the queue before it leaves */
    /* Discards the queue if the actor keeps it; `as_removed`: only if the owner is removed too. */
    void (*discard)(struct place *place, bool as_removed);

    /* SIGNAL_WORK: its actor may have been asked to give messages to other members. NULL: never. */
    void (*give)(struct place *place);
    /* Its actor is in a callback that takes long, on a thread that the caller holds: idle members
     * may get its messages. `executor` is the caller's. NULL: never. Adds to `out` what was taken
     * out of its mailbox since it is not wanted any more, for `drop`. */
    void (*relieve)(struct place *place, struct executor *executor, struct message_list *out);
    /* Ends these messages, after the thread was released. Takes them. */
    void (*drop)(struct owner *owner, struct executor *executor, struct message_list *unwanted);

    /* Its actor takes no message now, and is about to sleep. Messages that are not wanted any more
     * leave its mailbox. Idle members get the others, now or when one becomes idle. False: the
     * others stay. */
    bool (*back_up)(struct place *place);
    /* A member has become idle: wakes another one that is backed up, to give its messages. */
    void (*fetch)(struct owner *owner, struct executor *executor);

    /* Decides after too many failures: see enum appeal. NULL: APPEAL_PROGRAM. */
    enum appeal (*appeal)(struct place *place);
    void (*escalate)(struct place *place);

    /* The actor is ready for the restart that this owner or one above has ordered, and begins it.
     * `out_pause_ms`: the pause before it opens if it is not open now. False: the order was
     * cancelled, or the actor leaves. NULL: there are no such orders. */
    bool (*restart)(struct place *place, uint64_t *out_pause_ms);
};

/* The full mark of an owner with members: fullness.h. */
struct fullness {
    _Atomic uint64_t epoch;   /* any thread */
    _Atomic uint64_t full_in; /* any thread that has scanned the members */
};

struct owner {
    const struct owner_ops *ops; /* const */

    /* For an owner with members: */
    struct owner *above; /* const: the owner of which it is a member; NULL: it is at the top */
    struct wait_queue *waiters; /* const: senders that wait for room in its members */
    struct leases *leases;      /* const: of its members: leases.h */
    struct fullness fullness;
    _Atomic uint32_t waiting;   /* messages in the queue that its members share */
    _Atomic bool shares;        /* members check that queue even when it is empty */
    _Atomic uint32_t backed_up; /* members that sleep although messages wait: pool/backed_up.h */
};

/* Whether a turn must check the shared queue. */
static inline bool owner_may_give(const struct owner *owner)
{
    /* Relaxed: every change is followed by a signal to each member. */
    return atomic_load_explicit(&owner->shares, memory_order_relaxed) ||
           atomic_load_explicit(&owner->waiting, memory_order_relaxed) > 0;
}

/* Whether members sleep although messages wait that others may get. */
static inline bool owner_is_backed_up(const struct owner *owner)
{
    /* [BU1] seq_cst: after the mailbox of the caller's actor has become idle. */
    return atomic_load_explicit(&owner->backed_up, memory_order_seq_cst) > 0;
}

#endif
