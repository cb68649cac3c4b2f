/* SPDX-License-Identifier: MIT */
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
 * other's write, and a message in the usual case costs no fence. By the same means the timekeeper
 * holds a thread in its callback, to act in its place (executor_try_hold).
 */
#ifndef DISPATCH_EXECUTOR_H
#define DISPATCH_EXECUTOR_H

#include <stdatomic.h>

#include "base/clock.h"
#include "dispatch/layout.h"
#include "dispatch/press.h"
#include "dispatch/put_offline.h"

struct schedulable;

/* An executor for a thread from outside. WEIR_ENOMEM. */
int executor_init(struct executor *executor, struct dispatcher *dispatcher, void *runtime,
                  struct reclaim *reclaim, struct clock clock);
void executor_finish(struct executor *executor);

/* The thread of a dispatcher, whose argument is its executor: runs until the dispatcher stops, or
 * wants fewer threads. */
void *executor_main(void *argument);

/* NULL on a thread that no dispatcher started. Takes no lock: calls from outside ask. */
struct executor *executor_of_this_thread(void);

/*
 * For a simulation, on an executor whose thread was never started: runs due timers, then one turn
 * if there is work. False: there was no work, and reclamation does not wait for this executor.
 */
bool executor_step(struct executor *executor);

/* Owner. */
static inline bool executor_is_in_turn(const struct executor *executor)
{
    /* Relaxed: its own store. */
    return atomic_load_explicit(&executor->turns, memory_order_relaxed) & 1;
}

/* True when the thread is in a turn on `dispatcher`, and runs the actors that it queues soon.
 * Owner. */
static inline bool executor_is_home(const struct executor *executor,
                                    const struct dispatcher *dispatcher)
{
    return executor->dispatcher == dispatcher && executor_is_in_turn(executor) &&
           !executor->blocking;
}

/* As executor_submit, in each case. */
void executor_submit_any(struct executor *executor, struct dispatcher *dispatcher,
                         struct schedulable *schedulable);

/* Queues a schedulable that was just woken, to run on `dispatcher`: on this thread, where its
 * message is in the cache, it runs next. */
static inline void executor_submit(struct executor *executor, struct dispatcher *dispatcher,
                                   struct schedulable *schedulable)
{
    /* Relaxed: a raider may empty the slot, but only the owner fills it. */
    if (executor_is_home(executor, dispatcher) &&
        !atomic_load_explicit(&executor->lifo, memory_order_relaxed))
        /* [L1] release: a raider sees the actor's state. */
        atomic_store_explicit(&executor->lifo, schedulable, memory_order_release);
    else
        executor_submit_any(executor, dispatcher, schedulable);
}

/* Ends the turn after its present message, because the running actor was refused for want of room:
 * actors that could make room, perhaps on this thread, run first. */
static inline void executor_give_way(struct executor *executor)
{
    executor->budget = 0;
    executor->gave_way = true;
    press_begin(executor);
}

/* As executor_submit, for an actor that waited for room: it runs after the actors that this thread
 * has queued, because these may make the room that it needs next. */
void executor_submit_behind(struct executor *executor, struct dispatcher *dispatcher,
                            struct schedulable *schedulable);

/* As executor_submit, for a new actor: actors spawned in a turn run first, the youngest before the
 * others. */
void executor_submit_spawned(struct executor *executor, struct dispatcher *dispatcher,
                             struct schedulable *schedulable);

/* The owner enters a callback of a behaviour. Release: its reads in the runtime come before. */
static inline void executor_enter_callback(struct executor *executor)
{
    atomic_store_explicit(&executor->where, EXECUTOR_IN_CALLBACK, memory_order_release);
}

/* The owner is back in the runtime, at `where`, and may read reclaimed memory. */
static inline void executor_come_back(struct executor *executor, enum executor_place where)
{
    atomic_store_explicit(&executor->where, where, memory_order_relaxed);
    /* [X1] The compiler keeps the order; the processor does by the barrier of the timekeeper. */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&executor->put_offline, memory_order_relaxed), false))
        executor_go_online(executor);
}

static inline void executor_leave_callback(struct executor *executor)
{
    executor_come_back(executor, EXECUTOR_IN_RUNTIME);
}

/* Beats of the timekeeper since this turn began. Owner, in a turn. */
static inline uint32_t executor_beats(const struct executor *executor)
{
    /* Relaxed: a beat may be seen one check later. */
    return atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed) -
           executor->beat_seen;
}

/* Reads the clock, and remembers it as now_ns. */
uint64_t executor_look_at_clock(struct executor *executor);

/* The time, at most about two beats of the timekeeper (2 ms) behind the clock, never ahead. Reads
 * the clock once a beat only; on a thread from outside, which has no beats, each time. Owner. */
uint64_t executor_time(struct executor *executor);

/* A random number, not for secrets. */
static inline uint64_t executor_random(struct executor *executor)
{
    uint64_t x = executor->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return executor->random = x;
}

#endif
