/* SPDX-License-Identifier: MIT */
#include "dispatch/dispatcher.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#include "dispatch/doze.h"
#include "dispatch/shares.h"
#include "dispatch/wake.h"

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

static uint32_t searchers_of(uint32_t threads)
{
    return threads > 1 ? threads / 2 : 1;
}

/* --- policy --------------------------------------------------------------------------------- */

void dispatcher_set_policy(struct dispatcher *dispatcher, const struct dispatcher_policy *policy)
{
    static const struct dispatcher_policy usual = { 0 };

    if (!policy)
        policy = &usual;
    /* Relaxed: a changed policy is in effect from one of the next turns on. */
    atomic_store_explicit(&dispatcher->budget, policy->budget ? policy->budget : DISPATCHER_BUDGET,
                          memory_order_relaxed);
    if (policy->budget == 1)
        shares_set_on(dispatcher);
}

struct dispatcher_policy dispatcher_policy_of(const struct dispatcher *dispatcher)
{
    return (struct dispatcher_policy){
        .budget = atomic_load_explicit(&dispatcher->budget, memory_order_relaxed),
    };
}

/* --- life ----------------------------------------------------------------------------------- */

static void init_fields(struct dispatcher *dispatcher, const struct dispatcher_options *options)
{
    dispatcher->options = *options;
    (void)snprintf(dispatcher->name, sizeof dispatcher->name, "%s", options->name);
    dispatcher->options.name = dispatcher->name;
    if (!dispatcher->options.ring_capacity)
        dispatcher->options.ring_capacity = RING_CAPACITY;
    lock_init(&dispatcher->lock, LOCK_DISPATCHER);
    global_queue_init(&dispatcher->global);
    timers_init(&dispatcher->timers);
    idle_init(&dispatcher->idle, searchers_of(options->threads));
    share_list_init(&dispatcher->shares);
    atomic_init(&dispatcher->slot_count, 0);
    atomic_init(&dispatcher->thread_count, options->threads);
    atomic_init(&dispatcher->regular, options->threads);
    atomic_init(&dispatcher->wanted, options->threads);
    atomic_init(&dispatcher->divides, false);
    atomic_init(&dispatcher->running, 0);
    atomic_init(&dispatcher->users_begun, 0);
    atomic_init(&dispatcher->users_ended, 0);
    dispatcher_set_policy(dispatcher, &options->policy);
    atomic_init(&dispatcher->stopping, false);
    atomic_init(&dispatcher->beat, 0);
    atomic_init(&dispatcher->stuck, 0);
    atomic_init(&dispatcher->spares, 0);
    atomic_init(&dispatcher->rests, false);
}

/* Appends an executor whose thread does not run. */
static int make_executor_locked(struct dispatcher *dispatcher)
{
    const struct dispatcher_options *options = &dispatcher->options;
    uint32_t index = dispatcher_slot_count(dispatcher);
    struct executor *executor = aligned_alloc(64, sizeof *executor);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = executor_init(executor, dispatcher, options->runtime, options->reclaim,
                           options->clock);
    if (status != 0) {
        executor_finish(executor);
        free(executor);
        return status;
    }
    executor->index = index;
    dispatcher->executors[index] = executor;
    /* [E1] release: a reader of the count sees the executor. */
    atomic_store_explicit(&dispatcher->slot_count, index + 1, memory_order_release);
    return 0;
}

static int make_executors_locked(struct dispatcher *dispatcher, uint32_t count)
{
    int status = 0;

    while (status == 0 && dispatcher_slot_count(dispatcher) < count)
        status = make_executor_locked(dispatcher);
    return status;
}

int dispatcher_create(const struct dispatcher_options *options, struct dispatcher **out)
{
    struct dispatcher *dispatcher;
    int status;

    if (!options_are_valid(options))
        return WEIR_EINVALID;
    dispatcher = aligned_alloc(64, (sizeof *dispatcher + 63) / 64 * 64);
    if (!dispatcher)
        return WEIR_ENOMEM;
    memset((void *)dispatcher, 0, sizeof *dispatcher);
    init_fields(dispatcher, options);
    lock_acquire(&dispatcher->lock);
    status = make_executors_locked(dispatcher, options->threads);
    lock_release(&dispatcher->lock);
    if (status != 0) {
        dispatcher_destroy(dispatcher);
        return status;
    }
    *out = dispatcher;
    return 0;
}

/* --- users ---------------------------------------------------------------------------------- */

/*
 * Each thread has counters of its own for the actors that it makes and that end on it, so that they
 * share no cache line. Release: a thread that sees an end counted sees its beginning counted, by
 * any thread.
 */
static void count_user(struct dispatcher *dispatcher, struct executor *executor,
                       _Atomic uint64_t *own, _Atomic uint64_t *others)
{
    if (executor->dispatcher == dispatcher)
        atomic_store_explicit(own, atomic_load_explicit(own, memory_order_relaxed) + 1,
                              memory_order_release);
    else
        atomic_fetch_add_explicit(others, 1, memory_order_release);
}

void dispatcher_begin_user(struct dispatcher *dispatcher, struct executor *executor)
{
    count_user(dispatcher, executor, &executor->users_begun, &dispatcher->users_begun);
}

void dispatcher_end_user(struct dispatcher *dispatcher, struct executor *executor)
{
    count_user(dispatcher, executor, &executor->users_ended, &dispatcher->users_ended);
}

/* Reads the ends first: the begins of all of them are counted when those are read. So the
 * difference is never too low. */
uint64_t dispatcher_users(const struct dispatcher *dispatcher)
{
    uint64_t ended = atomic_load_explicit(&dispatcher->users_ended, memory_order_acquire);
    uint64_t begun;

    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        ended += atomic_load_explicit(&dispatcher->executors[i]->users_ended, memory_order_acquire);
    begun = atomic_load_explicit(&dispatcher->users_begun, memory_order_acquire);
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        begun += atomic_load_explicit(&dispatcher->executors[i]->users_begun, memory_order_acquire);
    return begun - ended;
}

/* --- threads -------------------------------------------------------------------------------- */

/* A thread that left touches the dispatcher no more: joining takes a moment. */
static void join_if_left_locked(struct executor *executor)
{
    if (!executor->joinable || executor->joining || !executor->left)
        return;
    pthread_join(executor->thread, NULL);
    executor->joinable = false;
}

/* Here and not on the thread itself, since the name may have changed by then. */
static void name_thread_locked(struct dispatcher *dispatcher, struct executor *executor)
{
    char name[16];

    (void)snprintf(name, sizeof name, "%.10s-%u", dispatcher->name, executor->index % 10000);
    (void)pthread_setname_np(executor->thread, name);
}

/* Starts the thread of an executor unless it is running. */
static int start_thread_locked(struct dispatcher *dispatcher, struct executor *executor)
{
    join_if_left_locked(executor);
    if (executor->joinable)
        return 0;
    if (executor->left && reader_init(&executor->reader, dispatcher->options.reclaim) != 0)
        return WEIR_ENOMEM;
    executor->left = false;
    /* seq_cst: see dispatcher_others_run. */
    atomic_fetch_add_explicit(&dispatcher->running, 1, memory_order_seq_cst);
    if (pthread_create(&executor->thread, NULL, executor_main, executor) == 0) {
        executor->joinable = true;
        name_thread_locked(dispatcher, executor);
        return 0;
    }
    atomic_fetch_sub_explicit(&dispatcher->running, 1, memory_order_seq_cst);
    /* A thread may have left its senders to this one: see stand_back in executor.c. */
    wake_any(dispatcher);
    reader_finish(&executor->reader);
    executor->left = true;
    return WEIR_ENOMEM;
}

static void kick_all(struct dispatcher *dispatcher, uint32_t first)
{
    for (uint32_t i = first, count = dispatcher_slot_count(dispatcher); i < count; i++)
        wake_thread(dispatcher->executors[i], WAKE_KICKED);
}

static void set_count_locked(struct dispatcher *dispatcher, uint32_t threads)
{
    idle_set_searchers_max(&dispatcher->idle, searchers_of(threads));
    /* seq_cst: see is_to_end in executor.c. */
    atomic_store_explicit(&dispatcher->thread_count, threads, memory_order_seq_cst);
}

static int start_threads_locked(struct dispatcher *dispatcher, uint32_t threads)
{
    int status = 0;

    for (uint32_t i = 0; i < threads && status == 0; i++)
        status = start_thread_locked(dispatcher, dispatcher->executors[i]);
    return status;
}

static int grow_locked(struct dispatcher *dispatcher, uint32_t threads)
{
    uint32_t before = atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed);
    int status = make_executors_locked(dispatcher, threads);

    if (status != 0)
        return status;
    set_count_locked(dispatcher, threads); /* first, since a surplus thread would leave at once */
    if (dispatcher->started)
        status = start_threads_locked(dispatcher, threads);
    if (status != 0) {
        set_count_locked(dispatcher, before);
        kick_all(dispatcher, before);
    }
    return status;
}

static int change_count_locked(struct dispatcher *dispatcher, uint32_t threads)
{
    if (threads > atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed))
        return grow_locked(dispatcher, threads);
    set_count_locked(dispatcher, threads);
    kick_all(dispatcher, threads);
    return 0;
}

/* The number of spares that are allowed beside `wanted` threads. */
static uint32_t spares_of(uint32_t wanted, uint32_t spares)
{
    if (spares > wanted)
        spares = wanted;
    return spares > IDLE_THREADS_MAX - wanted ? IDLE_THREADS_MAX - wanted : spares;
}

/* How many threads of each kind there are to be. */
struct numbers {
    uint32_t wanted;
    uint32_t spares;
    uint32_t extras;
};

static void set_numbers_locked(struct dispatcher *dispatcher, const struct numbers *numbers)
{
    /* Relaxed: they count from one of the next turns on. */
    atomic_store_explicit(&dispatcher->wanted, numbers->wanted, memory_order_relaxed);
    atomic_store_explicit(&dispatcher->spares, numbers->spares, memory_order_relaxed);
    /* seq_cst: see shares_wait_for. */
    atomic_store_explicit(&dispatcher->regular, numbers->wanted + numbers->spares,
                          memory_order_seq_cst);
}

/* The wished number of extra threads, as far as there may be so many threads. */
static int change_locked(struct dispatcher *dispatcher, struct numbers numbers)
{
    struct numbers before = {
        .wanted = atomic_load_explicit(&dispatcher->wanted, memory_order_relaxed),
        .spares = atomic_load_explicit(&dispatcher->spares, memory_order_relaxed),
    };
    uint32_t regular;
    int status;

    numbers.spares = spares_of(numbers.wanted, numbers.spares);
    regular = numbers.wanted + numbers.spares;
    if (numbers.extras > IDLE_THREADS_MAX - regular)
        numbers.extras = IDLE_THREADS_MAX - regular;
    set_numbers_locked(dispatcher, &numbers); /* first: a new thread must not count as an extra */
    status = change_count_locked(dispatcher, regular + numbers.extras);
    if (status != 0)
        set_numbers_locked(dispatcher, &before);
    else if (shares_any_wait(dispatcher)) /* a thread that was an extra may take them now */
        wake_any(dispatcher);
    return status;
}

int dispatcher_resize(struct dispatcher *dispatcher, uint32_t threads)
{
    int status;

    if (threads > IDLE_THREADS_MAX)
        return WEIR_EINVALID;
    lock_acquire(&dispatcher->lock);
    status = change_locked(
        dispatcher,
        (struct numbers){ threads, atomic_load_explicit(&dispatcher->spares, memory_order_relaxed),
                          dispatcher_extras(dispatcher) });
    lock_release(&dispatcher->lock);
    return status;
}

/* Without memory for a thread the present ones go on, and the next change of the number tries
 * again. */
static void change_by_timekeeper_locked(struct dispatcher *dispatcher, uint32_t spares,
                                        uint32_t extras)
{
    if (dispatcher->started && !atomic_load_explicit(&dispatcher->stopping, memory_order_relaxed))
        (void)change_locked(
            dispatcher,
            (struct numbers){ atomic_load_explicit(&dispatcher->wanted, memory_order_relaxed),
                              spares, extras });
}

void dispatcher_set_stuck(struct dispatcher *dispatcher, uint32_t stuck)
{
    /* Relaxed: figures. A changed budget counts from some later look. */
    uint32_t budget = atomic_load_explicit(&dispatcher->budget, memory_order_relaxed);
    uint32_t before = atomic_exchange_explicit(&dispatcher->stuck, stuck, memory_order_relaxed);

    lock_acquire(&dispatcher->lock);
    change_by_timekeeper_locked(dispatcher, budget > 1 ? stuck : 0, dispatcher_extras(dispatcher));
    lock_release(&dispatcher->lock);
    if (stuck > before && dispatcher->options.stuck)
        dispatcher->options.stuck(dispatcher->options.stuck_context, dispatcher->name, stuck);
}

void dispatcher_set_extras(struct dispatcher *dispatcher, uint32_t extras)
{
    lock_acquire(&dispatcher->lock);
    change_by_timekeeper_locked(
        dispatcher, atomic_load_explicit(&dispatcher->spares, memory_order_relaxed), extras);
    lock_release(&dispatcher->lock);
}

bool dispatcher_try_signal(struct dispatcher *dispatcher, uint32_t index, int number, void *value)
{
    struct executor *executor = dispatcher_executor(dispatcher, index);
    bool sent;

    if (!lock_try(&dispatcher->lock))
        return false;
    sent = executor->joinable && !executor->left &&
           pthread_sigqueue(executor->thread, number, (union sigval){ .sival_ptr = value }) == 0;
    lock_release(&dispatcher->lock);
    return sent;
}

bool dispatcher_try_name(struct dispatcher *dispatcher, char name[DISPATCHER_NAME_MAX])
{
    if (!lock_try(&dispatcher->lock))
        return false;
    memcpy(name, dispatcher->name, DISPATCHER_NAME_MAX);
    lock_release(&dispatcher->lock);
    return true;
}

void dispatcher_reap(struct dispatcher *dispatcher)
{
    lock_acquire(&dispatcher->lock);
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        join_if_left_locked(dispatcher->executors[i]);
    lock_release(&dispatcher->lock);
}

int dispatcher_rename(struct dispatcher *dispatcher, const char *name)
{
    if (strnlen(name, DISPATCHER_NAME_MAX) == DISPATCHER_NAME_MAX)
        return WEIR_EINVALID;
    lock_acquire(&dispatcher->lock); /* for dispatcher_try_name */
    (void)snprintf(dispatcher->name, sizeof dispatcher->name, "%s", name);
    lock_release(&dispatcher->lock);
    return 0;
}

/* --- start and stop ------------------------------------------------------------------------- */

int dispatcher_start(struct dispatcher *dispatcher)
{
    int status;

    lock_acquire(&dispatcher->lock);
    status = start_threads_locked(
        dispatcher, atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed));
    dispatcher->started = status == 0;
    lock_release(&dispatcher->lock);
    if (status != 0) {
        dispatcher_signal_stop(dispatcher);
        (void)dispatcher_join(dispatcher);
    }
    return status;
}

void dispatcher_signal_stop(struct dispatcher *dispatcher)
{
    atomic_store_explicit(&dispatcher->stopping, true, memory_order_seq_cst);
    kick_all(dispatcher, 0);
}

/* The first thread that is to be joined, by the caller. NULL: there is none. */
static struct executor *take_joinable(struct dispatcher *dispatcher)
{
    struct executor *found = NULL;

    lock_acquire(&dispatcher->lock);
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count && !found; i++)
        if (dispatcher->executors[i]->joinable && !dispatcher->executors[i]->joining)
            found = dispatcher->executors[i];
    if (found)
        found->joining = true;
    lock_release(&dispatcher->lock);
    return found;
}

/* Without the lock, which a thread may take before it leaves. */
static void join(struct dispatcher *dispatcher, struct executor *executor)
{
    pthread_join(executor->thread, NULL);
    lock_acquire(&dispatcher->lock);
    executor->joinable = false;
    executor->joining = false;
    lock_release(&dispatcher->lock);
}

int dispatcher_join(struct dispatcher *dispatcher)
{
    struct executor *executor = executor_of_this_thread();

    if (executor && executor->dispatcher == dispatcher)
        return WEIR_EDEADLK;
    while ((executor = take_joinable(dispatcher)))
        join(dispatcher, executor);
    return 0;
}

void dispatcher_destroy(struct dispatcher *dispatcher)
{
    if (!dispatcher)
        return;
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++) {
        executor_finish(dispatcher->executors[i]);
        free(dispatcher->executors[i]);
    }
    global_queue_finish(&dispatcher->global);
    share_list_finish(&dispatcher->shares);
    timers_finish(&dispatcher->timers);
    lock_finish(&dispatcher->lock);
    free(dispatcher);
}

void dispatcher_arm(struct dispatcher *dispatcher, struct timer *timer, uint64_t due_ns)
{
    if (timers_arm(&dispatcher->timers, timer, due_ns) && dispatcher->options.doze)
        doze_expect(dispatcher->options.doze, due_ns);
}

uint64_t dispatcher_steals(const struct dispatcher *dispatcher)
{
    uint64_t sum = 0;

    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        sum += atomic_load_explicit(&dispatcher->executors[i]->steals, memory_order_relaxed);
    return sum;
}

uint64_t dispatcher_turns(const struct dispatcher *dispatcher)
{
    uint64_t sum = 0;

    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        sum += atomic_load_explicit(&dispatcher->executors[i]->turns, memory_order_relaxed) / 2;
    return sum;
}
