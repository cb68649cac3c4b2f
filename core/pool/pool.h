/* SPDX-License-Identifier: MIT */
/*
 * pool/pool.h - an actor that routes to its members; members are workers or pools.
 *
 * Senders read the published members without a lock, inside a read section. Membership is changed
 * under `lock`, from any thread, also from inside a worker; the lock is never held while plugin
 * code runs, or while a thread waits.
 *
 *                 | route room | resize close | stats
 *   route room    |     -      |      -       |   -       any threads at once; resize and close
 *   resize close  |     -      |      -       |   -       are one after the other by the lock
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "actor/askers.h"
#include "actor/leases.h"
#include "actor/misuse.h"
#include "actor/place.h"
#include "actor/progress.h"
#include "actor/router.h"
#include "actor/wait_queue.h"
#include "base/lock.h"
#include "dispatch/timer.h"
#include "face/pool.h"
#include "pool/flags.h"
#include "pool/members.h"
#include "stats/age.h"
#include "stats/counter.h"
#include "stats/dead_letters.h"

struct outlet;
struct runtime;

/* Of member pools that escalate: see escalation.h. */
struct escalation {
    struct backoff backoff; /* of members that escalate */
    uint64_t reopened;      /* members so far, including those of pools that have left */
};

/* Instead of a limit: room for one message for each member that sleeps. */
#define PULLING_UNBUFFERED (UINT64_MAX - 1)

/* Read by senders and by the members' turns: pulling.h. */
struct pull_queue {
    struct lock lock;
    struct message_list messages; /* lock */
    uint64_t admitted;            /* lock: messages, so far */
    uint64_t limit;               /* lock: of messages; or PULLING_UNBUFFERED */
    uint64_t bytes;               /* lock: of payload in them */
    uint64_t bytes_limit;         /* lock: of these */
    uint64_t bytes_limit_each;    /* lock: of one message */
    bool closed;                  /* lock: the pool closes, no message is admitted */
    _Atomic bool stopped;         /* written under lock: all workers have */
    _Atomic bool empty;           /* written under lock: the pool is to have no workers */
    /* written under pool->lock: no other members will take the messages */
    _Atomic bool left_behind;
    bool leases;            /* lock: `limit` bounds the takers that wait for a member */
    uint64_t wanted_due_ns; /* lock: the time-out of no waiting message ends before it */
    uint64_t changes;       /* lock: wanted_changes when the queue was last scanned */
    bool spoils;            /* lock: since it was empty it got messages that may become unwanted */
    bool beats;             /* lock: the pool's actor is to look for them */
    /* places that were woken for a message, or whose lease was returned, and did not come yet;
     * added under the lock */
    _Atomic uint32_t called;
    /* places that open, of a group: for a message, and did not come yet; added under the lock */
    _Atomic uint32_t opening;
    _Atomic uint32_t growth;   /* written under lock: workers below the pool's maximum */
    _Atomic uint32_t tries;    /* lock writes: takes in it that are tries */
    struct list idle;          /* lock: places whose workers sleep since the queue is empty */
    _Atomic uint32_t sleeping; /* written under lock: places in `idle` */
};

/* Of what is below: load.h. All written by any thread, relaxed: each is a hint by itself. */
struct load {
    _Atomic uint32_t below;  /* at the last walk, and given since */
    _Atomic uint32_t looks;  /* comparisons until the next walk; 0: it is due */
    _Atomic uint64_t due_ns; /* of the next walk, also without comparisons */
};

/* Of its workers: outlet.h. */
struct outlets {
    _Atomic(struct outlet *) present; /* written under pool->lock, read in a read section */
    struct outlet *of_new;            /* pool->lock: of new places */
    struct list used;                 /* pool->lock: those that have users */
    uint32_t tables;                  /* pool->lock: their number so far */
};

/* Of a pool that resizes itself: elastic.h, scaler.h. */
struct scaler {
    struct timer timer;
    struct dispatcher *dispatcher; /* const: of the timer; NULL: none is reserved */
    bool suspended;                /* lock */
    bool logged_full;              /* lock: the log says that the pool has its maximum */
    bool stuck;                    /* lock: workers are late to open, broken, or have stopped */
    uint64_t grown_ns;             /* lock: the last growth; 0 = never */
    uint64_t shrunk_ns;            /* lock: when the last worker left; 0 = never */
    uint64_t blocked_ns;           /* lock: since when senders find no room; 0 = they find some */
    uint64_t due_ns;               /* owner: the next check by the timer */
    _Atomic bool asked;            /* a check is due */
    _Atomic bool refused;          /* a sender has found no room since the last check */
};

/* Of growth: rebalance.h. */
struct rebalancing {
    uint32_t opening; /* lock: places that are FRESH_OPENING */
    uint32_t opened;  /* lock: fresh ones that have opened since members last gave messages */
};

/*
 * The first line is read by senders for each message, and written by changes of the pool only. The
 * groups after it have different writers, and begin at lines of their own.
 */
struct pool {
    alignas(64) struct runtime *runtime; /* const */
    struct router router;                /* the actor's routing, for senders */
    _Atomic(struct members *) members;   /* published under lock, read by senders */
    uint32_t number;                     /* const: selects one of the executors' positions */
    uint32_t depth;                      /* const: of nesting; 0 at the top */
    struct pool_flags flags;             /* written under lock, read by senders */

    struct actor *actor;           /* const */
    struct owner managing;         /* of the actor itself, whose place is the manager's */
    _Atomic bool on_trial;         /* written by its creator; read by its workers when they fail */
    weir_pid pid;                  /* const */
    char path[PLACE_PATH_MAX];     /* const */
    const char *label;             /* const: the path, for a crash line */
    struct pool *parent;           /* const */
    struct dispatcher *dispatcher; /* lock: for new workers */
    struct outlets outlets;

    /* Read by senders and turns. Its mark is written when the pool becomes full, and when it gets
     * room; `waiting` for each message of a pool that routes by pull. */
    alignas(64) struct owner owner; /* of the workers */
    /* By senders that wait, and by turns that wake them; all turns read its count. */
    alignas(64) struct wait_queue waiters;
    /* Of a pool that routes by pull: by senders and turns, for each message. */
    alignas(64) struct pull_queue pull;
    alignas(64) struct leases leases;
    /* By senders of pools above that compare this one with others. */
    alignas(64) struct load load;
    /* Read when a part asks that has not asked another pool since. */
    alignas(64) struct askers askers;
    struct scaler scaler;
    _Atomic uint64_t resizes[RESIZE_BY_COUNT];
    struct rebalancing rebalancing;
    struct dead_letters dead;
    struct misuses misuses;
    _Atomic weir_pid keyless_sender; /* the last one logged by keyless.h; 0 = none */
    struct counter refused;          /* by senders, for each refused message */

    struct lock lock;
    struct list places;                /* lock: members that stay */
    struct list backed_up;             /* lock: members that sleep behind messages */
    struct list leavers;               /* lock: removed, may still be called back */
    struct list closers;               /* lock: past the point of return */
    struct list prepared;              /* lock: opened by a reload, members after its commit */
    struct pool **children;            /* lock: nested pools */
    uint32_t child_count;              /* lock */
    uint32_t child_room;               /* lock: of `children` */
    struct spec *spec;                 /* lock: of new workers */
    struct place *manager;             /* lock: of its own actor; NULL: it has ended */
    struct spec *manager_spec;         /* lock: counted; of that behaviour; NULL: none */
    bool has_manager;                  /* lock: a behaviour manages it, not the built-in manager */
    bool manager_is_new;               /* lock: manager->respec is new, also when NULL */
    struct pool_settings settings;     /* lock; senders read `flags` */
    uint32_t target;                   /* lock */
    uint64_t epoch;                    /* lock */
    struct escalation escalation;      /* lock */
    struct age age;                    /* lock: of the messages in its queue */
    struct message_list outcomes;      /* lock: requested and not sent yet; see outcome.h */
    struct ledger_reading gone;        /* lock: of places that have ended */
    uint64_t gone_restarts;            /* lock */
    uint64_t gone_retried;             /* lock */
    struct progress_sum gone_progress; /* lock: of places that have ended */
    bool killed;                       /* lock: it ends with KILL */
    uint32_t order;                    /* the parent's lock: its number among its siblings */
    _Atomic bool removed;              /* lock writes, its workers read: see pool_remove */
    bool joined;                       /* its creator's, then the parent's lock */
    struct members *join_members;      /* lock: room for pools that join; NULL = none will */
    _Atomic bool has_subscribed;       /* to events; removed when the pool ends */
    bool ending;                       /* lock: its own actor is to end */
    bool ended;                        /* lock: its own actor has ended */
    /* lock: an empty array to publish when the pool closes; NULL = it is published */
    struct members *nobody;
    _Atomic uint32_t holders; /* its creator, and its parent while the parent still shows it */
    struct pool *lost;        /* lock: ended nested pools that are still shown */
    struct pool *next_lost;   /* the parent's lock */
    struct retired retired;
};

static inline struct pool *pool_of_router(struct router *router)
{
    return (struct pool *)(void *)((char *)router - offsetof(struct pool, router));
}

static inline struct pool *pool_of_owner(struct owner *owner)
{
    return (struct pool *)(void *)((char *)owner - offsetof(struct pool, owner));
}

/* The pool of a worker's place. */
static inline struct pool *pool_of_place(const struct place *place)
{
    return pool_of_owner(place->owner);
}

/* The pool that an actor is a worker of; NULL: none. */
static inline struct pool *pool_of_worker(const struct actor *actor)
{
    struct owner *owner = place_member_of(actor);

    return owner ? pool_of_owner(owner) : NULL;
}

/* The group (lease_group.h) that a pool of workers belongs to; NULL: none. */
static inline struct pool *lease_group_of(const struct pool *pool)
{
    return pool->parent && leases_are_given(&pool->parent->leases) ? pool->parent : NULL;
}

/* True when senders ask the pool for checks. */
static inline bool pool_senses(const struct pool *pool)
{
    return flags_word(&pool->flags) & FLAGS_SENSES;
}

#endif
