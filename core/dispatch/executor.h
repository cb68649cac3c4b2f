/*
 * dispatch/executor.h - what a thread needs to work in the runtime; and the loop of a dispatcher's.
 *
 * Each dispatcher thread is one executor. A thread from outside has one too, without a dispatcher:
 * a memory cache and a reader record; what it wakes goes to the global queue of its dispatcher.
 * An executor is used by one thread at a time; only the fields marked so are touched by others.
 *
 * Where a thread is: in the runtime it may hold pointers that reclamation protects, in a callback
 * of a behaviour it holds none. A thread that enters and leaves a callback, or a host call inside
 * one, says so by a plain store. When a callback takes long, the timekeeper puts the thread
 * off-line for reclamation (executor_try_put_offline); the thread goes on-line again when it comes
 * back. The timekeeper writes `put_offline`, has all threads pass a barrier, and reads `where`; the
 * thread writes `where` and reads `put_offline`. So one of them sees the other, and the usual way
 * of a message pays no fence for it.
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
#include "message/message.h"

struct dispatcher;
struct schedulable;

#define EXECUTOR_ROUNDS 64 /* round-robin positions; pools share one when their indexes collide */

enum executor_place {
    EXECUTOR_IN_RUNTIME,
    EXECUTOR_IN_CALLBACK,
    EXECUTOR_IN_BLOCKING, /* callback: the thread goes off-line and on-line by itself */
};

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
    uint64_t now_ns;    /* coarse: of the last look at the clock; see executor_time */
    uint64_t random;    /* xorshift state */
    uint32_t takes;
    uint32_t looks;      /* around, between beats */
    uint32_t beat_seen;  /* of dispatcher->beat */
    uint32_t clock_beat; /* of dispatcher->beat, at the last look at the clock */
    uint32_t birth_runs;
    uint32_t lifo_runs;
    bool in_turn;
    bool blocking;   /* the turn may block: hand work to others at once */
    uint32_t budget; /* messages that this turn may handle; see executor_give_way */
    uint32_t rounds[EXECUTOR_ROUNDS];
    struct message_list copies; /* for actor/output.c: empty but during an emit */
    void *current;              /* what runs: read by the same thread's signal handler */
    struct note *note;          /* of that, for the crash handler; never NULL */
    const void *noted;          /* what the note is about; NULL: nothing of this turn yet */
    struct note own_note;       /* unless the host gave another */

    /* written by the owner, read by thieves and by who reads figures */
    alignas(64) _Atomic uint64_t turns; /* odd in a turn; two for each */
    _Atomic uint64_t steals;
    _Atomic uint64_t parks;
    _Atomic(struct schedulable *) lifo; /* also taken by the timekeeper when this turn is long */
    _Atomic uint32_t where;             /* enum executor_place */
    _Atomic bool put_offline;           /* offline_lock, but for the look of the owner */
    pthread_mutex_t offline_lock;
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

/*
 * Moves what the executor has queued to the global queue of its dispatcher; how many that were. Any
 * thread: what the owner, or a thief, takes or adds at the same time may be left.
 */
uint32_t executor_hand_over(struct executor *executor);

/* Wakes one parked thread of a dispatcher, unless one searches already. Any thread. */
void dispatcher_notify(struct dispatcher *dispatcher);

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

/* The owner enters a callback of a behaviour. Release: what it read in the runtime was before. */
static inline void executor_enter_callback(struct executor *executor)
{
    atomic_store_explicit(&executor->where, EXECUTOR_IN_CALLBACK, memory_order_release);
}

/* Ends what executor_try_put_offline did. Owner. */
void executor_go_online(struct executor *executor);

/* The owner is in the runtime again, and may read what is reclaimed. */
static inline void executor_leave_callback(struct executor *executor)
{
    atomic_store_explicit(&executor->where, EXECUTOR_IN_RUNTIME, memory_order_relaxed);
    /* [X1] The compiler keeps the order; the processor does by the barrier of the timekeeper. */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&executor->put_offline, memory_order_relaxed), false))
        executor_go_online(executor);
}

/*
 * Puts the thread off-line for reclamation if it is in a callback that is not flagged as blocking.
 * `barrier_everywhere` makes all threads of the process pass a full barrier; false: it cannot, and
 * nothing happens. One thread, not the owner.
 */
void executor_try_put_offline(struct executor *executor, bool (*barrier_everywhere)(void));

/* Reads the clock, and remembers it as now_ns. */
uint64_t executor_look_at_clock(struct executor *executor);

/* The time, at most about two beats of the timekeeper (2 ms) behind the clock, never ahead. Reads
 * the clock once a beat only; on a thread from outside, which has no beats, each time. Owner. */
uint64_t executor_time(struct executor *executor);

/* A random number, not for secrets. */
uint64_t executor_random(struct executor *executor);

/* Wakes a thread that parks. `bits`: EXECUTOR_WOKEN or EXECUTOR_KICKED. Any thread. */
void executor_wake(struct executor *executor, uint32_t bits);

#define EXECUTOR_WOKEN 1u  /* picked by idle_pick: search */
#define EXECUTOR_KICKED 2u /* look at the deadlines again */

#endif
