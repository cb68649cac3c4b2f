/* SPDX-License-Identifier: MIT */
/*
 * Goal: a source produces at most as much as fits, loses none of its messages, pauses and ends when
 * it says so, and is opened again when it fails.
 *
 * Method: a source that notes its credit and emits numbered orders, feeding a pool of one worker at
 * a gate.
 */
#include "actor/source.h"

#include <pthread.h>

#include "actor/send_wait.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

#define LIMIT 4u
#define REBINDINGS 2000u

/* How the source behaves; its workers' settings. */
struct script {
    uint64_t total;     /* orders, then it ends; it never says so when `endless` */
    uint32_t extra;     /* emitted beyond each credit */
    uint64_t pauses_at; /* says WAIT once, before this order, and arms a timer */
    uint64_t fails_at;  /* fails before this order */
    uint32_t fails;     /* as many times; 0 = once */
    bool endless;
    bool asking;                   /* WEIR_ASKING */
    bool gathers;                  /* WEIR_GATHERS */
    bool reports;                  /* a count, a gauge and a text */
    enum weir_when_full when_full; /* of its output */

    _Atomic bool is_over; /* it ends now */
    _Atomic uint64_t emitted;
    _Atomic uint32_t greatest_credit;
    _Atomic uint32_t opened;
    _Atomic uint32_t closed;
    _Atomic uint32_t failures;
    _Atomic uint32_t pauses;
    _Atomic uint32_t without_room; /* calls of `produce` with no credit */
    _Atomic uint64_t early;        /* that the pool accepted before `produce` returned */
    bool watches;                  /* counts these */
    struct pool *pool;
};

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct weir_behaviour behaviour;
    struct script script;
    struct spec *spec;
    struct source *source;
};

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    struct script **script = state;

    *script = (struct script *)(uintptr_t)settings;
    atomic_fetch_add(&(*script)->opened, 1);
    if ((*script)->reports) {
        weir_progress(self, "pictures", 7, 0);
        weir_progress(self, "connected", 1, WEIR_GAUGE);
        weir_progress_text(self, "server", "a:1");
    }
    return 0;
}

static void close_source(struct weir_self *self, void *state, int reason)
{
    struct script **script = state;

    (void)self;
    (void)reason;
    atomic_fetch_add(&(*script)->closed, 1);
}

static void wake(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

static uint64_t accepted_by(const struct script *script)
{
    struct ledger_reading ledger = { .accepted = 0 };

    if (script->watches)
        pool_ledger(script->pool, &ledger);
    return ledger.accepted;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct script *script = *(struct script **)state;

    if (credit > atomic_load(&script->greatest_credit))
        atomic_store(&script->greatest_credit, credit);
    if (credit == 0) {
        atomic_fetch_add(&script->without_room, 1);
        return weir_after(self, 10, wake, NULL, NULL) == 0 ? WEIR_WAIT : -1;
    }
    for (uint32_t i = 0; i < credit + script->extra; i++) {
        uint64_t accepted, next = atomic_load(&script->emitted);

        if (next == script->total || atomic_load(&script->is_over))
            return script->endless ? WEIR_MORE : WEIR_END;
        if (next == script->fails_at &&
            atomic_fetch_add(&script->failures, 1) < (script->fails ? script->fails : 1))
            return -1;
        if (next == script->pauses_at && atomic_fetch_add(&script->pauses, 1) == 0)
            return weir_after(self, 10, wake, NULL, NULL) == 0 ? WEIR_WAIT : -1;
        accepted = accepted_by(script);
        if (weir_emit(self, 0, probe_message(self, (struct order){ .id = next })) != 0)
            return -1;
        atomic_fetch_add(&script->early, accepted_by(script) - accepted);
        atomic_store(&script->emitted, next + 1);
    }
    return WEIR_MORE;
}

/* The worker of the pool is held inside an order of its own if `is_held`. */
static void begin(struct fixture *f, struct script script, bool is_held)
{
    struct source_options options = { .path = "source", .output_count = 1 };
    struct executor *executor;

    f->probe = probe_create();
    f->probe->act = probe_wait;
    if (!is_held)
        gate_open(&f->probe->gate);
    rig_init(&f->rig, 2, 1); /* each message is a turn, at whose end the room is announced */
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, LIMIT);
    f->script = script;
    f->script.pool = f->pool;
    f->behaviour = (struct weir_behaviour){ .name = "source",
                                            .state_size = sizeof(void *),
                                            .flags = (script.asking ? WEIR_ASKING : 0) |
                                                     (script.gathers ? WEIR_GATHERS : 0),
                                            .open = open_source,
                                            .produce = produce,
                                            .close = close_source };
    f->spec = spec_create(&f->behaviour, &f->script);
    options.dispatcher = f->rig.dispatcher;
    options.spec = f->spec;
    options.target = f->pool->pid;
    options.when_full = script.when_full;
    executor = runtime_enter(f->rig.runtime);
    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &f->source), 0);
    runtime_leave(executor);
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static void close_it(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_close(f->source, executor);
    runtime_leave(executor);
}

/* Frees what has ended. */
static void forget(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL(atomic_load(&f->script.opened), atomic_load(&f->script.closed));
    source_destroy(f->source, executor);
    runtime_leave(executor);
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Waits for the source's end; `count` orders were handled, each once, in order. */
static void finish(struct fixture *f, uint64_t count)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, f->source));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, count);
    /* The worker may take its first message when some have been dropped, and so make room. */
    for (uint32_t i = 0; i < count; i++)
        if (f->script.when_full == WEIR_FULL_DROP_NEWEST)
            CU_ASSERT_TRUE(i == 0 || probe_get(f->probe, i) > probe_get(f->probe, i - 1))
        else
            CU_ASSERT_EQUAL(probe_get(f->probe, i), i);
    CU_ASSERT_EQUAL(source_emitted(f->source), count);
    forget(f);
}

#define NEVER UINT64_MAX

/* The worker waits at the gate, and its mailbox is full: at the end of that turn the source learns
 * of the place that the worker freed when it took its message. */
static bool is_full(void *context)
{
    struct ledger_reading reading = rig_ledger(context);

    return reading.queued + reading.in_hand >= LIMIT && reading.in_hand == 1;
}

/* promise A30: also beyond the room; where `when_full` is another word, each goes at once. */
static void test_messages_of_a_source_that_gathers_go_out_together(void)
{
    const struct {
        bool gathers;
        enum weir_when_full when_full;
        bool is_together;
    } rows[] = {
        { true, WEIR_FULL_WAIT, true },
        { true, WEIR_FULL_DEAD_LETTER, false },
        { false, WEIR_FULL_WAIT, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;

        begin(&f,
              (struct script){ .total = 100,
                               .pauses_at = NEVER,
                               .fails_at = NEVER,
                               .gathers = rows[i].gathers,
                               .watches = true,
                               .extra = rows[i].is_together ? 3 : 0,
                               .when_full = rows[i].when_full },
              false);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
        CU_ASSERT_EQUAL(atomic_load(&f.script.early) == 0, rows[i].is_together);
        finish(&f, 100);
    }
}

/* promise O3 */
static void test_source_produces_no_more_than_fits(void)
{
    struct fixture f;

    begin(&f, (struct script){ .total = 100, .pauses_at = NEVER, .fails_at = NEVER }, true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_full, f.pool));
    for (uint32_t i = 1; i <= 10; i++) { /* as one is taken another one is made */
        CU_ASSERT_TRUE(atomic_load(&f.script.emitted) <= LIMIT + i);
        gate_admit(&f.probe->gate, 1);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, i + 1));
        CU_ASSERT_TRUE(rig_wait(&f.rig, is_full, f.pool));
        CU_ASSERT_TRUE(atomic_load(&f.script.emitted) >= LIMIT + i - 1);
    }
    CU_ASSERT_TRUE(atomic_load(&f.script.greatest_credit) <= LIMIT);
    finish(&f, 100);
}

static bool asks_without_room(void *context)
{
    return atomic_load(&((struct script *)context)->without_room) > 0;
}

static bool waits_for_no_room(void *context)
{
    return !source_is_waiting(context);
}

/* promise B16: the gateway answers, although its pool is full from the start. promise C30: while it
 * waits for its timer it does not wait for room. */
static void test_source_that_asks_is_called_without_room(void)
{
    struct fixture f;

    begin(&f, (struct script){ .total = 20, .pauses_at = NEVER, .fails_at = NEVER, .asking = true },
          true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, asks_without_room, &f.script));
    CU_ASSERT_TRUE(rig_wait(&f.rig, waits_for_no_room, f.source));
    gate_open(&f.probe->gate);
    while (!has_ended(f.source)) /* a timer is armed at some moment of this clock */
        rig_advance(&f.rig, 10);
    finish(&f, 20);
}

/* promises O3 and A2 */
static void test_source_that_says_end_ends_by_itself(void)
{
    struct fixture f;

    begin(&f, (struct script){ .total = 1000, .pauses_at = NEVER, .fails_at = NEVER }, false);
    finish(&f, 1000);
}

static bool holds_back(void *context)
{
    struct fixture *f = context;

    return is_full(f->pool) && atomic_load(&f->script.emitted) > LIMIT + 1;
}

struct sender {
    struct fixture *fixture;
    int status;
};

static void *send_behind(void *context)
{
    struct sender *sender = context;
    struct runtime *runtime = sender->fixture->rig.runtime;
    struct weir_message *message = runtime_message_new(runtime, NULL, sizeof(struct order));

    ((struct order *)message->data)->id = LIMIT + 1;
    sender->status = send_wait(runtime, sender->fixture->pool->pid, message_of(message),
                               wait_limit_ms());
    if (sender->status != 0)
        runtime_message_free(runtime, message);
    return NULL;
}

static bool source_waits(void *context)
{
    return is_full(context) && atomic_load(&((struct pool *)context)->waiters.count) == 1;
}

static bool two_wait(void *context)
{
    return atomic_load(&((struct pool *)context)->waiters.count) == 2;
}

/* The place that the worker freed when it took its message, too. */
static void fill(struct fixture *f)
{
    struct weir_message *message;

    for (;;) {
        message = runtime_message_new(f->rig.runtime, NULL, sizeof(struct order));
        if (runtime_send(f->rig.runtime, f->pool->pid, WEIR_NORMAL, message) != 0)
            break;
    }
    runtime_message_free(f->rig.runtime, message);
}

/* promise O2: the place that it was woken for goes to the sender behind it. */
static void test_source_that_ends_uses_up_no_place(void)
{
    struct fixture f;
    struct sender sender = { .fixture = &f };
    pthread_t thread;

    begin(&f, (struct script){ .total = 1000, .pauses_at = NEVER, .fails_at = NEVER }, true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, source_waits, f.pool));
    fill(&f);
    atomic_store(&f.script.is_over, true);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, send_behind, &sender), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, two_wait, f.pool));
    gate_admit(&f.probe->gate, 2); /* the place of a message is announced after that message */
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(sender.status, 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    forget(&f);
}

/* promise O1: messages beyond its credit wait in order, and it is not called meanwhile. */
static void test_source_that_makes_too_much_loses_nothing(void)
{
    struct fixture f;
    uint64_t emitted;

    begin(&f, (struct script){ .total = 300, .extra = 20, .pauses_at = NEVER, .fails_at = NEVER },
          true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_back, &f));
    emitted = atomic_load(&f.script.emitted);
    CU_ASSERT_TRUE(emitted <= 2 * (LIMIT + 20));
    finish(&f, 300);
}

/* promise O2: with this binding messages beyond its credit are dead, and it gets 0. It makes all of
 * them and returns END at its first call. Whether there is a second call depends on when the
 * worker, which waits in its turn, took its message. */
static void test_source_whose_newest_are_dropped_keeps_nothing_back(void)
{
    struct dead_letters_figures dead = { 0 };
    struct fixture f;

    begin(&f,
          (struct script){ .total = LIMIT + 19,
                           .extra = 20,
                           .pauses_at = NEVER,
                           .fails_at = NEVER,
                           .when_full = WEIR_FULL_DROP_NEWEST },
          true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source)); /* there is no room yet */
    dead_letters_figures(&f.source->dead, &dead);
    CU_ASSERT_EQUAL(dead_letters_total(&dead), dead.counts[DEAD_OUTPUT_FULL]);
    CU_ASSERT_TRUE(dead.counts[DEAD_OUTPUT_FULL] >= 18);
    finish(&f, LIMIT + 19 - dead.counts[DEAD_OUTPUT_FULL]);
}

static bool has_paused(void *context)
{
    return atomic_load(&((struct script *)context)->pauses) == 1;
}

static void test_source_that_waits_is_asked_again_after_its_timer(void)
{
    struct fixture f;

    begin(&f, (struct script){ .total = 50, .pauses_at = 20, .fails_at = NEVER }, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_paused, &f.script));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 19, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.script.emitted), 20);
    while (!has_ended(f.source)) /* the timer is armed at some moment of this clock */
        rig_advance(&f.rig, 10);
    finish(&f, 50);
}

static void test_source_that_fails_is_opened_anew(void)
{
    struct fixture f;

    begin(&f, (struct script){ .total = 50, .pauses_at = NEVER, .fails_at = 20 }, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    CU_ASSERT_EQUAL(atomic_load(&f.script.opened), 2);
    finish(&f, 50);
}

/* promise H1 */
static void test_closed_source_produces_nothing_more(void)
{
    struct fixture f;

    begin(&f,
          (struct script){ .total = NEVER, .endless = true, .pauses_at = NEVER, .fails_at = NEVER },
          true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_full, f.pool));
    close_it(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    CU_ASSERT_TRUE(atomic_load(&f.script.emitted) <= LIMIT + 1);
    finish(&f, atomic_load(&f.script.emitted));
}

static void lead_to(struct fixture *f, struct pool *pool)
{
    struct wiring *wiring = wiring_create(1);
    struct executor *executor = runtime_enter(f->rig.runtime);

    wiring->bindings[0] = (struct binding){ pool->pid, WEIR_FULL_WAIT };
    source_set_wiring(f->source, wiring, executor);
    runtime_leave(executor);
}

/* promise O1: a source whose target has ended uses the output's present target. The moment between
 * looking and sending is met by many tries. */
static void test_source_that_is_led_elsewhere_loses_nothing(void)
{
    uint64_t done = 0, dead[DEAD_REASONS];
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f,
          (struct script){ .total = NEVER, .endless = true, .pauses_at = NEVER, .fails_at = NEVER },
          false);
    for (uint32_t i = 0; i < REBINDINGS; i++) {
        struct pool *next = rig_workers(&f.rig, f.probe, i % 2 ? "odd" : "even", 1, LIMIT);

        lead_to(&f, next);
        CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
        done += ledger.done;
        f.pool = next;
    }
    close_it(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    dead_letters_counts(&f.source->dead, dead);
    CU_ASSERT_EQUAL(dead[DEAD_NO_TARGET], 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
    CU_ASSERT_EQUAL(done + ledger.done, atomic_load(&f.script.emitted));
    forget(&f);
}

static bool has_failed(void *context)
{
    struct fixture *f = context;

    /* It is not open, and it waits: the last failure has had its consequence. */
    return atomic_load(&f->rig.dispatcher->timers.next_due_ns) > atomic_load(&f->rig.now_ns) &&
           atomic_load(&f->rig.dispatcher->timers.next_due_ns) != TIMER_NEVER;
}

static void test_gauges_and_texts_end_with_the_source(void)
{
    struct pool_progress units[4];
    struct fixture f;

    begin(&f, (struct script){ .total = 2, .fails_at = NEVER, .pauses_at = 1, .reports = true },
          false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_paused, &f.script));
    CU_ASSERT_EQUAL(source_progress(f.source, units, 4), 3);
    while (!has_ended(f.source)) /* the timer is armed at some moment of this clock */
        rig_advance(&f.rig, 10);
    CU_ASSERT_EQUAL(source_progress(f.source, units, 4), 2);
    CU_ASSERT_EQUAL(units[0].done, 7);
    CU_ASSERT_EQUAL(units[1].done, 0);
    CU_ASSERT_PTR_NULL(units[1].text);
    finish(&f, 2);
}

/* promise P5: a source that fails each time waits longer and longer, though it opens each time. */
static void test_pause_of_a_failing_source_grows(void)
{
    static const uint64_t waits_ms[] = { 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000 };
    struct fixture f;

    begin(&f, (struct script){ .total = 50, .pauses_at = NEVER, .fails = UINT32_MAX }, false);
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        uint64_t pause_ns;

        CU_ASSERT_TRUE(rig_wait(&f.rig, has_failed, &f));
        pause_ns = atomic_load(&f.rig.dispatcher->timers.next_due_ns) - atomic_load(&f.rig.now_ns);
        CU_ASSERT_TRUE(pause_ns <= waits_ms[i] * 1000000u);
        CU_ASSERT_TRUE(pause_ns >= waits_ms[i] * 800000u);
        rig_advance(&f.rig, pause_ns / 1000000u + 1);
    }
    close_it(&f);
    finish(&f, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "no more than fits", test_source_produces_no_more_than_fits },
        { "gathers", test_messages_of_a_source_that_gathers_go_out_together },
        { "asks", test_source_that_asks_is_called_without_room },
        { "end", test_source_that_says_end_ends_by_itself },
        { "no place", test_source_that_ends_uses_up_no_place },
        { "too much", test_source_that_makes_too_much_loses_nothing },
        { "drops", test_source_whose_newest_are_dropped_keeps_nothing_back },
        { "waits", test_source_that_waits_is_asked_again_after_its_timer },
        { "fails", test_source_that_fails_is_opened_anew },
        { "reports", test_gauges_and_texts_end_with_the_source },
        { "keeps failing", test_pause_of_a_failing_source_grows },
        { "led elsewhere", test_source_that_is_led_elsewhere_loses_nothing },
        { "closed", test_closed_source_produces_nothing_more },
        CU_TEST_INFO_NULL,
    };

    return suite_run("source", tests);
}
