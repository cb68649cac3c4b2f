/* SPDX-License-Identifier: MIT */
/*
 * actor/actor.h - the actor: it has a PID and a mailbox, and runs one callback at a time.
 *
 * An actor lives in a slot whose memory is never given back while the runtime lives, so a pointer
 * found by a PID can always be read; the serial in the mailbox's admission word shows whether the
 * slot still holds the same actor. Only the thread that runs the actor's turn changes the other
 * fields.
 *
 * Its states are in lifecycle.h. spawn.h makes it, find.h finds it, end.h ends it.
 *
 * The synchronisation of the mailbox is described in message/mailbox.h. Of the other fields,
 * `const` ones are written before the PID is published, and `owner` ones only inside a turn.
 */
#ifndef ACTOR_ACTOR_H
#define ACTOR_ACTOR_H

#include <assert.h>
#include <stdalign.h>

#include "actor/spec.h"
#include "base/table.h"
#include "dispatch/dispatcher.h"
#include "dispatch/schedulable.h"
#include "message/mailbox.h"
#include "stats/ledger.h"

struct runtime;
struct place;
struct actor_ext;
struct router;
struct wait_queue;

enum actor_kind {
    ACTOR_WORKER, /* handles; a member of a pool, or plain */
    ACTOR_SOURCE, /* produces */
    ACTOR_POOL,   /* routes; its own turns are its manager's */
};

/* Why an actor with an empty mailbox would not take a message at once. */
enum actor_busy {
    ACTOR_FREE,
    ACTOR_HANDLES, /* inside a callback with a message */
    ACTOR_FLUSHES, /* inside `flush`, with the messages that it has gathered */
    ACTOR_DOZES,   /* asleep, and takes no message now: doze.h */
};

/* Bits of mailbox.signals: requests to an actor that need no memory; 16 at most. */
enum actor_signal {
    SIGNAL_DRAIN = 1u << 0,     /* accept nothing new, finish, end */
    SIGNAL_KILL = 1u << 1,      /* end after the current message */
    SIGNAL_SHUTDOWN = 1u << 2,  /* as DRAIN; the place of a pool's worker is opened again */
    SIGNAL_CRASH = 1u << 3,     /* a linked actor crashed */
    SIGNAL_ROOM = 1u << 4,      /* a pool that it waits for has room */
    SIGNAL_TIME = 1u << 5,      /* its timer is due */
    SIGNAL_STAY = 1u << 6,      /* cancels DRAIN */
    SIGNAL_RESPEC = 1u << 7,    /* its place has a new spec with live options */
    SIGNAL_REROUTE = 1u << 8,   /* with DRAIN: pass the backlog to the siblings */
    SIGNAL_DISCARD = 1u << 9,   /* with DRAIN: the backlog is dead `removed` */
    SIGNAL_WORK = 1u << 10,     /* the queue of its pool has messages: see pool/pulling.h; or other
                                   members have nothing: see pool/rebalance.h */
    SIGNAL_AUDIENCE = 1u << 11, /* the audience of one of its events has begun or ended */
    SIGNAL_CHILD = 1u << 12,    /* one of its children has ended */
    /* End after the current message. A pool member ends only when its pool closes. With KILL the
     * reason is KILL. */
    SIGNAL_STOP = 1u << 13,
    SIGNAL_RESTART = 1u << 14, /* check the order to restart in its place: see restart.h */
    SIGNAL_REOPEN = 1u << 15,  /* files may have been renamed: see pool/reopening.h */
};

/* Then one normal message: high cannot starve the normal lane. */
#define ACTOR_HIGH_STREAK_MAX 8

/*
 * Five cache lines, since a host may have a million sleeping actors. State that few actors use is
 * behind a pointer and allocated at its first use.
 */
struct actor {
    alignas(64) struct mailbox mailbox; /* the senders' line, and the beginning of the owner's */

    /* owner */
    uint8_t flags;             /* enum actor_flags */
    uint8_t leaving;           /* enum actor_leaving */
    uint8_t end_reason;        /* enum weir_end_reason, once it leaves or is CLOSED */
    uint8_t high_streak;       /* urgent and high messages since the last normal one */
    _Atomic uint8_t state;     /* read by all: enum actor_state */
    _Atomic uint8_t busy;      /* read by all: enum actor_busy */
    _Atomic bool called;       /* set by any thread, see actor_call */
    uint8_t kind;              /* const: enum actor_kind */
    struct spec *spec;         /* NULL for a pool without a manager */
    void *memory;              /* the behaviour's state */
    struct executor *executor; /* the thread of this turn */
    struct message *current;   /* in `handle` now */

    /* const, except `next`: a line that senders and thieves read, and no thread writes for each
     * message */
    struct weir_self self; /* the host table */
    union {
        struct schedulable schedulable;
        struct retired retired; /* after its end, until the grace period is over */
        struct stock_item free; /* while the slot is free */
    };
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct place *place;   /* of a plain actor: owner, see place_get */
    struct router *router; /* the routing of a pool; NULL unless kind is ACTOR_POOL */
    weir_pid pid;          /* its low half is the number of the slot */

    /* owner */
    struct ledger ledger;
    uint32_t retry_after_ms;      /* set during handle */
    uint32_t incarnation;         /* grows with each open */
    struct message_queue front;   /* redelivered messages, before the normal lane */
    struct message_list kept;     /* read its count alone, and see kept.h */
    struct message_queue control; /* replies, exits, downs */
    struct message_queue urgent;
    struct message_queue high;
    struct table links;                      /* links and monitors of this actor: link.h */
    struct actor_ext *ext;                   /* NULL until it is needed */
    _Atomic(struct wait_queue *) room_queue; /* see room_queue.h; written by the first waiter */
};

static_assert(sizeof(struct actor) == 320, "five lines");
static_assert(offsetof(struct actor, self) == 128, "what senders read is on one line");
static_assert(offsetof(struct actor, pid) < 192, "what senders read is on one line");

/* Facts that do not depend on the state. */
enum actor_flags {
    ACTOR_TRAPS_EXITS = 1u << 0,
    ACTOR_WAITS = 1u << 1,   /* a source that said WEIR_WAIT */
    ACTOR_QUICK = 1u << 2,   /* was quick when the clock was read last: see watch_clock */
    ACTOR_PRINTS = 1u << 3,  /* takes no message until its printed text is read: printing.h */
    ACTOR_DEMANDS = 1u << 5, /* takes fewer messages than its behaviour may: demand.h */
    ACTOR_CLOSING = 1u << 4, /* inside `close`: kept messages are settled already */
    ACTOR_FAILS = 1u << 6,   /* a kept message was settled as WEIR_FAIL: see turn.c */
    ACTOR_PLAIN = 1u << 7,   /* see actor_disturb */
};

/* The order to end, if any, and the treatment of the backlog. A later order may be stronger. */
enum actor_leaving {
    LEAVING_NOT,
    LEAVING_FINISHES, /* passes it to equal members that have room, and handles the rest itself */
    LEAVING_REROUTES, /* passes it to other members; the rest waits for room in them */
    LEAVING_DISCARDS, /* makes it dead `removed` */
    LEAVING_CLOSES,   /* it is gone, and the actor is not recalled: `leave` asks for time */
    LEAVING_OVER,     /* the time for all this is over */
    LEAVING_BEHIND,   /* left behind in a callback: left_behind.h */
};

#define ACTOR_LANE_LIMIT 64 /* of urgent and of high: semantics S.4 */

static inline weir_pid actor_pid(const struct actor *actor)
{
    return actor->pid;
}

static inline uint32_t actor_serial_of(weir_pid pid)
{
    return (uint32_t)(pid >> 32);
}

static inline struct actor *actor_of_self(struct weir_self *self)
{
    return (struct actor *)(void *)((char *)self - offsetof(struct actor, self));
}

static inline struct actor *actor_of_schedulable(struct schedulable *schedulable)
{
    return (struct actor *)(void *)((char *)schedulable - offsetof(struct actor, schedulable));
}

/* Whether the actor sleeps and takes the next message of the normal lane at once. Any thread: a
 * look, which may be out of date. */
static inline bool actor_is_idle(const struct actor *actor)
{
    /* Relaxed: read after the mailbox, whose exchange has published it. */
    return mailbox_is_idle(&actor->mailbox) &&
           atomic_load_explicit(&actor->busy, memory_order_relaxed) != ACTOR_DOZES;
}

/* Owner. ACTOR_DOZES: before its mailbox becomes idle. */
static inline void actor_set_busy(struct actor *actor, enum actor_busy busy)
{
    /* Relaxed: only the owner writes it; the exchange that makes the mailbox idle publishes it. */
    atomic_store_explicit(&actor->busy, (uint8_t)busy, memory_order_relaxed);
}

/* Signals an actor. Any thread, in a read section. WEIR_ETERMINATED. */
int actor_signal(struct actor *actor, uint32_t serial, struct executor *executor, uint32_t bits);

/*
 * After something was put beside the normal lane of an actor that was awake. Between two messages
 * of the normal lane the owner looks at this flag, on its own line, and not at the admission word,
 * which senders write. A hint: each turn begins and ends with a check of the word itself.
 */
static inline void actor_call(struct actor *actor)
{
    /* Relaxed: control_queue_take synchronises. */
    atomic_store_explicit(&actor->called, true, memory_order_relaxed);
}

static inline bool actor_is_called(const struct actor *actor)
{
    return atomic_load_explicit(&actor->called, memory_order_relaxed);
}

/*
 * After a change that gives the actor something else to do than to handle messages of its normal
 * lane, or that stops it from doing so: its state, its leaving, its lease, its outbox, its kept,
 * redelivered and repeated messages, a signal. Its turn checks all of these once, sets ACTOR_PLAIN
 * when there is nothing, and then checks that flag alone. Owner.
 */
static inline void actor_disturb(struct actor *actor)
{
    actor->flags &= (uint8_t)~ACTOR_PLAIN;
}

/* Queues a woken actor to run. */
static inline void actor_wake(struct actor *actor, struct executor *executor)
{
    executor_submit(executor, actor->dispatcher, &actor->schedulable);
}

#endif
