/* SPDX-License-Identifier: MIT */
#include "dispatch/timekeeper.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#include "base/cpus.h"
#include "dispatch/barrier.h"
#include "dispatch/dispatcher.h"
#include "dispatch/doze.h"
#include "dispatch/futex.h"
#include "dispatch/theft.h"
#include "dispatch/wake.h"

#define BEAT_NS 1000000u
#define BEATS_PER_MS 1u /* no more: a beat may be late, never early */
/* 10 ms: a turn that has lasted so long may last for seconds, and each try costs a system call that
 * interrupts all threads of the process. */
#define HOLD_BEATS 10u

/* The observation of one thread. */
struct sight {
    uint64_t turns; /* of its executor, at the last beat */
    uint32_t beats; /* that saw the same turn, after the first */
    struct theft_note seen;
};

/* The observation of one dispatcher. */
struct watched_dispatcher {
    struct dispatcher *dispatcher; /* const */
    uint64_t turns;                /* of all its threads, at the last beat */
    uint32_t stuck;                /* as reported last */
    uint32_t in_turn;              /* threads, at this beat */
    struct sight sights[IDLE_THREADS_MAX];
};

struct timekeeper {
    struct executor executor;        /* the thread's: no dispatcher */
    struct clock pace;               /* const: beats use the real clock, deadlines the executor's */
    bool can_interrupt;              /* const: barrier_everywhere works */
    uint32_t cpus;                   /* const */
    timekeeper_long_turn *long_turn; /* start; NULL: nothing to do */
    pthread_t thread;                /* start, stop */
    bool started;                    /* start, stop */

    /* the thread's */
    uint64_t next_beat_ns;

    /* by watching threads */
    struct watched_dispatcher *watched[TIMEKEEPER_DISPATCHERS_MAX]; /* written once, before count */
    _Atomic uint32_t watched_count;

    /* by any */
    struct doze doze;
    _Atomic bool stopping; /* set once */
    _Atomic uint32_t spare_after_ms;
};

/* --- life ----------------------------------------------------------------------------------- */

int timekeeper_create(void *runtime, struct reclaim *reclaim, struct clock clock,
                      struct timekeeper **out)
{
    struct timekeeper *timekeeper = aligned_alloc(64, (sizeof *timekeeper + 63) / 64 * 64);

    if (!timekeeper)
        return WEIR_ENOMEM;
    memset((void *)timekeeper, 0, sizeof *timekeeper);
    if (executor_init(&timekeeper->executor, NULL, runtime, reclaim, clock) != 0) {
        free(timekeeper);
        return WEIR_ENOMEM;
    }
    timekeeper->pace = clock_monotonic();
    timekeeper->can_interrupt = barrier_register();
    timekeeper->cpus = cpus_effective("");
    atomic_init(&timekeeper->watched_count, 0);
    doze_init(&timekeeper->doze);
    atomic_init(&timekeeper->stopping, false);
    atomic_init(&timekeeper->spare_after_ms, 0);
    *out = timekeeper;
    return 0;
}

int timekeeper_watch(struct timekeeper *timekeeper, struct dispatcher *dispatcher)
{
    uint32_t count = atomic_load_explicit(&timekeeper->watched_count, memory_order_relaxed);
    struct watched_dispatcher *watched;

    if (count == TIMEKEEPER_DISPATCHERS_MAX)
        return WEIR_ENOMEM;
    watched = calloc(1, sizeof *watched);
    if (!watched)
        return WEIR_ENOMEM;
    watched->dispatcher = dispatcher;
    timekeeper->watched[count] = watched;
    /* [K1] release: the thread that sees it counted sees it complete. */
    atomic_store_explicit(&timekeeper->watched_count, count + 1, memory_order_release);
    return 0;
}

static uint32_t watched_count(struct timekeeper *timekeeper)
{
    /* [K1] */
    return atomic_load_explicit(&timekeeper->watched_count, memory_order_acquire);
}

void timekeeper_destroy(struct timekeeper *timekeeper)
{
    if (!timekeeper)
        return;
    for (uint32_t i = 0; i < watched_count(timekeeper); i++)
        free(timekeeper->watched[i]);
    executor_finish(&timekeeper->executor);
    free(timekeeper);
}

void timekeeper_set_long_turn(struct timekeeper *timekeeper, timekeeper_long_turn *long_turn)
{
    timekeeper->long_turn = long_turn;
}

void timekeeper_set_spare_after(struct timekeeper *timekeeper, uint32_t ms)
{
    /* Relaxed: a changed value counts from some later beat. */
    atomic_store_explicit(&timekeeper->spare_after_ms, ms, memory_order_relaxed);
}

struct doze *timekeeper_doze(struct timekeeper *timekeeper)
{
    return &timekeeper->doze;
}

void timekeeper_look(struct timekeeper *timekeeper)
{
    doze_end(&timekeeper->doze);
}

/* --- long turns ----------------------------------------------------------------------------- */

static void let_memory_go(struct timekeeper *timekeeper, struct executor *executor)
{
    if (timekeeper->can_interrupt)
        executor_try_put_offline(executor);
}

/* Counts the beats that saw the thread in the turn that it is in. */
static uint32_t count_beats(struct watched_dispatcher *watched, uint32_t index)
{
    struct dispatcher *dispatcher = watched->dispatcher;
    struct sight *sight = &watched->sights[index];
    /* Relaxed: only compared for change. */
    uint64_t turns = atomic_load_explicit(&dispatcher_executor(dispatcher, index)->turns,
                                          memory_order_relaxed);
    bool in_turn = turns % 2 != 0;

    watched->in_turn += in_turn;
    sight->beats = in_turn && turns == sight->turns ? sight->beats + 1 : 0;
    sight->turns = turns;
    return sight->beats;
}

static bool may_block(struct executor *executor)
{
    /* Relaxed: a late check is repeated at the next beat. */
    uint32_t where = atomic_load_explicit(&executor->where, memory_order_relaxed);

    return where == EXECUTOR_IN_BLOCKING || where == EXECUTOR_CALLED_BLOCKING;
}

/* Looks at one thread; true when it is stuck. Sets *waits when there is work for the others. */
static bool look_at_thread(struct timekeeper *timekeeper, struct watched_dispatcher *watched,
                           uint32_t index, bool *waits)
{
    struct executor *executor = dispatcher_executor(watched->dispatcher, index);
    uint32_t spare_after = atomic_load_explicit(&timekeeper->spare_after_ms, memory_order_relaxed);
    uint32_t beats = count_beats(watched, index);

    *waits |= theft_has_waited(&watched->sights[index].seen, executor);
    if (beats == 0)
        return false;
    if (timekeeper->long_turn)
        timekeeper->long_turn(executor, &timekeeper->executor);
    *waits |= theft_raid(executor) > 0;
    if (beats % HOLD_BEATS == 0)
        let_memory_go(timekeeper, executor);
    return spare_after > 0 && beats >= spare_after * BEATS_PER_MS && !may_block(executor);
}

/* True when all threads below `count` have been in the same turn for some time. */
static bool are_in_long_turns(const struct watched_dispatcher *watched, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (watched->sights[i].beats < HOLD_BEATS)
            return false;
    return true;
}

/* The number of extra threads: one more when none is left for what waits; none when a regular
 * thread is free. */
static uint32_t wanted_extras(const struct watched_dispatcher *watched)
{
    struct dispatcher *dispatcher = watched->dispatcher;
    /* Relaxed: a changed number counts from the next beat. */
    uint32_t regular = atomic_load_explicit(&dispatcher->regular, memory_order_relaxed);
    uint32_t extras = dispatcher_extras(dispatcher);

    if (!dispatcher_divides(dispatcher) || regular == 0 || !are_in_long_turns(watched, regular))
        return 0;
    return extras + (global_queue_count(&dispatcher->global) > 0 &&
                     are_in_long_turns(watched, regular + extras));
}

static void report_extras(struct watched_dispatcher *watched, uint32_t extras)
{
    if (extras != dispatcher_extras(watched->dispatcher))
        dispatcher_set_extras(watched->dispatcher, extras);
}

static void report_stuck(struct watched_dispatcher *watched, uint32_t stuck)
{
    if (stuck == watched->stuck)
        return;
    watched->stuck = stuck;
    dispatcher_set_stuck(watched->dispatcher, stuck);
}

/* --- beats ---------------------------------------------------------------------------------- */

static void tick(struct dispatcher *dispatcher)
{
    /* Relaxed: one writer; a reader that sees it one take later is early enough. */
    uint32_t beat = atomic_load_explicit(&dispatcher->beat, memory_order_relaxed);

    atomic_store_explicit(&dispatcher->beat, beat + 1, memory_order_relaxed);
}

/* True when the dispatcher has run anything since the last beat, or may do so now. */
static bool look_at_dispatcher(struct timekeeper *timekeeper, struct watched_dispatcher *watched)
{
    struct dispatcher *dispatcher = watched->dispatcher;
    uint64_t turns = dispatcher_turns(dispatcher);
    bool has_run = turns != watched->turns;
    bool waits = global_queue_count(&dispatcher->global) > 0;
    /* Relaxed: a changed number counts from the next beat. Threads beyond it are to leave. */
    uint32_t threads = atomic_load_explicit(&dispatcher->regular, memory_order_relaxed);
    uint32_t stuck = 0;

    watched->turns = turns;
    watched->in_turn = 0;
    if (!has_run && !dispatcher_others_run(dispatcher, 0)) {
        report_stuck(watched, 0);
        report_extras(watched, 0);
        return false;
    }
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        stuck += look_at_thread(timekeeper, watched, i, &waits) && i < threads;
    report_stuck(watched, stuck);
    report_extras(watched, wanted_extras(watched));
    tick(dispatcher);
    if (waits)
        wake_any(dispatcher);
    return true;
}

/* Threads that wait in their turn count, too. The flag WEIR_BLOCKING does not say that a thread
 * uses no CPU now: workers that read a file and hash it have it, and this was made for them. Where
 * all of them wait, a thread sleeps some 30 us early, and a wake-up costs about as much. */
static void report_crowds(struct timekeeper *timekeeper)
{
    uint32_t count = watched_count(timekeeper);
    uint32_t all = 0;

    for (uint32_t i = 0; i < count; i++)
        all += timekeeper->watched[i]->in_turn;
    for (uint32_t i = 0; i < count; i++) {
        struct watched_dispatcher *watched = timekeeper->watched[i];
        bool is_crowded = all - watched->in_turn >= timekeeper->cpus;

        if (is_crowded != dispatcher_is_crowded(watched->dispatcher))
            atomic_store_explicit(&watched->dispatcher->crowded, is_crowded, memory_order_relaxed);
    }
}

/* True when a dispatcher runs. */
static bool beat(struct timekeeper *timekeeper, uint64_t real_ns)
{
    bool active = false;

    for (uint32_t i = 0, count = watched_count(timekeeper); i < count; i++)
        active |= look_at_dispatcher(timekeeper, timekeeper->watched[i]);
    report_crowds(timekeeper);
    timekeeper->next_beat_ns = real_ns + BEAT_NS;
    return active;
}

/* Fires due timers; the actors that they wake run before the next turn. */
static void fire_timers(struct timekeeper *timekeeper)
{
    struct executor *executor = &timekeeper->executor;
    uint64_t now = executor_look_at_clock(executor);

    for (uint32_t i = 0, count = watched_count(timekeeper); i < count; i++) {
        struct dispatcher *dispatcher = timekeeper->watched[i]->dispatcher;

        /* Relaxed: a missed deadline is seen before the timekeeper sleeps. */
        if (atomic_load_explicit(&dispatcher->timers.next_due_ns, memory_order_relaxed) > now)
            continue;
        reader_online(&executor->reader);
        while (timers_expire(&dispatcher->timers, now, executor))
            ;
        /* Also frees the memory of other threads that have gone to sleep since. */
        reader_rest(&executor->reader);
        tick(dispatcher);
    }
}

/* --- sleeping ------------------------------------------------------------------------------- */

static bool is_any_awake(struct timekeeper *timekeeper)
{
    for (uint32_t i = 0, count = watched_count(timekeeper); i < count; i++)
        if (dispatcher_others_run(timekeeper->watched[i]->dispatcher, 0))
            return true;
    return false;
}

/*
 * True when the timekeeper may sleep without beats. [K2] seq_cst: `is_deep` is written before the
 * threads are counted; a thread that wakes is counted before it reads `is_deep`. So the thread is
 * seen awake here, or it rouses the timekeeper.
 */
static bool may_doze(struct timekeeper *timekeeper)
{
    atomic_store_explicit(&timekeeper->doze.is_deep, true, memory_order_seq_cst);
    if (!is_any_awake(timekeeper))
        return true;
    atomic_store_explicit(&timekeeper->doze.is_deep, false, memory_order_seq_cst);
    return false;
}

static uint64_t next_due(struct timekeeper *timekeeper)
{
    uint64_t next = TIMER_NEVER;

    for (uint32_t i = 0, count = watched_count(timekeeper); i < count; i++) {
        struct timers *timers = &timekeeper->watched[i]->dispatcher->timers;
        uint64_t due = atomic_load_explicit(&timers->next_due_ns, memory_order_seq_cst);

        if (due < next)
            next = due;
    }
    return next;
}

/* How long to sleep until the next deadline, but no longer than `longest_ns`. */
static uint64_t time_to_sleep(struct timekeeper *timekeeper, uint64_t longest_ns)
{
    uint64_t now = executor_look_at_clock(&timekeeper->executor);
    uint64_t until = longest_ns > TIMER_NEVER - now ? TIMER_NEVER : now + longest_ns;
    uint64_t due;

    /* [T1] published before the deadlines are read: see timer.c. */
    atomic_store_explicit(&timekeeper->doze.until_ns, until, memory_order_seq_cst);
    due = next_due(timekeeper);
    if (due < until) {
        until = due;
        atomic_store_explicit(&timekeeper->doze.until_ns, until, memory_order_seq_cst);
    }
    if (until == TIMER_NEVER)
        return UINT64_MAX;
    return until > now ? until - now : 0;
}

static void rest(struct timekeeper *timekeeper, bool active)
{
    uint64_t real = clock_now_ns(&timekeeper->pace);
    uint64_t longest = timekeeper->next_beat_ns > real ? timekeeper->next_beat_ns - real : 0;
    uint64_t sleep_ns;

    if (!active && may_doze(timekeeper))
        longest = UINT64_MAX;
    sleep_ns = time_to_sleep(timekeeper, longest);
    if (sleep_ns > 0)
        futex_wait(&timekeeper->doze.token, 0, sleep_ns);
    atomic_store_explicit(&timekeeper->doze.is_deep, false, memory_order_relaxed);
    atomic_store_explicit(&timekeeper->doze.until_ns, 0, memory_order_relaxed);
    atomic_exchange_explicit(&timekeeper->doze.token, 0, memory_order_seq_cst);
}

static void *timekeeper_main(void *argument)
{
    struct timekeeper *timekeeper = argument;
    bool active = true;

    while (!atomic_load_explicit(&timekeeper->stopping, memory_order_seq_cst)) {
        uint64_t real = clock_now_ns(&timekeeper->pace);

        if (real >= timekeeper->next_beat_ns)
            active = beat(timekeeper, real);
        fire_timers(timekeeper);
        rest(timekeeper, active);
    }
    return NULL;
}

/* --- its thread ----------------------------------------------------------------------------- */

int timekeeper_start(struct timekeeper *timekeeper)
{
    if (timekeeper->started)
        return 0;
    atomic_store_explicit(&timekeeper->stopping, false, memory_order_seq_cst);
    if (pthread_create(&timekeeper->thread, NULL, timekeeper_main, timekeeper) != 0)
        return WEIR_ENOMEM;
    (void)pthread_setname_np(timekeeper->thread, "timekeeper");
    timekeeper->started = true;
    return 0;
}

void timekeeper_stop(struct timekeeper *timekeeper)
{
    if (!timekeeper->started)
        return;
    atomic_store_explicit(&timekeeper->stopping, true, memory_order_seq_cst);
    timekeeper_look(timekeeper);
    pthread_join(timekeeper->thread, NULL);
    timekeeper->started = false;
}
