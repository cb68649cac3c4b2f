/*
 * dispatch/dispatcher.h - a set of threads with run queues, stealing and parking, which runs
 * schedulables.
 *
 * Life: create, start (idempotent), submit..., signal_stop (also inside a turn), join (never inside
 * a turn), destroy. Threads are created here and nowhere else in the core.
 *
 * A turn that takes too long delays other actors only for a moment: the timekeeper hands the queued
 * work of its thread to the others, and starts a spare thread in its place if the program allows it
 * (timekeeper.h). There are never more spares than threads.
 *
 * The number of threads can change at run time. Each has an executor, which is never freed, since
 * other threads look into its queues at any time. A thread whose index is not below `thread_count`
 * any more leaves after its turn, and first moves its queued work to the others.
 *
 *                        | start resize join | submit notify arm
 *   start resize join    |        -          |        -          - = any threads at once; the
 *   submit notify arm    |        -          |        -              first group by a lock
 */
#ifndef DISPATCH_DISPATCHER_H
#define DISPATCH_DISPATCHER_H

#include <stdbool.h>

#include "dispatch/executor.h"
#include "dispatch/global_queue.h"
#include "dispatch/idle.h"
#include "dispatch/timekeeper.h"
#include "dispatch/timer.h"
#include "face/runtime.h"

#define DISPATCHER_BUDGET 32 /* seed 2: amortises a trip through the run queue */

struct dispatcher_options {
    const char *name;       /* borrowed until return */
    uint32_t threads;       /* 1..IDLE_THREADS_MAX */
    uint32_t budget;        /* messages a turn; 0 = DISPATCHER_BUDGET */
    uint32_t ring_capacity; /* 0 = RING_CAPACITY; small in tests */
    void *runtime;          /* given to every executor */
    struct reclaim *reclaim;
    struct clock clock;
    /* the cap of which its threads hold shares; NULL: no bytes are counted */
    struct memory *memory;
    void (*thread_start)(struct executor *executor); /* on each new thread, first; may be NULL */
    void (*thread_end)(struct executor *executor);   /* on each thread, last; may be NULL */
    struct timekeeper *timekeeper; /* NULL: deadlines and long turns have no timekeeper */
    void (*stir)(void *context);   /* see dispatcher_rest; may be NULL when that is never called */
    void *stir_context;
};

struct dispatcher {
    char name[DISPATCHER_NAME_MAX];               /* const, except for dispatcher_rename */
    struct dispatcher_options options;            /* const */
    struct executor *executors[IDLE_THREADS_MAX]; /* each written once, before slot_count says so */
    _Atomic uint32_t slot_count;   /* number of executors; written under lock, never decreases */
    _Atomic uint32_t thread_count; /* wanted, and spares; written under lock, read by all */
    _Atomic uint32_t running;      /* threads that have not left; by starting and leaving threads */
    _Atomic uint64_t users_begun;  /* actors that run here, begun by other threads than its own */
    _Atomic uint64_t users_ended;
    struct global_queue global;
    struct timers timers;
    struct idle idle;
    _Atomic uint32_t budget; /* written by a reload, read by turns */
    _Atomic bool stopping;
    _Atomic bool rests; /* a waking thread calls `stir`; see dispatcher_rest */

    /* By the timekeeper. */
    alignas(64) _Atomic uint32_t beat; /* grows each millisecond while a thread is awake */
    _Atomic uint32_t stuck;            /* threads whose turn takes too long; see timekeeper.h */
    _Atomic uint32_t spares;           /* threads that take the place of stuck ones */

    pthread_mutex_t lock;
    uint32_t wanted; /* lock: threads, without spares */
    bool started;    /* lock */
};

/* WEIR_EINVALID, WEIR_ENOMEM. Returns owned in *out. */
int dispatcher_create(const struct dispatcher_options *options, struct dispatcher **out);

/* Starts the threads; a second call does nothing. WEIR_ENOMEM: none runs. */
int dispatcher_start(struct dispatcher *dispatcher);

/*
 * For the timekeeper: so many threads are stuck, and as many spares should work beside them, but no
 * more than there are threads, and none where the budget is 1: callbacks there are meant to block.
 */
void dispatcher_set_stuck(struct dispatcher *dispatcher, uint32_t stuck);

/* Count an actor that runs here, and its end. On the thread of `executor`. */
void dispatcher_begin_user(struct dispatcher *dispatcher, struct executor *executor);
void dispatcher_end_user(struct dispatcher *dispatcher, struct executor *executor);

/* Gives an unused dispatcher another name and budget. WEIR_EINVALID. */
int dispatcher_rename(struct dispatcher *dispatcher, const char *name, uint32_t budget);

/* Reads its name, during a rename and on a thread that may not wait, too. False: another thread is
 * changing it, or the threads. */
bool dispatcher_try_name(struct dispatcher *dispatcher, char name[DISPATCHER_NAME_MAX]);

/* Signals the threads to end after their turns. Any thread, also inside a turn. */
void dispatcher_signal_stop(struct dispatcher *dispatcher);

/* Waits for the threads after signal_stop. WEIR_EDEADLK on one of them. */
int dispatcher_join(struct dispatcher *dispatcher);

/* True on one of its threads. */
bool dispatcher_is_own_thread(struct dispatcher *dispatcher);

/* After join. Drops queued work, which its owner frees. NULL is allowed. */
void dispatcher_destroy(struct dispatcher *dispatcher);

/*
 * Requests one call of `stir` when a thread wakes. True when all of them sleep; false: one is
 * awake, and may go on without the call. Any thread.
 */
bool dispatcher_rest(struct dispatcher *dispatcher);
/* Cancels the request. The call may be under way all the same. */
void dispatcher_end_rest(struct dispatcher *dispatcher);

/* --- for executor.c -------------------------------------------------------------------------- */

static inline struct executor *dispatcher_executor(struct dispatcher *dispatcher, uint32_t index)
{
    return dispatcher->executors[index];
}

/* [E1] acquire pairs with the release in make_executor: the pointers below the count are set. */
static inline uint32_t dispatcher_slot_count(const struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->slot_count, memory_order_acquire);
}

void dispatcher_tell_stir(struct dispatcher *dispatcher);

/* The calling thread is awake and not counted as parked any more: calls `stir` if requested. */
static inline void dispatcher_stir(struct dispatcher *dispatcher)
{
    /* [R1] seq_cst: see dispatcher_rest. */
    if (atomic_load_explicit(&dispatcher->rests, memory_order_seq_cst))
        dispatcher_tell_stir(dispatcher);
    if (dispatcher->options.timekeeper)
        timekeeper_stir(dispatcher->options.timekeeper);
}

/* True when the calling thread may leave: its index is still too high. It takes no work after
 * this. */
bool dispatcher_let_go(struct dispatcher *dispatcher, struct executor *executor);

/*
 * Sends a signal with a value to one of its threads; false: that thread does not exist, or another
 * thread is changing the threads. Any thread; never waits.
 */
bool dispatcher_try_signal(struct dispatcher *dispatcher, uint32_t index, int number, void *value);

/* --- any thread ------------------------------------------------------------------------------ */

/* Wakes one parked thread unless a thread searches already. Any thread. */
void dispatcher_notify(struct dispatcher *dispatcher);

/* Arms a timer, and ensures that a thread is awake when it is due. Any thread. */
void dispatcher_arm(struct dispatcher *dispatcher, struct timer *timer, uint64_t due_ns);

/* Sums over the threads. */
uint64_t dispatcher_steals(const struct dispatcher *dispatcher);
uint64_t dispatcher_turns(const struct dispatcher *dispatcher);

#endif
