/* SPDX-License-Identifier: MIT */
/*
 * Goal: an output with a rate lets no more messages pass than its rate, for all workers together;
 * a message without a token is treated as one without room, and no thread waits for it.
 *
 * Method: workers that emit into a pool, and a source, by a clock that the test moves; what has
 * arrived is counted after the senders have said that they wait. Wirings are published as a reload
 * does.
 */
#include "actor/wiring.h"
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define EMITTED 5000u /* a note: EMITTED - status of weir_emit */
#define SLACK_MS 1u   /* a timer may fire a millisecond after its time */
#define LOOK_AGAIN_MS 1000u
#define REMOVE_MS 30u /* less than the time of a token */

static const struct rate ten_a_second = { .messages = 10, .burst = 2, .per_ms = 1000 };
static const struct rate one_a_minute = { .messages = 1, .burst = 1, .per_ms = 60000 };
static const struct rate hundred_a_second = { .messages = 100, .burst = 2, .per_ms = 1000 };

struct fixture {
    struct rig rig;
    struct probe *from;
    struct probe *to;
    struct pool *feeding;
    struct pool *fed;
    uint64_t remove_ms; /* of the workers that emit; 0: no time-out */
};

/* Emits `argument` orders, numbered from its own id on. */
static int emit(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct order *order = probe_order(message);

    for (uint64_t i = 0; i < order->argument; i++) {
        struct order next = { .id = order->id + i };
        struct weir_message *out = probe_message(self, next);
        int status = weir_emit(self, 0, out);

        if (status != 0) {
            weir_message_free(self, out);
            probe_note(probe, EMITTED + (uint64_t)-status);
        }
    }
    return WEIR_DONE;
}

static struct pool *feeder(struct fixture *f, const char *path, uint32_t size,
                           struct binding binding, const struct rate *rate)
{
    struct spec *spec = rig_spec(f->from);
    struct pool_options options = { .path = path,
                                    .spec = spec,
                                    .size = size,
                                    .settings.mailbox = 64,
                                    .settings.remove.timeout_ms = f->remove_ms,
                                    .output_count = 1,
                                    .outputs = &binding,
                                    .rates = rate };
    struct pool *pool = rig_pool(&f->rig, &options);

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

/* `size` workers that emit into one, at ten messages a second. */
static void begin_removing(struct fixture *f, uint32_t size, enum weir_when_full when_full,
                           uint32_t limit, uint64_t remove_ms)
{
    f->remove_ms = remove_ms;
    f->from = probe_create();
    f->to = probe_create();
    rig_init(&f->rig, 2, 0);
    f->fed = rig_workers(&f->rig, f->to, "fed", 1, limit);
    f->feeding = feeder(f, "feeding", size, (struct binding){ f->fed->pid, when_full },
                        &ten_a_second);
}

static void begin(struct fixture *f, uint32_t size, enum weir_when_full when_full, uint32_t limit)
{
    begin_removing(f, size, when_full, limit, 0);
}

static void finish(struct fixture *f)
{
    if (f->feeding)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->feeding, NULL));
    if (f->fed)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->fed, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->from);
    probe_destroy(f->to);
}

static void order_emits(struct fixture *f, uint64_t id, uint64_t count)
{
    struct order order = { .act = emit, .id = id, .argument = count };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->feeding->pid, order), 0);
}

struct expected {
    struct fixture *f;
    uint64_t throttled;
    uint32_t arrived;
};

static bool is_as_expected(void *context)
{
    const struct expected *expected = context;

    return probe_count(expected->f->to) >= expected->arrived &&
           rig_stats(expected->f->feeding).throttled == expected->throttled;
}

static bool has_arrived(void *context)
{
    const struct expected *expected = context;

    return probe_count(expected->f->to) >= expected->arrived;
}

/* Waits until so many messages wait for a token, and so many have arrived; no more have. */
static void expect(struct fixture *f, uint64_t throttled, uint32_t arrived)
{
    struct expected expected = { f, throttled, arrived };

    CU_ASSERT_TRUE(rig_wait(&f->rig, is_as_expected, &expected));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->fed));
    CU_ASSERT_EQUAL(probe_count(f->to), arrived);
}

static void set_wiring(struct fixture *f, weir_pid target, enum weir_when_full when_full,
                       const struct rate *rate)
{
    struct binding binding = { target, when_full };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct wiring *wiring = wiring_make(&binding, 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(wiring);
    if (rate)
        CU_ASSERT_EQUAL(wiring_set_rate(wiring, 0, rate), 0);
    pool_set_wiring(f->feeding, wiring, executor);
    runtime_leave(executor);
}

/* promise O9: the burst at once, then one message for each token; the input is held meanwhile. */
static void test_wait_output_sends_its_burst_then_at_its_rate(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    order_emits(&f, 100, 5);
    expect(&f, 3, 2);
    CU_ASSERT_EQUAL(rig_ledger(f.feeding).held, 1);
    rig_advance(&f.rig, 99);
    expect(&f, 3, 2);
    rig_advance(&f.rig, 1 + SLACK_MS);
    expect(&f, 2, 3);
    rig_advance(&f.rig, 100);
    expect(&f, 1, 4);
    rig_advance(&f.rig, 100);
    expect(&f, 0, 5);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    for (uint32_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(probe_get(f.to, i), 100 + i);
    finish(&f);
}

/* promise O9: the workers of a pool share the tokens, and each token wakes one of them. */
static void test_workers_of_an_output_share_its_tokens(void)
{
    struct fixture f;

    begin(&f, 4, WEIR_FULL_WAIT, 64);
    for (uint64_t i = 0; i < 4; i++)
        order_emits(&f, 100 * i, 2);
    /* Two of the eight pass at once, by whatever worker. */
    expect(&f, 6, 2);
    for (uint32_t i = 1; i <= 6; i++) {
        rig_advance(&f.rig, i == 1 ? 100 + SLACK_MS : 100);
        expect(&f, 6 - i, 2 + i);
    }
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    finish(&f);
}

/* promise O9: a long pause saves up the burst and no more. */
static void test_pause_saves_up_no_more_than_the_burst(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    rig_advance(&f.rig, 3600000);
    order_emits(&f, 100, 5);
    expect(&f, 3, 2);
    rig_advance(&f.rig, 3600000);
    expect(&f, 1, 4);
    rig_advance(&f.rig, 3600000);
    expect(&f, 0, 5);
    finish(&f);
}

/* promise O9: without a token the other ways of `when_full` apply at once. */
static void test_no_token_is_no_room_for_each_when_full(void)
{
    static const enum weir_when_full ways[] = { WEIR_FULL_DROP_NEWEST, WEIR_FULL_DEAD_LETTER,
                                                WEIR_FULL_REJECT };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        bool rejects = ways[i] == WEIR_FULL_REJECT;
        struct fixture f;

        begin(&f, 1, ways[i], 64);
        order_emits(&f, 100, 5);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
        expect(&f, 0, 2);
        CU_ASSERT_EQUAL(rig_dead(f.feeding, DEAD_OUTPUT_FULL), rejects ? 0 : 3);
        CU_ASSERT_EQUAL(probe_times(f.from, EMITTED + (uint64_t)-WEIR_EFULL), rejects ? 3 : 0);
        rig_advance(&f.rig, 100);
        order_emits(&f, 200, 2);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
        expect(&f, 0, 3);
        finish(&f);
    }
}

static bool one_waits_for_room(void *context)
{
    struct pool *pool = context;

    return wait_queue_any(pool->router.waiters);
}

/* promise O9: a message that the target refuses uses no token. */
static void test_refused_message_uses_no_token(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 1);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.fed->pid, (struct order){ .act = probe_wait, .id = 9000 }), 0);
        CU_ASSERT_TRUE(gate_await(&f.to->gate, 1));
    }
    order_emits(&f, 100, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, one_waits_for_room, f.fed));
    CU_ASSERT_EQUAL(rig_stats(f.feeding).throttled, 0);
    gate_open(&f.to->gate);
    expect(&f, 0, 4); /* both have tokens, though the clock stands still */
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    finish(&f);
}

/* promise O9: a reload that keeps the rate adds no token; another rate is in force at once. */
static void test_reload_keeps_the_tokens_and_sets_the_rate(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_FULL_WAIT, 64);
    order_emits(&f, 100, 6);
    expect(&f, 4, 2);
    for (int i = 0; i < 3; i++)
        set_wiring(&f, f.fed->pid, WEIR_FULL_WAIT, &ten_a_second);
    rig_advance(&f.rig, 99);
    expect(&f, 4, 2);
    set_wiring(&f, f.fed->pid, WEIR_FULL_WAIT, &hundred_a_second);
    rig_advance(&f.rig, 10 + SLACK_MS);
    expect(&f, 3, 3);
    rig_advance(&f.rig, 10);
    expect(&f, 2, 4);
    set_wiring(&f, f.fed->pid, WEIR_FULL_WAIT, NULL);
    expect(&f, 0, 6);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    finish(&f);
}

/* promise O2: messages that wait for a token follow a target that is bound again. */
static void test_waiting_messages_follow_another_target(void)
{
    struct fixture f;
    struct probe *other = probe_create();
    struct pool *successor;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    successor = rig_workers(&f.rig, other, "successor", 1, 64);
    order_emits(&f, 100, 3);
    expect(&f, 1, 2);
    set_wiring(&f, successor->pid, WEIR_FULL_WAIT, &ten_a_second);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.fed, NULL));
    f.fed = NULL;
    rig_advance(&f.rig, 100 + SLACK_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, other, 102, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.feeding, NULL));
    f.feeding = NULL;
    CU_ASSERT_TRUE(rig_end(&f.rig, successor, NULL));
    finish(&f);
    probe_destroy(other);
}

/* promise O9: a pool that closes sends what waits for tokens, at the rate. */
static void test_closing_pool_finishes_at_the_rate(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    order_emits(&f, 100, 3);
    order_emits(&f, 200, 1);
    expect(&f, 1, 2);
    rig_close(&f.rig, f.feeding);
    rig_advance(&f.rig, 100 + SLACK_MS);
    expect(&f, 1, 3); /* the next message of its mailbox */
    rig_advance(&f.rig, 100);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.feeding, NULL));
    f.feeding = NULL;
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.fed));
    CU_ASSERT_EQUAL(probe_count(f.to), 4);
    finish(&f);
}

/* A worker that ends at once drops what waits. */
static void test_worker_that_ends_drops_what_waits(void)
{
    struct fixture f;
    struct ledger_reading ledger;
    struct executor *executor;

    begin(&f, 2, WEIR_FULL_WAIT, 64);
    order_emits(&f, 100, 4);
    expect(&f, 2, 2);
    executor = runtime_enter(f.rig.runtime);
    pool_stop_now(f.feeding, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.feeding, &ledger));
    f.feeding = NULL;
    CU_ASSERT_EQUAL(ledger.done, 1);
    CU_ASSERT_EQUAL(probe_count(f.to), 2);
    finish(&f);
}

/* promise P6: what a leaving worker has emitted waits for its tokens past the time-out. promise O9:
 * a worker that checks early, here at the time-out, takes no wake-up from the other one. */
static void test_leaving_worker_stays_until_its_messages_have_tokens(void)
{
    struct fixture f;

    begin_removing(&f, 2, WEIR_FULL_WAIT, 64, REMOVE_MS);
    order_emits(&f, 100, 3);
    order_emits(&f, 200, 3);
    expect(&f, 4, 2);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.feeding, 0, NULL), 0);
    for (uint32_t i = 1; i <= 4; i++) {
        rig_advance(&f.rig, i == 1 ? 100 + SLACK_MS : 100);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_arrived, &(struct expected){ &f, 0, 2 + i }));
    }
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(rig_dead(f.feeding, DEAD_NO_TARGET), 0);
    CU_ASSERT_EQUAL(probe_count(f.to), 6);
    finish(&f);
}

/* --- a source --------------------------------------------------------------------------------- */

struct produced {
    _Atomic uint32_t calls;
    _Atomic uint32_t credit; /* of the last call */
};

/* Emits as many messages as it may. */
static int produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct produced *produced = *(struct produced **)memory;

    for (uint32_t i = 0; i < credit; i++)
        (void)weir_emit(self, 0, probe_message(self, (struct order){ .id = i }));
    atomic_store(&produced->credit, credit);
    atomic_fetch_add(&produced->calls, 1);
    return WEIR_MORE;
}

static int open_source(struct weir_self *self, const void *settings, void *memory)
{
    (void)self;
    *(const void **)memory = settings;
    return 0;
}

static const struct weir_behaviour behaviour = {
    .name = "throttled", .state_size = sizeof(void *), .open = open_source, .produce = produce
};

static struct source *make_successor(struct fixture *f, struct produced *produced,
                                     const struct rate *rate, struct source *replaces)
{
    struct spec *spec = spec_create(&behaviour, produced);
    struct source_options options = { .path = "source",
                                      .dispatcher = f->rig.dispatcher,
                                      .spec = spec,
                                      .target = f->fed->pid,
                                      .rate = rate,
                                      .replaces = replaces,
                                      .output_count = 1 };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct source *source = NULL;

    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    spec_unref(spec);
    return source;
}

static struct source *make_source(struct fixture *f, struct produced *produced,
                                  const struct rate *rate)
{
    return make_successor(f, produced, rate, NULL);
}

static bool is_throttled(void *context)
{
    struct source_figures figures;

    source_look(context, &figures);
    return figures.is_throttled;
}

static bool is_free(void *context)
{
    return !is_throttled(context);
}

static bool has_ended(void *context)
{
    return source_has_ended(context);
}

static void end_source(struct fixture *f, struct source *source)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_close(source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, source));
    executor = runtime_enter(f->rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
}

/* Waits until the source has produced so many messages in all, and waits for a token. */
struct emitted {
    struct source *source;
    uint64_t messages;
};

static bool has_emitted(void *context)
{
    const struct emitted *wanted = context;
    struct source_figures figures;

    source_look(wanted->source, &figures);
    return figures.emitted == wanted->messages && figures.is_throttled;
}

static void expect_emitted(struct fixture *f, struct source *source, uint64_t messages)
{
    struct emitted wanted = { source, messages };

    CU_ASSERT_TRUE(rig_wait(&f->rig, has_emitted, &wanted));
}

/* promise O9: a source is asked for no more messages than its rate allows. */
static void test_source_gets_the_tokens_as_credit(void)
{
    struct fixture f;
    struct produced produced = { 0 };
    struct source *source;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    source = make_source(&f, &produced, &ten_a_second);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_throttled, source));
    expect_emitted(&f, source, 2);
    CU_ASSERT_EQUAL(atomic_load(&produced.credit), 2);
    CU_ASSERT_EQUAL(atomic_load(&produced.calls), 1);
    rig_advance(&f.rig, 100 + SLACK_MS);
    expect_emitted(&f, source, 3);
    CU_ASSERT_EQUAL(atomic_load(&produced.calls), 2);
    end_source(&f, source);
    finish(&f);
}

/* promise O9: a rate that is taken away holds nobody up. */
static void test_source_without_its_rate_is_not_throttled(void)
{
    struct fixture f;
    struct produced produced = { 0 };
    struct source *source;
    struct executor *executor;
    struct binding binding;
    struct wiring *wiring;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    source = make_source(&f, &produced, &one_a_minute);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_throttled, source));
    binding = (struct binding){ f.fed->pid, WEIR_FULL_WAIT };
    wiring = wiring_make(&binding, 1);
    executor = runtime_enter(f.rig.runtime);
    source_set_wiring(source, wiring, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, source));
    end_source(&f, source);
    finish(&f);
}

/* promise O9: one that waits behind another takes the next token when the other one ends. */
static void test_token_of_a_source_that_ends_goes_to_its_successor(void)
{
    struct produced produced[2] = { { 0 } };
    struct source *source, *successor;
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 64);
    source = make_source(&f, &produced[0], &one_a_minute);
    expect_emitted(&f, source, 1);
    successor = make_successor(&f, &produced[1], &one_a_minute, source);
    expect_emitted(&f, successor, 0);
    end_source(&f, source);
    rig_advance(&f.rig, 60000 + LOOK_AGAIN_MS + SLACK_MS); /* the token after it takes 60 s more */
    expect_emitted(&f, successor, 1);
    end_source(&f, successor);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "burst, then the rate", test_wait_output_sends_its_burst_then_at_its_rate },
        { "workers share", test_workers_of_an_output_share_its_tokens },
        { "a pause", test_pause_saves_up_no_more_than_the_burst },
        { "other ways of when_full", test_no_token_is_no_room_for_each_when_full },
        { "refused message", test_refused_message_uses_no_token },
        { "reload", test_reload_keeps_the_tokens_and_sets_the_rate },
        { "another target", test_waiting_messages_follow_another_target },
        { "closing pool", test_closing_pool_finishes_at_the_rate },
        { "worker that ends", test_worker_that_ends_drops_what_waits },
        { "worker that leaves", test_leaving_worker_stays_until_its_messages_have_tokens },
        { "source without a rate", test_source_without_its_rate_is_not_throttled },
        { "source", test_source_gets_the_tokens_as_credit },
        { "a source that ends", test_token_of_a_source_that_ends_goes_to_its_successor },
        CU_TEST_INFO_NULL,
    };

    return suite_run("rate", tests);
}
