/*
 * dispatch/executor.h - the state of a thread that works in the runtime, and the loop of a
 * dispatcher's thread.
 *
 * Each dispatcher thread is one executor. A thread from outside has one too, without a dispatcher:
 * a memory cache and a reader record; actors that it wakes go to the global queue of their
 * dispatcher. One thread at a time uses an executor; other threads touch only the fields that say
 * so.
 *
 * A thread in the runtime may hold pointers that reclamation protects; in a callback of a behaviour
 * it holds none. A thread that enters and leaves a callback, or a host call inside one, notes that
 * by a plain store to `where`. When a callback takes long, the timekeeper puts the thread off-line
 * for reclamation (executor_try_put_offline); the thread goes on-line again when the callback
 * returns. The timekeeper writes `put_offline`, makes all threads pass a barrier, and reads
 * `where`; the thread writes `where` and reads `put_offline`. So at least one of them sees the
 * other's write, and a message in the usual case costs no fence.
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
    void *runtime;                 /* const: for the code that runs turns */
    struct clock clock;            /* const */
    uint32_t index;                /* const: among the dispatcher's threads */
    pthread_t thread;              /* dispatcher->lock */
    bool joinable;                 /* dispatcher->lock: `thread` was started and not joined */
    bool joining;                  /* dispatcher->lock: a thread waits for its end */
    bool left;                     /* dispatcher->lock: it takes no more work */

    /* owner */
    struct reader reader;
    struct cache cache;
    struct stock slots; /* for actor/slots.c */
    uint64_t now_ns;    /* coarse: the time that was read last; see executor_time */
    uint64_t random;    /* xorshift state */
    uint32_t takes;
    uint32_t looks;      /* searches for work between beats */
    uint32_t beat_seen;  /* of dispatcher->beat */
    uint32_t clock_beat; /* of dispatcher->beat, when the clock was read last */
    uint32_t birth_runs;
    uint32_t lifo_runs;
    bool in_turn;
    bool blocking;   /* the turn may block: hand work to others at once */
    uint32_t budget; /* messages that this turn may handle; see executor_give_way */
    uint32_t rounds[EXECUTOR_ROUNDS];
    struct message_list copies; /* for actor/output.c: empty but during an emit */
    void *current;              /* the running actor: read by the same thread's signal handler */
    struct note *note;          /* describes it for the crash handler; never NULL */
    const void *noted;          /* the subject of the note; NULL: nothing of this turn yet */
    struct note own_note;       /* used unless the host provides another */

    /* written by the owner, read by thieves and by readers of figures */
    alignas(64) _Atomic uint64_t turns; /* odd during a turn; each turn adds 2 */
    _Atomic uint64_t steals;
    _Atomic uint64_t parks;
    /* the next actor to run; also taken by the timekeeper when this turn is long */
    _Atomic(struct schedulable *) lifo;
    _Atomic uint32_t where;   /* enum executor_place */
    _Atomic bool put_offline; /* offline_lock, except for the owner's read */
    pthread_mutex_t offline_lock;
    /* Written by the owner; counts actors of its own dispatcher; see dispatcher_users. */
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
 * For a simulation, on an executor whose thread was never started: runs due timers, then one turn
 * if there is work. False: there was no work, and reclamation does not wait for this executor.
 */
bool executor_step(struct executor *executor);

/*
 * Moves the queued actors of the executor to the global queue of its dispatcher; returns their
 * number. Any thread. Actors that the owner adds at the same time may stay.
 */
uint32_t executor_hand_over(struct executor *executor);

/* Wakes one parked thread of a dispatcher, unless one searches already. Any thread. */
void dispatcher_notify(struct dispatcher *dispatcher);

/* Queues a schedulable that was just woken, to run on `dispatcher`. */
void executor_submit(struct executor *executor, struct dispatcher *dispatcher,
                     struct schedulable *schedulable);

/* Ends the turn after its present message, because the running actor was refused for want of room:
 * actors that could make room, perhaps on this thread, run first. */
static inline void executor_give_way(struct executor *executor)
{
    executor->budget = 0;
}

/* As executor_submit, for one that waited for room: it runs after the actors that this thread has
 * queued, which may be the ones that make the room it needs next. */
void executor_submit_behind(struct executor *executor, struct dispatcher *dispatcher,
                            struct schedulable *schedulable);

/* As executor_submit, for a new actor: actors spawned in a turn run first, the youngest before the
 * others. */
void executor_submit_born(struct executor *executor, struct dispatcher *dispatcher,
                          struct schedulable *schedulable);

/* The owner enters a callback of a behaviour. Release: its reads in the runtime come before. */
static inline void executor_enter_callback(struct executor *executor)
{
    atomic_store_explicit(&executor->where, EXECUTOR_IN_CALLBACK, memory_order_release);
}

/* Undoes executor_try_put_offline. Owner. */
void executor_go_online(struct executor *executor);

/* The owner is back in the runtime, and may read reclaimed memory. */
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
