#include "dispatch/executor.h"

#include <string.h>

#include "dispatch/dispatcher.h"
#include "dispatch/futex.h"
#include "dispatch/schedulable.h"

#define GLOBAL_INTERVAL 61      /* prime, so that it falls in step with nothing (Go, tokio) */
#define GLOBAL_BATCH 16         /* taken at once: one lock for as many turns */
#define BIRTH_RUNS_MAX 4        /* then one of the others: who gave birth may be waited for */
#define LIFO_RUNS_MAX 16        /* then the ring has its turn: a pair cannot starve it */
#define SEARCH_ROUNDS 64        /* about 30 us of looking, more than a wake-up costs */
#define SEARCH_PAUSES 32        /* spin-loop hints between two looks */
#define KEEPER_LOOK_NS 1000000u /* 1 ms: LIFO slots behind a long turn are found in two */
#define KEEPER_LOOK_MAX_NS 16000000u

int executor_init(struct executor *executor, struct dispatcher *dispatcher, void *runtime,
                  struct reclaim *reclaim, struct clock clock)
{
    memset(executor, 0, sizeof *executor);
    executor->dispatcher = dispatcher;
    executor->runtime = runtime;
    executor->clock = clock;
    executor->note = &executor->own_note;
    executor->now_ns = clock_now_ns(&clock);
    executor->random = (uint64_t)(uintptr_t)executor | 1;
    cache_init(&executor->cache);
    executor->cache.share.memory = dispatcher ? dispatcher->options.memory : NULL;
    births_init(&executor->births);
    ring_init(&executor->ring, dispatcher ? dispatcher->options.ring_capacity : RING_CAPACITY);
    return reader_init(&executor->reader, reclaim);
}

void executor_finish(struct executor *executor)
{
    reader_finish(&executor->reader);
    cache_finish(&executor->cache);
}

uint64_t executor_look_at_clock(struct executor *executor)
{
    executor->now_ns = clock_now_ns(&executor->clock);
    return executor->now_ns;
}

uint64_t executor_random(struct executor *executor)
{
    uint64_t x = executor->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return executor->random = x;
}

void executor_wake(struct executor *executor, uint32_t bits)
{
    atomic_fetch_or_explicit(&executor->token, bits, memory_order_seq_cst);
    futex_wake(&executor->token);
}

/* --- putting work in ------------------------------------------------------------------------ */

static void push_ring(struct executor *executor, struct schedulable *schedulable)
{
    if (!ring_push(&executor->ring, schedulable))
        global_queue_push(&executor->dispatcher->global, schedulable);
    dispatcher_notify(executor->dispatcher);
}

/* The keeper sleeps without looking at LIFO slots while nothing runs: something runs now. */
static void rouse_dozing_keeper(struct dispatcher *dispatcher)
{
    uint32_t keeper;

    /* Relaxed: advisory; a slot that stays behind a long turn is found at the keeper's next look,
     * or taken by its owner at the turn's end. */
    if (!atomic_load_explicit(&dispatcher->keeper_dozes, memory_order_relaxed))
        return;
    keeper = atomic_load_explicit(&dispatcher->keeper, memory_order_relaxed);
    if (keeper)
        executor_wake(dispatcher_executor(dispatcher, keeper - 1), EXECUTOR_KICKED);
}

/* What was just woken runs next, here, where its message is hot. */
static void push_lifo(struct executor *executor, struct schedulable *schedulable)
{
    /* [L1] release: a thief sees what it points at; acquire for what comes out. */
    struct schedulable *old = atomic_load_explicit(&executor->lifo, memory_order_relaxed);

    if (old)
        old = atomic_exchange_explicit(&executor->lifo, schedulable, memory_order_acq_rel);
    else
        atomic_store_explicit(&executor->lifo, schedulable, memory_order_release);
    if (old)
        push_ring(executor, old);
    else
        rouse_dozing_keeper(executor->dispatcher);
}

void executor_submit(struct executor *executor, struct dispatcher *dispatcher,
                     struct schedulable *schedulable)
{
    if (executor->dispatcher != dispatcher || !executor->in_turn) {
        global_queue_push(&dispatcher->global, schedulable);
        dispatcher_notify(dispatcher);
    } else if (executor->blocking) {
        push_ring(executor, schedulable);
    } else {
        push_lifo(executor, schedulable);
    }
}

void executor_submit_behind(struct executor *executor, struct dispatcher *dispatcher,
                            struct schedulable *schedulable)
{
    if (executor->dispatcher == dispatcher && executor->in_turn && ring_count(&executor->ring) > 0)
        push_ring(executor, schedulable);
    else
        executor_submit(executor, dispatcher, schedulable);
}

void executor_submit_born(struct executor *executor, struct dispatcher *dispatcher,
                          struct schedulable *schedulable)
{
    if (executor->dispatcher == dispatcher && executor->in_turn &&
        births_push(&executor->births, schedulable))
        dispatcher_notify(dispatcher);
    else
        executor_submit(executor, dispatcher, schedulable);
}

/* --- taking work out ------------------------------------------------------------------------ */

static struct schedulable *take_lifo(struct executor *executor)
{
    if (!atomic_load_explicit(&executor->lifo, memory_order_relaxed))
        return NULL;
    /* [L1] a thief may be faster. */
    return atomic_exchange_explicit(&executor->lifo, NULL, memory_order_acq_rel);
}

static struct schedulable *take_global(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    /* Relaxed: how much to take at once is a guess. */
    uint32_t threads = atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed);
    uint32_t share = global_queue_count(&dispatcher->global) / (threads ? threads : 1);

    return global_queue_take(&dispatcher->global, &executor->ring,
                             share < GLOBAL_BATCH ? share : GLOBAL_BATCH);
}

static void look_around(struct executor *executor)
{
    uint64_t now = executor_look_at_clock(executor);

    timers_expire(&executor->dispatcher->timers, now, executor);
    (void)reader_poll(&executor->reader);
}

static struct schedulable *take_born(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (executor->birth_runs++ < BIRTH_RUNS_MAX)
        taken = births_pop(&executor->births);
    if (!taken)
        executor->birth_runs = 0;
    return taken;
}

static struct schedulable *take_own(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (++executor->tick % GLOBAL_INTERVAL == 0) {
        look_around(executor);
        taken = take_global(executor);
        if (taken)
            return taken;
    }
    taken = take_born(executor);
    if (taken)
        return taken;
    if (executor->lifo_runs < LIFO_RUNS_MAX) {
        taken = take_lifo(executor);
        if (taken) {
            executor->lifo_runs++;
            return taken;
        }
    }
    executor->lifo_runs = 0;
    taken = ring_pop(&executor->ring);
    if (!taken)
        taken = take_lifo(executor);
    if (!taken)
        taken = births_pop(&executor->births);
    return taken ? taken : take_global(executor);
}

static struct schedulable *steal(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    uint32_t count = dispatcher_slot_count(dispatcher);
    uint32_t start = (uint32_t)(executor_random(executor) % count);

    for (uint32_t i = 0; i < count; i++) {
        struct executor *victim = dispatcher_executor(dispatcher, (start + i) % count);
        struct schedulable *taken;

        if (victim == executor)
            continue;
        taken = ring_steal(&victim->ring, &executor->ring);
        if (!taken)
            taken = births_steal(&victim->births);
        if (taken) {
            atomic_fetch_add_explicit(&executor->steals, 1, memory_order_relaxed);
            return taken;
        }
    }
    return NULL;
}

static void pause_briefly(void)
{
    for (int i = 0; i < SEARCH_PAUSES; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
    }
}

/* The dispatcher stops, or wants fewer threads and this is one too many. */
static bool is_to_end(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    /* seq_cst: who parks has announced it before it looks here; who writes these kicks after. */
    return atomic_load_explicit(&dispatcher->stopping, memory_order_seq_cst) ||
           executor->index >= atomic_load_explicit(&dispatcher->thread_count, memory_order_seq_cst);
}

/* Looks for work everywhere, once. */
static struct schedulable *look_for_work(struct executor *executor)
{
    struct schedulable *taken;

    look_around(executor);
    taken = take_own(executor);
    if (!taken)
        taken = steal(executor);
    return taken;
}

/* Likewise for a while. The caller counts as searching. */
static struct schedulable *search(struct executor *executor)
{
    for (int round = 0; round < SEARCH_ROUNDS; round++) {
        struct schedulable *taken = look_for_work(executor);

        if (taken || is_to_end(executor))
            return taken;
        reader_quiescent(&executor->reader);
        pause_briefly();
    }
    return NULL;
}

/* --- sleeping ------------------------------------------------------------------------------- */

static bool is_work_waiting(struct dispatcher *dispatcher)
{
    if (global_queue_count(&dispatcher->global) > 0)
        return true;
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++) {
        struct executor *executor = dispatcher_executor(dispatcher, i);

        if (ring_count(&executor->ring) > 0 || births_count(&executor->births) > 0)
            return true;
    }
    return false;
}

static bool anything_to_do(struct executor *executor)
{
    return is_to_end(executor) || is_work_waiting(executor->dispatcher);
}

static bool others_run(struct dispatcher *dispatcher)
{
    /* seq_cst, as the parked: who starts a thread counts it before it can have work. */
    return idle_parked_count(&dispatcher->idle) <
           atomic_load_explicit(&dispatcher->running, memory_order_seq_cst);
}

/* Until when the keeper sleeps: the next deadline, or its next look at the LIFO slots. */
static uint64_t keeper_deadline(struct executor *executor, uint64_t look_ns)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    bool dozes = !others_run(dispatcher);
    uint64_t until = dozes ? TIMER_NEVER : executor->now_ns + look_ns;
    uint64_t due;

    atomic_store_explicit(&dispatcher->keeper_dozes, dozes, memory_order_seq_cst);
    if (dozes && others_run(dispatcher)) {
        /* Somebody woke meanwhile, and may have missed that we doze. */
        atomic_store_explicit(&dispatcher->keeper_dozes, false, memory_order_relaxed);
        until = executor->now_ns + look_ns;
    }
    /* [T1] published before the deadlines are read: see timer.c. */
    atomic_store_explicit(&dispatcher->keeper_until_ns, until, memory_order_seq_cst);
    due = atomic_load_explicit(&dispatcher->timers.next_due_ns, memory_order_seq_cst);
    if (due >= until)
        return until;
    atomic_store_explicit(&dispatcher->keeper_until_ns, due, memory_order_seq_cst);
    return due;
}

/* Takes what lies in a LIFO slot whose owner has been in one turn since the last look. */
static struct schedulable *rescue(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++) {
        struct executor *other = dispatcher_executor(dispatcher, i);
        uint64_t turns = atomic_load_explicit(&other->turns, memory_order_relaxed);
        bool same = turns == other->turns_seen;

        other->turns_seen = turns;
        if (other != executor && same && atomic_load_explicit(&other->lifo, memory_order_relaxed)) {
            /* [L1] its owner may be faster. */
            struct schedulable *taken = atomic_exchange_explicit(&other->lifo, NULL,
                                                                 memory_order_acq_rel);

            if (taken) {
                atomic_fetch_add_explicit(&executor->steals, 1, memory_order_relaxed);
                return taken;
            }
        }
    }
    return NULL;
}

/* True when this thread keeps the time while it sleeps: one of the parked does. */
static bool become_keeper(struct executor *executor)
{
    uint32_t nobody = 0;

    return atomic_compare_exchange_strong_explicit(&executor->dispatcher->keeper, &nobody,
                                                   executor->index + 1, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

static void wait_for_token(struct executor *executor)
{
    while (!(atomic_exchange_explicit(&executor->token, 0, memory_order_seq_cst) & EXECUTOR_WOKEN))
        futex_wait(&executor->token, 0, UINT64_MAX);
}

/* Ends a sleep that nobody ended; after it this thread counts as searching. */
static void leave_parking(struct executor *executor)
{
    /* Picked at the same moment: the token is on its way and must not be met later. */
    if (!idle_unpark_self(&executor->dispatcher->idle, executor->index))
        wait_for_token(executor);
}

static void fire_timers(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    if (executor->now_ns <
        atomic_load_explicit(&dispatcher->timers.next_due_ns, memory_order_relaxed))
        return;
    reader_online(&executor->reader);
    timers_expire(&dispatcher->timers, executor->now_ns, executor);
    reader_offline(&executor->reader);
}

/* Sleeps as keeper until picked, or until there is something to do that nobody was picked for. */
static struct schedulable *keep_time(struct executor *executor)
{
    struct schedulable *found = NULL;
    uint64_t look_ns = KEEPER_LOOK_NS;

    for (;;) {
        uint64_t now = executor_look_at_clock(executor);
        uint64_t until = keeper_deadline(executor, look_ns);
        uint32_t token;

        if (until > now)
            futex_wait(&executor->token, 0, until == TIMER_NEVER ? UINT64_MAX : until - now);
        token = atomic_exchange_explicit(&executor->token, 0, memory_order_seq_cst);
        if (token & EXECUTOR_WOKEN)
            return NULL;
        look_ns = token == 0 && look_ns < KEEPER_LOOK_MAX_NS ? look_ns * 2 : KEEPER_LOOK_NS;
        executor_look_at_clock(executor);
        fire_timers(executor);
        found = rescue(executor);
        if (found || anything_to_do(executor))
            break;
    }
    leave_parking(executor);
    return found;
}

static void stop_keeping(struct dispatcher *dispatcher)
{
    atomic_store_explicit(&dispatcher->keeper_until_ns, TIMER_NEVER, memory_order_relaxed);
    atomic_store_explicit(&dispatcher->keeper_dozes, false, memory_order_relaxed);
    atomic_store_explicit(&dispatcher->keeper, 0, memory_order_seq_cst);
}

/* Somebody parked must keep the time when nobody does. Who is parked no more looks: it kept it, or
 * was chosen to, by one that wrote the keeper before, and woke for something else. */
static void have_time_kept(struct dispatcher *dispatcher)
{
    if (atomic_load_explicit(&dispatcher->keeper, memory_order_seq_cst) ||
        idle_parked_count(&dispatcher->idle) == 0)
        return;
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++) {
        if (idle_is_parked(&dispatcher->idle, i)) {
            executor_wake(dispatcher_executor(dispatcher, i), EXECUTOR_KICKED);
            return;
        }
    }
}

/* Sleeps until picked, as keeper when there is none. May bring what it found. */
static struct schedulable *sleep_until_picked(struct executor *executor)
{
    for (;;) {
        uint32_t token;

        if (become_keeper(executor)) {
            struct schedulable *found = keep_time(executor);

            stop_keeping(executor->dispatcher);
            return found;
        }
        token = atomic_exchange_explicit(&executor->token, 0, memory_order_seq_cst);
        if (token & EXECUTOR_WOKEN)
            return NULL;
        if (is_to_end(executor)) {
            leave_parking(executor);
            return NULL;
        }
        if (!token)
            futex_wait(&executor->token, 0, UINT64_MAX);
    }
}

/* Before a long sleep: leaves to the others what this thread keeps, and holds nothing up. */
static void go_offline(struct executor *executor)
{
    reader_rest(&executor->reader);
    cache_flush(&executor->cache);
}

/* Sleeps; on return this thread counts as searching. May bring what it found. */
static struct schedulable *park(struct executor *executor, bool was_searching)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    struct schedulable *found;

    go_offline(executor);
    idle_park(&dispatcher->idle, executor->index, was_searching);
    if (anything_to_do(executor)) {
        leave_parking(executor);
        found = NULL;
    } else {
        atomic_fetch_add_explicit(&executor->parks, 1, memory_order_relaxed);
        found = sleep_until_picked(executor);
    }
    have_time_kept(dispatcher);
    dispatcher_stir(dispatcher);
    reader_online(&executor->reader);
    return found;
}

/* --- the loop ------------------------------------------------------------------------------- */

static void run_turn(struct executor *executor, struct schedulable *schedulable)
{
    enum turn turn;

    executor->in_turn = true;
    turn = schedulable->run(schedulable, executor);
    executor->in_turn = false;
    /* Relaxed: only compared for change. */
    atomic_store_explicit(&executor->turns,
                          atomic_load_explicit(&executor->turns, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (turn == TURN_AGAIN) {
        if (!ring_push(&executor->ring, schedulable))
            global_queue_push(&executor->dispatcher->global, schedulable);
        /* Surplus only when this is not all that this thread has. */
        if (atomic_load_explicit(&executor->lifo, memory_order_relaxed) ||
            ring_count(&executor->ring) > 1)
            dispatcher_notify(executor->dispatcher);
    }
    reader_quiescent(&executor->reader);
}

/* Relaxed: looked at before each turn; who goes to sleep looks again. */
static bool is_too_many(const struct executor *executor)
{
    return executor->index >=
           atomic_load_explicit(&executor->dispatcher->thread_count, memory_order_relaxed);
}

/* Finds the next schedulable, sleeping if it must; NULL when this thread is to end. */
static struct schedulable *next_to_run(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    struct schedulable *taken = is_too_many(executor) ? NULL : take_own(executor);
    bool searching = false;

    while (!taken) {
        if (is_to_end(executor))
            break;
        if (!searching)
            searching = idle_try_search(&dispatcher->idle);
        if (searching)
            taken = search(executor);
        if (!taken && !is_to_end(executor)) {
            taken = park(executor, searching);
            searching = true;
        }
    }
    if (searching && idle_found(&dispatcher->idle) && taken)
        dispatcher_notify(dispatcher);
    return taken;
}

/* Puts what this thread has queued where the others find it, and sees that somebody looks. */
static void hand_over_work(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    struct schedulable *schedulable;

    while ((schedulable = take_lifo(executor)) || (schedulable = ring_pop(&executor->ring)) ||
           (schedulable = births_pop(&executor->births)))
        global_queue_push(&dispatcher->global, schedulable);
    /* Also what this thread was woken for, and what nobody was woken for because it searched. */
    if (is_work_waiting(dispatcher))
        dispatcher_notify(dispatcher);
}

/* True when this thread is to end; what it has queued is taken care of. */
static bool leave(struct executor *executor)
{
    if (atomic_load_explicit(&executor->dispatcher->stopping, memory_order_seq_cst))
        return true;
    hand_over_work(executor);
    return dispatcher_let_go(executor->dispatcher, executor);
}

bool executor_step(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (!reader_is_online(&executor->reader))
        reader_online(&executor->reader);
    if (is_too_many(executor))
        hand_over_work(executor);
    else
        taken = look_for_work(executor);
    if (taken)
        run_turn(executor, taken);
    else
        go_offline(executor);
    return taken != NULL;
}

void *executor_main(void *argument)
{
    struct executor *executor = argument;
    struct dispatcher *dispatcher = executor->dispatcher;
    struct schedulable *schedulable;

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
