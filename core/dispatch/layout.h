/*
 * dispatch/layout.h - what a dispatcher consists of.
 *
 * Its threads read and write it in their loop (executor.c), the timekeeper with each beat; whoever
 * makes and changes a dispatcher does so by the functions of dispatcher.h.
 */
#ifndef DISPATCH_LAYOUT_H
#define DISPATCH_LAYOUT_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "dispatch/global_queue.h"
#include "dispatch/idle.h"
#include "dispatch/timer.h"
#include "face/runtime.h"

struct doze;
struct executor;
struct memory;
struct reclaim;

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
    struct doze *doze;           /* the timekeeper's; NULL: deadlines and long turns have none */
    void (*stir)(void *context); /* see dispatcher_rest; may be NULL when that is never called */
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

static inline struct executor *dispatcher_executor(struct dispatcher *dispatcher, uint32_t index)
{
    return dispatcher->executors[index];
}

/* [E1] acquire pairs with the release in make_executor: the pointers below the count are set. */
static inline uint32_t dispatcher_slot_count(const struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->slot_count, memory_order_acquire);
}

#endif
