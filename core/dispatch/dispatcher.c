#include "dispatch/dispatcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

static bool is_power_of_two(uint32_t n)
{
    return n && (n & (n - 1)) == 0;
}

static bool options_are_valid(const struct dispatcher_options *options)
{
    uint32_t capacity = options->ring_capacity;

    return options->name && strnlen(options->name, DISPATCHER_NAME_MAX) < DISPATCHER_NAME_MAX &&
           options->threads >= 1 && options->threads <= IDLE_THREADS_MAX &&
           (capacity == 0 || (is_power_of_two(capacity) && capacity <= RING_CAPACITY));
}

static void init_fields(struct dispatcher *dispatcher, const struct dispatcher_options *options)
{
    uint32_t half = options->threads / 2;

    dispatcher->options = *options;
    (void)snprintf(dispatcher->name, sizeof dispatcher->name, "%s", options->name);
    dispatcher->options.name = dispatcher->name;
    if (!dispatcher->options.ring_capacity)
        dispatcher->options.ring_capacity = RING_CAPACITY;
    global_queue_init(&dispatcher->global);
    timers_init(&dispatcher->timers);
    idle_init(&dispatcher->idle, half ? half : 1);
    atomic_init(&dispatcher->budget, options->budget ? options->budget : DISPATCHER_BUDGET);
    atomic_init(&dispatcher->stopping, false);
    atomic_init(&dispatcher->keeper, 0);
    atomic_init(&dispatcher->keeper_until_ns, TIMER_NEVER);
    atomic_init(&dispatcher->keeper_dozes, false);
}

static int init_executors(struct dispatcher *dispatcher)
{
    const struct dispatcher_options *options = &dispatcher->options;

    for (uint32_t i = 0; i < options->threads; i++) {
        struct executor *executor = &dispatcher->executors[i];
        int status = executor_init(executor, dispatcher, options->runtime, options->reclaim,
                                   options->clock);

        if (status != 0)
            return status;
        executor->index = i;
        dispatcher->thread_count++;
    }
    return 0;
}

int dispatcher_create(const struct dispatcher_options *options, struct dispatcher **out)
{
    struct dispatcher *dispatcher;
    int status = WEIR_ENOMEM;

    if (!options_are_valid(options))
        return WEIR_EINVALID;
    dispatcher = aligned_alloc(64, sizeof *dispatcher);
    if (!dispatcher)
        return WEIR_ENOMEM;
    memset(dispatcher, 0, sizeof *dispatcher);
    init_fields(dispatcher, options);
    dispatcher->executors = aligned_alloc(64, options->threads * sizeof *dispatcher->executors);
    dispatcher->turns_seen = calloc(options->threads, sizeof *dispatcher->turns_seen);
    if (dispatcher->executors && dispatcher->turns_seen)
        status = init_executors(dispatcher);
    if (status != 0) {
        dispatcher_destroy(dispatcher);
        return status;
    }
    *out = dispatcher;
    return 0;
}

int dispatcher_start(struct dispatcher *dispatcher)
{
    while (dispatcher->started < dispatcher->thread_count) {
        struct executor *executor = &dispatcher->executors[dispatcher->started];

        if (pthread_create(&executor->thread, NULL, executor_main, executor) != 0) {
            dispatcher_signal_stop(dispatcher);
            (void)dispatcher_join(dispatcher);
            return WEIR_ENOMEM;
        }
        dispatcher->started++;
    }
    return 0;
}

void dispatcher_signal_stop(struct dispatcher *dispatcher)
{
    atomic_store_explicit(&dispatcher->stopping, true, memory_order_seq_cst);
    for (uint32_t i = 0; i < dispatcher->thread_count; i++)
        executor_wake(&dispatcher->executors[i], EXECUTOR_KICKED);
}

int dispatcher_join(struct dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->started; i++)
        if (pthread_equal(dispatcher->executors[i].thread, pthread_self()))
            return WEIR_EDEADLK;
    for (uint32_t i = 0; i < dispatcher->started; i++)
        pthread_join(dispatcher->executors[i].thread, NULL);
    dispatcher->started = 0;
    return 0;
}

void dispatcher_destroy(struct dispatcher *dispatcher)
{
    if (!dispatcher)
        return;
    for (uint32_t i = 0; i < dispatcher->thread_count; i++)
        executor_finish(&dispatcher->executors[i]);
    free(dispatcher->executors);
    free(dispatcher->turns_seen);
    global_queue_finish(&dispatcher->global);
    timers_finish(&dispatcher->timers);
    free(dispatcher);
}

void dispatcher_notify(struct dispatcher *dispatcher)
{
    /* Relaxed: which thread keeps the time only decides whom we would rather not wake. */
    uint32_t keeper = atomic_load_explicit(&dispatcher->keeper, memory_order_relaxed);
    uint32_t picked = idle_pick(&dispatcher->idle, keeper ? keeper - 1 : IDLE_NOBODY);

    if (picked != IDLE_NOBODY)
        executor_wake(&dispatcher->executors[picked], EXECUTOR_WOKEN);
}

void dispatcher_arm(struct dispatcher *dispatcher, struct timer *timer, uint64_t due_ns)
{
    uint32_t keeper;

    if (!timers_arm(&dispatcher->timers, timer, due_ns))
        return;
    /* [T1] seq_cst: see publish_locked in timer.c. */
    if (atomic_load_explicit(&dispatcher->keeper_until_ns, memory_order_seq_cst) <= due_ns)
        return;
    keeper = atomic_load_explicit(&dispatcher->keeper, memory_order_seq_cst);
    if (keeper)
        executor_wake(&dispatcher->executors[keeper - 1], EXECUTOR_KICKED);
}

uint64_t dispatcher_steals(const struct dispatcher *dispatcher)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < dispatcher->thread_count; i++)
        sum += atomic_load_explicit(&dispatcher->executors[i].steals, memory_order_relaxed);
    return sum;
}

uint64_t dispatcher_turns(const struct dispatcher *dispatcher)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < dispatcher->thread_count; i++)
        sum += atomic_load_explicit(&dispatcher->executors[i].turns, memory_order_relaxed);
    return sum;
}
