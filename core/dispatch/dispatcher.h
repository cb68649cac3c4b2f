/*
 * dispatch/dispatcher.h - a set of threads that run schedulables: run queues, stealing, parking.
 *
 * Life: create, start (idempotent), submit..., signal_stop (also inside a turn), join (never inside
 * a turn), destroy. Threads are created here and nowhere else in the core.
 */
#ifndef DISPATCH_DISPATCHER_H
#define DISPATCH_DISPATCHER_H

#include <stdbool.h>

#include "dispatch/executor.h"
#include "dispatch/global_queue.h"
#include "dispatch/idle.h"
#include "dispatch/timer.h"

#define DISPATCHER_NAME_MAX 32
#define DISPATCHER_BUDGET 32 /* seed 2: amortises a trip through the run queue */

struct dispatcher_options {
    const char *name;       /* borrowed until return */
    uint32_t threads;       /* 1..IDLE_THREADS_MAX */
    uint32_t budget;        /* messages a turn; 0 = DISPATCHER_BUDGET */
    uint32_t ring_capacity; /* 0 = RING_CAPACITY; small in tests */
    void *runtime;          /* given to every executor */
    struct reclaim *reclaim;
    struct clock clock;
    void (*thread_start)(struct executor *executor); /* on each new thread, first; may be NULL */
    void (*thread_end)(struct executor *executor);   /* on each thread, last; may be NULL */
};

struct dispatcher {
    char name[DISPATCHER_NAME_MAX];    /* const */
    struct dispatcher_options options; /* const */
    uint32_t thread_count;             /* const */
    struct executor *executors;        /* const */
    struct global_queue global;
    struct timers timers;
    struct idle idle;
    _Atomic uint32_t budget; /* written by a reload, read by turns */
    _Atomic bool stopping;
    _Atomic uint32_t keeper;          /* index + 1 of the parked thread that keeps the time */
    _Atomic uint64_t keeper_until_ns; /* when it wakes by itself */
    _Atomic bool keeper_dozes;        /* advisory: it does not look at LIFO slots */
    uint64_t *turns_seen;             /* keeper: of each executor, at its last look */
    uint32_t started;                 /* owner: creator; threads that run */
};

/* WEIR_EINVALID, WEIR_ENOMEM. Returns owned in *out. */
int dispatcher_create(const struct dispatcher_options *options, struct dispatcher **out);

/* Starts the threads; a second call does nothing. WEIR_ENOMEM: none runs. */
int dispatcher_start(struct dispatcher *dispatcher);

/* Tells the threads to end after their turns. Any thread, also inside a turn. */
void dispatcher_signal_stop(struct dispatcher *dispatcher);

/* Waits for the threads after signal_stop. WEIR_EDEADLK on one of them. */
int dispatcher_join(struct dispatcher *dispatcher);

/* After join. What is still queued is dropped: its owner frees it. NULL is allowed. */
void dispatcher_destroy(struct dispatcher *dispatcher);

/* Wakes one parked thread unless somebody searches already. Any thread. */
void dispatcher_notify(struct dispatcher *dispatcher);

/* Arms a timer, and sees to it that somebody is awake when it is due. Any thread. */
void dispatcher_arm(struct dispatcher *dispatcher, struct timer *timer, uint64_t due_ns);

/* Sums over the threads. */
uint64_t dispatcher_steals(const struct dispatcher *dispatcher);
uint64_t dispatcher_turns(const struct dispatcher *dispatcher);

#endif
