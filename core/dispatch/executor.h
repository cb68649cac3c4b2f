/*
 * dispatch/executor.h - what a thread needs to work in the runtime; and the loop of a dispatcher's.
 *
 * Each dispatcher thread is one executor. A thread from outside has one too, without a dispatcher:
 * a memory cache and a reader record; what it wakes goes to the global queue of its dispatcher.
 * An executor is used by one thread at a time; only the fields marked so are touched by others.
 *
 *      take order: every 61st time the global queue first; births; LIFO slot; own ring; global
 *      queue; then search: timers, the other threads' rings, births, the global queue; then park.
 */
#ifndef DISPATCH_EXECUTOR_H
#define DISPATCH_EXECUTOR_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "dispatch/births.h"
#include "dispatch/note.h"
#include "dispatch/reclaim.h"
#include "dispatch/ring.h"
#include "dispatch/stock.h"
#include "message/cache.h"

struct dispatcher;
struct schedulable;

#define EXECUTOR_ROUNDS 64 /* round-robin positions; pools share one when their indexes collide */

struct executor {
    struct dispatcher *dispatcher; /* const; NULL for an outside thread */
    void *runtime;                 /* const: for those who run turns */
    struct clock clock;            /* const */
    uint32_t index;                /* const: among the dispatcher's threads */
    pthread_t thread;              /* dispatcher->lock */
    bool joinable;                 /* dispatcher->lock: `thread` is one, and not joined */
    bool joining;                  /* dispatcher->lock: somebody waits for its end */
    bool left;                     /* dispatcher->lock: it takes no more work */

    /* owner */
    struct reader reader;
    struct cache cache;
    struct stock slots; /* for actor/slots.c */
    uint64_t now_ns;    /* coarse: of the last look at the clock */
    uint64_t random;    /* xorshift state */
    uint32_t tick;      /* takes */
    uint32_t birth_runs;
    uint32_t lifo_runs;
    bool in_turn;
    bool blocking;   /* the turn may block: hand work to others at once */
    uint32_t budget; /* messages that this turn may handle; see executor_give_way */
    uint32_t rounds[EXECUTOR_ROUNDS];
    uint64_t turns_seen;  /* the keeper's: `turns` at its last look */
    void *current;        /* what runs: read by the same thread's signal handler */
    struct note *note;    /* of that, for the crash handler; never NULL */
    struct note own_note; /* unless the host gave another */

    /* written by the owner, read by thieves and by who reads figures */
    alignas(64) _Atomic uint64_t turns;
    _Atomic uint64_t steals;
    _Atomic uint64_t parks;
    _Atomic(struct schedulable *) lifo; /* also taken by a thief when this turn is long */
    /* Written by the owner, for those that run on its own dispatcher; see dispatcher_users. */
    _Atomic uint64_t users_begun;
    _Atomic uint64_t users_ended;

    alignas(64) _Atomic uint32_t token; /* futex: EXECUTOR_WOKEN, EXECUTOR_KICKED */
    struct ring ring;
    struct births births;
};

/* An executor for a thread from outside. WEIR_ENOMEM. */
int executor_init(struct executor *executor, struct dispatcher *dispatcher, void *runtime,
                  struct reclaim *reclaim, struct clock clock);
void executor_finish(struct executor *executor);

/* The thread of a dispatcher, whose argument is its executor: runs until the dispatcher stops, or
 * wants fewer threads. */
void *executor_main(void *argument);

/*
 * For a simulation, on an executor whose thread was never started: one look at the timers and for
 * work, and the turn of what was found. False: there was nothing, and it holds nothing up.
 */
bool executor_step(struct executor *executor);

/* Makes a schedulable run that was just woken, on `dispatcher`. */
void executor_submit(struct executor *executor, struct dispatcher *dispatcher,
                     struct schedulable *schedulable);

/* The turn ends after its present message, since what runs was refused for want of room: who could
 * make room, perhaps on this thread, is to run first. */
static inline void executor_give_way(struct executor *executor)
{
    executor->budget = 0;
}

/*
 * As executor_submit, of one that waited for room: it runs behind what this thread has queued,
 * which may be just those who have yet to make the room that it needs next.
 */
void executor_submit_behind(struct executor *executor, struct dispatcher *dispatcher,
                            struct schedulable *schedulable);

/* As executor_submit, of one that has never run: those born in a turn run first, the youngest
 * before the others. */
void executor_submit_born(struct executor *executor, struct dispatcher *dispatcher,
                          struct schedulable *schedulable);

/* Reads the clock, and remembers it as now_ns. */
uint64_t executor_look_at_clock(struct executor *executor);

/* A random number, not for secrets. */
uint64_t executor_random(struct executor *executor);

/* Wakes a thread that parks. `bits`: EXECUTOR_WOKEN or EXECUTOR_KICKED. Any thread. */
void executor_wake(struct executor *executor, uint32_t bits);

#define EXECUTOR_WOKEN 1u  /* picked by idle_pick: search */
#define EXECUTOR_KICKED 2u /* look at the deadlines again */

#endif
