/* SPDX-License-Identifier: MIT */
#include "dispatch/executor.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#include "dispatch/barrier.h"
#include "dispatch/futex.h"
#include "dispatch/layout.h"
#include "dispatch/rest.h"
#include "dispatch/schedulable.h"
#include "dispatch/shares.h"
#include "dispatch/theft.h"
#include "dispatch/wake.h"

#define GLOBAL_INTERVAL 61 /* prime, so that it falls in step with nothing (Go, tokio) */
#define GLOBAL_BATCH 16    /* taken at once: one lock for this many turns */
#define SPAWNED_RUNS_MAX 4 /* then an older actor runs: these may wait for their parent */
#define LIFO_RUNS_MAX 16   /* then the ring has its turn: a pair cannot starve it */
#define SEARCH_ROUNDS 64   /* about 30 us of looking, more than a wake-up costs */
#define AGE_INTERVAL 17    /* searches between two moves of the oldest spawned actor: 1037 takes */

/* An outside thread has no beats. */
static uint32_t present_beat(const struct executor *executor)
{
    /* Relaxed: a beat may be seen one check later. */
    return executor->dispatcher
               ? atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed)
               : 0;
}

/* Before the first turn, at each beat, and after a turn that gave way. */
static void refresh_budget(struct executor *executor)
{
    /* Relaxed: a changed budget is in effect from one of the next turns on. */
    if (executor->dispatcher)
        executor->budget = atomic_load_explicit(&executor->dispatcher->budget,
                                                memory_order_relaxed);
}

/* Never 0. Of the clock and its number: a test that owns the clock draws the same again. */
static uint64_t first_random(const struct executor *executor)
{
    return (executor->now_ns ^ (uint64_t)executor->reader.index << 32) * 0x9e3779b97f4a7c15ull | 1;
}

int executor_init(struct executor *executor, struct dispatcher *dispatcher, void *runtime,
                  struct reclaim *reclaim, struct clock clock)
{
    int status;

    memset(executor, 0, sizeof *executor);
    executor->dispatcher = dispatcher;
    executor->runtime = runtime;
    executor->clock = clock;
    executor->note = &executor->own_note;
    executor->now_ns = clock_now_ns(&clock);
    cache_init(&executor->cache);
    executor->cache.share.memory = dispatcher ? dispatcher->options.memory : NULL;
    spawn_deque_init(&executor->spawned);
    pace_init(&executor->pace, executor->now_ns);
    atomic_init(&executor->pressed_beat, present_beat(executor) - PRESS_BEATS);
    atomic_init(&executor->exempt_beat, present_beat(executor) - EXEMPT_BEATS);
    executor->theft_ns = THEFT_NS_FIRST;
    ring_init(&executor->ring, dispatcher ? dispatcher->options.ring_capacity : RING_CAPACITY);
    lock_init(&executor->offline_lock, LOCK_OFFLINE);
    executor->can_be_raided = dispatcher && barrier_register();
    atomic_init(&executor->raided, !executor->can_be_raided);
    refresh_budget(executor);
    status = reader_init(&executor->reader, reclaim);
    executor->random = first_random(executor);
    if (status != 0 || !dispatcher)
        return status;
    executor->notes = calloc(IDLE_THREADS_MAX, sizeof *executor->notes);
    return executor->notes ? 0 : WEIR_ENOMEM;
}

void executor_finish(struct executor *executor)
{
    reader_finish(&executor->reader);
    cache_finish(&executor->cache);
    lock_finish(&executor->offline_lock);
    free(executor->notes);
}

uint64_t executor_look_at_clock(struct executor *executor)
{
    executor->clock_beat = present_beat(executor);
    executor->now_ns = clock_now_ns(&executor->clock);
    return executor->now_ns;
}

uint64_t executor_time(struct executor *executor)
{
    if (!executor->dispatcher || executor->clock_beat != present_beat(executor))
        (void)executor_look_at_clock(executor);
    return executor->now_ns;
}

/* --- putting work in ------------------------------------------------------------------------ */

/* Wakes a thread when it should take some of the queued actors. */
static void wake_if_worth(struct executor *executor)
{
    if (theft_is_worth(executor))
        wake_any(executor->dispatcher);
}

static void push_ring(struct executor *executor, struct schedulable *schedulable)
{
    if (!ring_push(&executor->ring, schedulable))
        global_queue_push(&executor->dispatcher->global, schedulable);
    wake_if_worth(executor);
}

void executor_submit_any(struct executor *executor, struct dispatcher *dispatcher,
                         struct schedulable *schedulable)
{
    struct schedulable *old;

    if (!executor_is_home(executor, dispatcher)) {
        global_queue_push(&dispatcher->global, schedulable);
        wake_any(dispatcher);
        return;
    }
    /* [L1] release: a raider sees the actor's state; acquire for the actor that is replaced. */
    old = atomic_exchange_explicit(&executor->lifo, schedulable, memory_order_acq_rel);
    if (old)
        push_ring(executor, old);
}

void executor_submit_behind(struct executor *executor, struct dispatcher *dispatcher,
                            struct schedulable *schedulable)
{
    bool is_own = executor_is_home(executor, dispatcher);

    if (is_own)
        press_begin(executor);
    if (is_own && ring_count(&executor->ring) > 0)
        push_ring(executor, schedulable);
    else
        executor_submit(executor, dispatcher, schedulable);
}

void executor_submit_spawned(struct executor *executor, struct dispatcher *dispatcher,
                             struct schedulable *schedulable)
{
    if (executor_is_home(executor, dispatcher) && spawn_deque_push(&executor->spawned, schedulable))
        wake_if_worth(executor);
    else
        executor_submit(executor, dispatcher, schedulable);
}

/* --- taking work out ------------------------------------------------------------------------ */

static struct schedulable *take_global(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    /* Relaxed: how much to take at once is a guess. */
    uint32_t threads = atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed);
    uint32_t share = global_queue_count(&dispatcher->global) / (threads ? threads : 1);

    return global_queue_take(&dispatcher->global, &executor->ring,
                             share < GLOBAL_BATCH ? share : GLOBAL_BATCH);
}

/* Reads the clock between two turns. */
static uint64_t look_at_pace(struct executor *executor)
{
    uint64_t turns = atomic_load_explicit(&executor->turns, memory_order_relaxed) / 2;

    pace_look(&executor->pace, executor_look_at_clock(executor), turns);
    return executor->now_ns;
}

static void look_around(struct executor *executor)
{
    uint64_t now = look_at_pace(executor);

    refresh_budget(executor);
    while (timers_expire(&executor->dispatcher->timers, now, executor))
        ;
    (void)reader_poll(&executor->reader);
}

/* Moves the oldest spawned actor to the ring, where younger ones cannot overtake it any more. */
static void age_spawned(struct executor *executor)
{
    struct schedulable *eldest = spawn_deque_steal(&executor->spawned);

    if (eldest && !ring_push(&executor->ring, eldest))
        global_queue_push(&executor->dispatcher->global, eldest);
}

static struct schedulable *take_spawned(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (!spawn_deque_is_empty(&executor->spawned) && executor->spawned_runs++ < SPAWNED_RUNS_MAX)
        taken = spawn_deque_pop(&executor->spawned);
    if (!taken)
        executor->spawned_runs = 0;
    return taken;
}

/* Work that must not wait for the rest: checked at each beat, so after each long turn, and at every
 * 61st take. */
static inline bool is_overdue(struct executor *executor)
{
    return ++executor->takes >= GLOBAL_INTERVAL ||
           atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed) !=
               executor->beat_seen;
}

/* Out of line, so that other takes save no registers for it. */
__attribute__((noinline)) static struct schedulable *take_overdue(struct executor *executor)
{
    uint32_t beat = present_beat(executor);
    bool ticked = beat != executor->beat_seen;

    executor->beat_seen = beat;
    executor->takes = 0;
    look_around(executor);
    if (ticked || ++executor->looks % AGE_INTERVAL == 0)
        age_spawned(executor);
    return take_global(executor);
}

/* When no actor is in the slot, or other ones have their turn. */
__attribute__((noinline)) static struct schedulable *take_queued(struct executor *executor)
{
    struct schedulable *taken;

    executor->lifo_runs = 0;
    taken = ring_pop(&executor->ring);
    if (!taken)
        taken = theft_take_lifo(executor);
    if (!taken)
        taken = spawn_deque_pop(&executor->spawned);
    return taken ? taken : take_global(executor);
}

static inline struct schedulable *take_own(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (is_overdue(executor))
        taken = take_overdue(executor);
    if (!taken)
        taken = take_spawned(executor);
    if (!taken && executor->lifo_runs < LIFO_RUNS_MAX) {
        taken = theft_take_lifo(executor);
        if (taken)
            executor->lifo_runs++;
    }
    return taken ? taken : take_queued(executor);
}

/* The dispatcher stops, or wants fewer threads and this is one too many. */
static bool is_to_end(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    /* seq_cst: a thread that parks has announced that before this read; a writer of these fields
     * kicks after its write. */
    return atomic_load_explicit(&dispatcher->stopping, memory_order_seq_cst) ||
           executor->index >= atomic_load_explicit(&dispatcher->thread_count, memory_order_seq_cst);
}

/* --- refused senders ------------------------------------------------------------------------ */

/* After a turn that was refused: after a round of them takes work of other threads, which may make
 * room. */
__attribute__((noinline)) static struct schedulable *take_after_refusal(struct executor *executor)
{
    struct schedulable *taken;

    if (!futility_is_a_round(&executor->futility, ring_count(&executor->ring)))
        return take_own(executor);
    (void)look_at_pace(executor);
    theft_judge(executor);
    taken = theft_try(executor, (uint32_t)executor_random(executor));
    if (taken)
        return taken;
    futility_goes_on(&executor->futility, executor->now_ns);
    idle_pause();
    return take_own(executor);
}

static struct schedulable *take_next(struct executor *executor)
{
    return futility_is_any(&executor->futility) ? take_after_refusal(executor) : take_own(executor);
}

/* Searches all sources of work, once. */
static struct schedulable *look_for_work(struct executor *executor)
{
    struct schedulable *taken;

    look_around(executor);
    taken = take_next(executor);
    if (taken)
        return taken;
    theft_judge(executor);
    taken = theft_try(executor, (uint32_t)executor_random(executor));
    return taken ? taken : shares_take(executor);
}

/* Searches repeatedly for a short time. The caller counts as searching. */
static struct schedulable *search(struct executor *executor)
{
    /* With a budget of 1 callbacks may block: the next turn seldom comes within a search. A crowd
     * needs the CPU of this thread, perhaps to make its next work. */
    bool is_short = executor->budget == 1 || dispatcher_is_crowded(executor->dispatcher);
    int rounds = is_short ? 1 : SEARCH_ROUNDS;

    for (int round = 0; round < rounds; round++) {
        struct schedulable *taken = look_for_work(executor);

        if (taken || is_to_end(executor))
            return taken;
        reader_quiescent(&executor->reader);
        idle_pause();
    }
    return NULL;
}

/* --- sleeping ------------------------------------------------------------------------------- */

/* True when the global queue has work for a thread that is counted as parked. A thread that stands
 * back leaves that queue to the others while one of them runs. */
static bool is_global_for(const struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    return global_queue_count(&dispatcher->global) > 0 &&
           !(executor->stands_back && dispatcher_others_run(dispatcher, 0));
}

static bool anything_to_do(struct executor *executor)
{
    return is_to_end(executor) || is_global_for(executor) || shares_wait_for(executor) ||
           theft_is_work_waiting(executor->dispatcher);
}

/* Wakes the next thread when there is work for it. */
static void notify_of_more(struct dispatcher *dispatcher)
{
    if (global_queue_count(&dispatcher->global) > 0 || shares_any_wait(dispatcher) ||
        theft_is_work_waiting(dispatcher))
        wake_any(dispatcher);
}

/* Ends a sleep that no other thread has ended; after it, this thread counts as searching. */
static void leave_parking(struct executor *executor)
{
    /* Picked at the same time: waits for the token, so that it does not end a later sleep. */
    if (!idle_unpark_self(&executor->dispatcher->idle, executor->index))
        wake_await(executor);
}

/* Sleeps until picked, or until this thread is to end. */
static void sleep_until_picked(struct executor *executor)
{
    for (;;) {
        uint32_t token = atomic_exchange_explicit(&executor->token, 0, memory_order_seq_cst);

        if (token & WAKE_PICKED)
            return;
        if (is_to_end(executor)) {
            leave_parking(executor);
            return;
        }
        if (!token)
            futex_wait(&executor->token, 0, UINT64_MAX);
    }
}

/* Before a long sleep: returns cached memory to its owners, and goes off-line for reclamation. */
static void go_offline(struct executor *executor)
{
    executor->clock_beat--; /* there are no beats while all threads sleep */
    reader_rest(&executor->reader);
    cache_flush(&executor->cache);
}

/* Sleeps; on return this thread counts as searching. */
static void park(struct executor *executor, bool was_searching)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    theft_end(executor);
    go_offline(executor);
    idle_park(&dispatcher->idle, executor->index, was_searching);
    if (anything_to_do(executor)) {
        leave_parking(executor);
    } else {
        atomic_fetch_add_explicit(&executor->parks, 1, memory_order_relaxed);
        sleep_until_picked(executor);
    }
    dispatcher_stir(dispatcher);
    reader_online(&executor->reader);
    (void)look_at_pace(executor);
}

/* --- the loop ------------------------------------------------------------------------------- */

/* Queues an actor that has more to do at the end of its turn. */
static void push_again(struct executor *executor, struct schedulable *schedulable)
{
    bool is_alone = !atomic_load_explicit(&executor->lifo, memory_order_relaxed) &&
                    ring_count(&executor->ring) == 0;
    /* Actors that were queued here may be in the global queue by now (see theft_hand_over); they
     * run before the next turn of this actor. */
    bool goes_behind = is_alone && present_beat(executor) != executor->beat_seen;

    if (goes_behind || !ring_push(&executor->ring, schedulable))
        global_queue_push(&executor->dispatcher->global, schedulable);
    if (!is_alone)
        wake_if_worth(executor);
}

/* Counts refused turns in a row. Out of line: seldom. */
__attribute__((noinline)) static void count_refusal(struct executor *executor)
{
    futility_count(&executor->futility, executor->gave_way);
    executor->gave_way = false;
    refresh_budget(executor);
}

static inline void run_turn(struct executor *executor, struct schedulable *schedulable)
{
    uint64_t turns = atomic_load_explicit(&executor->turns, memory_order_relaxed);
    enum turn turn;

    if (__builtin_expect(dispatcher_divides(executor->dispatcher), false) &&
        !shares_begin(executor, schedulable))
        return;
    /* [L2] Release: the actor has left the slot for the next one. */
    atomic_store_explicit(&executor->turns, turns + 1, memory_order_release);
    turn = schedulable->run(schedulable, executor);
    /* [L2] before the next load of `raided`. */
    atomic_store_explicit(&executor->turns, turns + 2, memory_order_relaxed);
    if (__builtin_expect(executor->share != NULL, false))
        shares_end(executor);
    if (executor->gave_way || futility_is_any(&executor->futility))
        count_refusal(executor);
    if (turn == TURN_AGAIN)
        push_again(executor, schedulable);
    reader_quiescent(&executor->reader);
}

/* Relaxed: read before each turn, and again before a sleep. */
static bool is_too_many(const struct executor *executor)
{
    return executor->index >=
           atomic_load_explicit(&executor->dispatcher->thread_count, memory_order_relaxed);
}

/* Leaves refused senders to the other threads, which have the actors that make room. */
static void give_up_refused(struct executor *executor)
{
    executor->futility = (struct futility){ 0 };
    (void)theft_hand_over(executor);
}

/* Does so, and sleeps until the others have more than they can do, or none of them runs. */
static void stand_back(struct executor *executor)
{
    give_up_refused(executor);
    executor->stands_back = true;
    park(executor, false);
    executor->stands_back = false;
}

/* Finds the next schedulable where take_next finds none, or may not take it; sleeps if it must.
 * NULL when this thread is to end. */
__attribute__((noinline)) static struct schedulable *find_next(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    struct schedulable *taken = NULL;
    bool searching = futility_is_long(&executor->futility, executor->now_ns) &&
                     dispatcher_others_run(dispatcher, 1);

    if (searching)
        stand_back(executor);
    else if (!is_too_many(executor))
        taken = take_next(executor);
    while (!taken) {
        if (is_to_end(executor))
            break;
        if (!searching)
            searching = idle_try_search(&dispatcher->idle);
        if (searching || shares_wait_for(executor))
            taken = search(executor);
        if (!taken && !is_to_end(executor)) {
            park(executor, searching);
            searching = true;
        }
    }
    if (searching && idle_found(&dispatcher->idle) && taken)
        notify_of_more(dispatcher);
    return taken;
}

/* The next schedulable; NULL when this thread is to end. */
static inline struct schedulable *next_to_run(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (!futility_is_any(&executor->futility) && !is_too_many(executor))
        taken = take_own(executor);
    return taken ? taken : find_next(executor);
}

/* True when the calling thread may leave: its index is too high. It takes no work after this. */
static bool let_go(struct dispatcher *dispatcher, struct executor *executor)
{
    bool goes;

    lock_acquire(&dispatcher->lock);
    goes = executor->index >= atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed);
    if (goes) {
        executor->left = true;
        atomic_fetch_sub_explicit(&dispatcher->running, 1, memory_order_seq_cst);
    }
    lock_release(&dispatcher->lock);
    return goes;
}

/* True when this thread is to end; its queued work has been handed over. */
static bool leave(struct executor *executor)
{
    if (atomic_load_explicit(&executor->dispatcher->stopping, memory_order_seq_cst))
        return true;
    theft_end(executor);
    (void)theft_hand_over(executor);
    if (!let_go(executor->dispatcher, executor))
        return false;
    /* Also for work that this thread was woken for, for work that woke no thread because this one
     * was searching, and for a thread that stood back while this one was counted as running. */
    notify_of_more(executor->dispatcher);
    return true;
}

bool executor_step(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (!reader_is_online(&executor->reader))
        reader_online(&executor->reader);
    if (is_too_many(executor))
        (void)theft_hand_over(executor);
    else if (futility_is_long(&executor->futility, executor->now_ns) &&
             dispatcher_slot_count(executor->dispatcher) > 1)
        give_up_refused(executor);
    else
        taken = look_for_work(executor);
    if (taken)
        run_turn(executor, taken);
    else
        go_offline(executor);
    return taken != NULL;
}

static struct executor **own_executor(void)
{
    static _Thread_local struct executor *own;

    return &own;
}

struct executor *executor_of_this_thread(void)
{
    return *own_executor();
}

void *executor_main(void *argument)
{
    struct executor *executor = argument;
    struct dispatcher *dispatcher = executor->dispatcher;
    struct schedulable *schedulable;

    *own_executor() = executor;
    if (dispatcher->options.thread_start)
        dispatcher->options.thread_start(executor);
    dispatcher_stir(dispatcher);
    reader_online(&executor->reader);
    do
        while ((schedulable = next_to_run(executor)))
            run_turn(executor, schedulable);
    while (!leave(executor));
    reader_finish(&executor->reader);
    cache_flush(&executor->cache);
    if (dispatcher->options.thread_end)
        dispatcher->options.thread_end(executor);
    return NULL;
}
