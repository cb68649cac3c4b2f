/*
 * actor/actor.h - what has a PID, a mailbox and one thing happening at a time.
 *
 * An actor lives in a slot whose memory is never given back while the runtime lives, so a pointer
 * found by a PID can always be read; the serial in the mailbox's admission word tells whether it
 * is still the same actor. Everything else is changed by the one thread that runs its turn.
 *
 * Its life stands in lifecycle.h.
 *
 * The synchronisation of the mailbox stands in message/mailbox.h. The rest: `const` fields are
 * written before the PID is known to anybody; `owner` fields only inside a turn.
 */
#ifndef ACTOR_ACTOR_H
#define ACTOR_ACTOR_H

#include <assert.h>
#include <stdalign.h>

#include "actor/lifecycle.h"
#include "actor/spec.h"
#include "base/table.h"
#include "dispatch/dispatcher.h"
#include "dispatch/schedulable.h"
#include "message/mailbox.h"
#include "stats/ledger.h"

struct runtime;
struct place;
struct extra;
struct router;
struct waiters;

enum actor_kind {
    ACTOR_WORKER, /* handles; a member of a pool, or plain */
    ACTOR_SOURCE, /* produces */
    ACTOR_POOL,   /* routes; its own turns are its manager's */
};

/* Bits of mailbox.signals: things that may be asked of an actor without any memory; 16 at most. */
enum actor_signal {
    SIGNAL_DRAIN = 1u << 0,     /* accept nothing new, finish, end */
    SIGNAL_KILL = 1u << 1,      /* end after the message in hand */
    SIGNAL_SHUTDOWN = 1u << 2,  /* as DRAIN; the place of a pool's worker is opened again */
    SIGNAL_CRASH = 1u << 3,     /* a linked actor crashed */
    SIGNAL_ROOM = 1u << 4,      /* a pool that it waits for has places */
    SIGNAL_TIME = 1u << 5,      /* its timer is due */
    SIGNAL_STAY = 1u << 6,      /* takes DRAIN back */
    SIGNAL_RESPEC = 1u << 7,    /* its place has a new spec with live options */
    SIGNAL_REROUTE = 1u << 8,   /* with DRAIN: hand the backlog to the siblings */
    SIGNAL_DISCARD = 1u << 9,   /* with DRAIN: the backlog is dead `removed` */
    SIGNAL_WORK = 1u << 10,     /* the queue of its pool has something: see pool/pulling.h */
    SIGNAL_AUDIENCE = 1u << 11, /* an event of its own has an audience now, or none any more */
    SIGNAL_CHILD = 1u << 12,    /* one of its children has ended */
    SIGNAL_STOP = 1u << 13,     /* end behind the message in hand; a member: once its pool closes;
                                   with KILL for that reason */
    SIGNAL_RESTART = 1u << 14,  /* its place says whether it is to restart: see restart.h */
    SIGNAL_REOPEN = 1u << 15,   /* files may have been renamed: see pool/reopening.h */
};

/*
 * Five lines. What few actors use is a pointer here, and memory at the first use: a host may have
 * a million of them asleep.
 */
struct actor {
    alignas(64) struct mailbox mailbox; /* the senders' line, and the begin of the owner's */

    /* owner */
    uint8_t flags;             /* enum actor_flags */
    uint8_t leaving;           /* enum actor_leaving */
    uint8_t end_reason;        /* enum weir_end_reason, once it leaves or is CLOSED */
    uint8_t high_streak;       /* urgent and high messages since the last normal one */
    _Atomic uint8_t state;     /* read by all: enum actor_state */
    _Atomic uint8_t busy;      /* read by all: inside a callback with a message */
    struct spec *spec;         /* NULL for a pool without a manager */
    void *memory;              /* the behaviour's state */
    struct executor *executor; /* the thread of this turn */
    struct message *current;   /* in `handle` now */

    /* const, but for `next`: a line that senders and thieves read, and nobody writes a message */
    struct weir_self self; /* the host table */
    union {
        struct schedulable schedulable;
        struct retired retired; /* while the slot waits to be free: it runs no more */
        struct stock_item free; /* while the slot is free */
    };
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct place *place;   /* of a plain actor: owner, see place_get */
    struct router *router; /* what it stands for, when kind is ACTOR_POOL */
    uint32_t slot;
    uint8_t kind; /* enum actor_kind */

    /* owner */
    struct ledger ledger;
    uint32_t retry_after_ms;    /* set during handle */
    uint32_t incarnation;       /* grows with each open */
    struct message_queue front; /* given again, before everything in the normal lane */
    struct message_list kept;
    struct message_queue control; /* replies, exits, downs */
    struct message_queue urgent;
    struct message_queue high;
    struct table ties;              /* links and monitors of this actor: tie.h */
    struct extra *extra;            /* NULL until it is needed */
    _Atomic(struct waiters *) room; /* see room.h; written by the first who waits */
};

static_assert(sizeof(struct actor) == 320, "five lines");
static_assert(offsetof(struct actor, self) == 128, "what senders read is on one line");
static_assert(offsetof(struct actor, kind) < 192, "what senders read is on one line");

/* Facts that do not depend on the state. */
enum actor_flags {
    ACTOR_TRAPS_EXITS = 1u << 0,
    ACTOR_WAITS = 1u << 1,   /* a source that said WEIR_WAIT */
    ACTOR_QUICK = 1u << 2,   /* was quick up to the last look at the clock: see watch_clock */
    ACTOR_PRINTS = 1u << 3,  /* takes nothing new until its output has been read: printing.h */
    ACTOR_CLOSING = 1u << 4, /* inside `close`: what was kept is settled already */
};

/* Whether the actor is to end, and what becomes of its backlog. A later order may be stronger. */
enum actor_leaving {
    LEAVING_NOT,
    LEAVING_FINISHES, /* handles it */
    LEAVING_REROUTES, /* hands it to other members, and handles what finds no room there */
    LEAVING_DISCARDS, /* it is dead `removed` */
};

#define ACTOR_LANE_LIMIT 64 /* of urgent and of high: semantics S.4 */

/* How an actor comes to be. */
struct actor_options {
    struct dispatcher *dispatcher;
    struct spec *spec;   /* takes a reference of its own; NULL for a bare pool */
    struct place *place; /* ownership moves on success; NULL for a plain actor */
    struct router *router;
    enum actor_kind kind;
    uint32_t limit;       /* of the normal lane; 0 = unlimited */
    uint64_t bytes_limit; /* of payload in it; 0 = unlimited */
};

/*
 * Makes an actor and schedules its first turn, which opens it; until then it is closed. Any
 * thread. Returns owned by itself. WEIR_ENOMEM.
 */
int actor_spawn(struct runtime *runtime, struct executor *executor,
                const struct actor_options *options, struct actor **out);

/* Makes an actor without scheduling it: actor_begin does. It may still be dropped. */
int actor_create(struct runtime *runtime, struct executor *executor,
                 const struct actor_options *options, struct actor **out);
/* With an `opener` in its place that dispatcher runs its turns until it has opened. */
void actor_begin(struct actor *actor, struct executor *executor);

static inline weir_pid actor_pid(const struct actor *actor)
{
    /* Relaxed: a live actor's serial does not change. */
    uint64_t word = atomic_load_explicit(&actor->mailbox.word, memory_order_relaxed);

    return ((weir_pid)mailbox_serial(word) << 32) | actor->slot;
}

/* The actor of a PID; NULL: UNKNOWN. It may have ended: the serial tells. */
struct actor *actor_find(struct runtime *runtime, weir_pid pid);
/* The actor of a PID, alive at this instant: in a read section its slot is not used again.
 * WEIR_EUNKNOWN: this runtime never gave the PID to anybody; WEIR_ETERMINATED: it has ended. */
int actor_find_alive(struct runtime *runtime, weir_pid pid, struct actor **out);
uint32_t actor_serial_of(weir_pid pid);

/* What the actor of a PID stands for; NULL: it has ended, or stands for none. Any thread, in a read
 * section, in which alone it may be used: the slot of one that has ended still says what it was. */
struct router *actor_find_router(struct runtime *runtime, weir_pid pid);

static inline struct actor *actor_of_self(struct weir_self *self)
{
    return (struct actor *)(void *)((char *)self - offsetof(struct actor, self));
}

static inline struct actor *actor_of_schedulable(struct schedulable *schedulable)
{
    return (struct actor *)(void *)((char *)schedulable - offsetof(struct actor, schedulable));
}

static inline enum actor_state actor_state(const struct actor *actor)
{
    return (enum actor_state)atomic_load_explicit(&actor->state, memory_order_acquire);
}

/* Asks something of an actor. Any thread in a read section. WEIR_ETERMINATED. */
int actor_signal(struct actor *actor, uint32_t serial, struct executor *executor, uint32_t bits);

/* The dispatcher that runs its next turn. Owner, or before it begins. */
struct dispatcher *actor_runs_on(const struct actor *actor);

/* Makes a woken actor run. */
static inline void actor_wake(struct actor *actor, struct executor *executor)
{
    executor_submit(executor, actor->dispatcher, &actor->schedulable);
}

/* The path for people; "" for a plain actor. */
const char *actor_path(const struct actor *actor);

#endif
