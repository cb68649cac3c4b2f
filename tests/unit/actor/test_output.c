/* SPDX-License-Identifier: MIT */
/*
 * Goal: an output to a full pool does what its binding says; `wait` loses no message, keeps the
 * order, and blocks no thread.
 *
 * Method: pools that emit into each other, on one thread, so that a blocking wait would never end;
 * a last worker at a gate, on two.
 */
#include "actor/lifecycle.h"
#include "actor/spawn.h"
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define EMITTED 5000u /* a note: EMITTED - status of weir_emit */

struct fixture {
    struct rig rig;
    struct probe *from;
    struct probe *to;
    struct pool *feeding;
    struct pool *fed;
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

static struct pool *feeder(struct fixture *f, struct probe *probe, const char *path,
                           struct binding binding, uint32_t limit)
{
    struct spec *spec = rig_spec(probe);
    struct pool_options options = { .path = path,
                                    .spec = spec,
                                    .size = 1,
                                    .settings.mailbox = limit,
                                    .output_count = 1,
                                    .outputs = &binding };
    struct pool *pool = rig_pool(&f->rig, &options);

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

/* One worker with two outputs. */
static struct pool *feeder_of_two(struct fixture *f, weir_pid first, weir_pid second)
{
    struct binding bindings[] = { { first, WEIR_FULL_WAIT }, { second, WEIR_FULL_WAIT } };
    struct spec *spec = rig_spec(f->from);
    struct pool_options options = { .path = "two",
                                    .spec = spec,
                                    .size = 1,
                                    .settings.mailbox = 4,
                                    .output_count = 2,
                                    .outputs = bindings };
    struct pool *pool = rig_pool(&f->rig, &options);

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static void begin(struct fixture *f, uint32_t threads, enum weir_when_full when_full,
                  uint32_t limit)
{
    f->from = probe_create();
    f->to = probe_create();
    rig_init(&f->rig, threads, 0);
    f->fed = rig_workers(&f->rig, f->to, "fed", 1, limit);
    f->feeding = feeder(f, f->from, "feeding", (struct binding){ f->fed->pid, when_full }, 64);
}

/* Holds the one worker of the fed pool, and fills its mailbox of one. */
static void fill(struct fixture *f)
{
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(
            rig_send(&f->rig, f->fed->pid, (struct order){ .act = probe_wait, .id = 9000 }), 0);
        CU_ASSERT_TRUE(gate_await(&f->to->gate, 1));
    }
}

static void order_emits(struct fixture *f, uint64_t id, uint64_t count)
{
    struct order order = { .act = emit, .id = id, .argument = count };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->feeding->pid, order), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->feeding, NULL));
    if (f->fed)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->fed, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->from);
    probe_destroy(f->to);
}

static bool holds_its_input(void *context)
{
    struct ledger_reading reading = rig_ledger(context);

    return reading.held == 1 && reading.in_hand == 0;
}

/* promise O1: the input is settled when its outputs have gone, and nothing new is taken before. */
static void test_wait_keeps_order_and_holds_the_input(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    fill(&f);
    order_emits(&f, 100, 5);
    order_emits(&f, 200, 5);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, f.feeding));
    CU_ASSERT_EQUAL(rig_ledger(f.feeding).queued, 1);
    CU_ASSERT_EQUAL(probe_times(f.from, 200), 0);
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, 204, 1));
    CU_ASSERT_EQUAL(probe_count(f.to), 12);
    for (uint32_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(probe_get(f.to, 2 + i), 100 + i);
        CU_ASSERT_EQUAL(probe_get(f.to, 7 + i), 200 + i);
    }
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(rig_ledger(f.feeding).done, 2);
    CU_ASSERT_EQUAL(pool_emitted(f.feeding), 10);
    finish(&f);
}

/* promise O1 */
static void test_emit_past_the_outbox_is_refused(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    fill(&f);
    order_emits(&f, 100, SPEC_OUTBOX_MAX + 3);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, EMITTED + (uint64_t)-WEIR_EFULL, 3));
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, 100 + SPEC_OUTBOX_MAX - 1, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(probe_count(f.to), SPEC_OUTBOX_MAX + 2);
    finish(&f);
}

static int pass_on(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct order order = { .id = probe_order(message)->id };

    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, order)), 0);
    (void)probe;
    return WEIR_DONE;
}

/* promise O1: A -> B -> C with one thread and mailboxes of one: no wait may hold the thread. */
static void test_chain_on_one_thread_loses_nothing(void)
{
    struct fixture f;
    struct probe *middle = probe_create();
    struct pool *between;
    uint64_t sent = 0;

    f.from = probe_create();
    f.to = probe_create();
    rig_init(&f.rig, 1, 0);
    f.fed = rig_workers(&f.rig, f.to, "c", 2, 1);
    middle->act = pass_on;
    between = feeder(&f, middle, "b", (struct binding){ f.fed->pid, WEIR_FULL_WAIT }, 1);
    f.feeding = feeder(&f, f.from, "a", (struct binding){ between->pid, WEIR_FULL_WAIT }, 1);
    while (sent < 1000) {
        struct order order = { .act = emit, .id = sent, .argument = 20 };

        if (rig_send(&f.rig, f.feeding->pid, order) == 0)
            sent += 20;
        else
            CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    }
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_TRUE(rig_drained(&f.rig, between));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.fed));
    CU_ASSERT_EQUAL(probe_count(f.to), 1000);
    for (uint32_t i = 0; i < 1000; i++)
        CU_ASSERT_EQUAL(probe_get(middle, i), i);
    for (uint64_t id = 0; id < 1000; id++)
        CU_ASSERT_EQUAL(probe_times(f.to, id), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.feeding, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, between, NULL));
    f.feeding = feeder(&f, f.from, "a", (struct binding){ 0 }, 1);
    finish(&f);
    probe_destroy(middle);
}

static void test_reject_answers_the_emitter_full(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_FULL_REJECT, 1);
    fill(&f);
    order_emits(&f, 100, 3);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, EMITTED + (uint64_t)-WEIR_EFULL, 3));
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.fed));
    order_emits(&f, 200, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, 200, 1));
    finish(&f);
}

static void expect_dead(enum weir_when_full when_full)
{
    struct fixture f;

    begin(&f, 2, when_full, 1);
    fill(&f);
    order_emits(&f, 100, 3);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, 100, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(rig_dead(f.feeding, DEAD_OUTPUT_FULL), 3);
    CU_ASSERT_EQUAL(probe_count(f.from), 1); /* each emit answered 0 */
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.fed));
    CU_ASSERT_EQUAL(probe_count(f.to), 2);
    finish(&f);
}

/* promise S2 */
static void test_drop_newest_counts_it_dead(void)
{
    expect_dead(WEIR_FULL_DROP_NEWEST);
}

/* promise S2 */
static void test_dead_letter_counts_it_dead(void)
{
    expect_dead(WEIR_FULL_DEAD_LETTER);
}

/* promise O7: nothing vanishes unseen. */
static void test_unbound_output_counts_and_unknown_output_refuses(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.feeding, NULL));
    f.feeding = feeder(&f, f.from, "feeding", (struct binding){ 0 }, 4);
    order_emits(&f, 100, 3);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, 100, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(probe_count(f.from), 1);
    CU_ASSERT_EQUAL(pool_unbound(f.feeding), 3);
    CU_ASSERT_EQUAL(pool_emitted(f.feeding), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.feeding, NULL));
    f.feeding = rig_workers(&f.rig, f.from, "none", 1, 4);
    order_emits(&f, 200, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, EMITTED + (uint64_t)-WEIR_EINVALID, 1));
    finish(&f);
}

static bool has_no_target(void *context)
{
    return rig_dead(context, DEAD_NO_TARGET) == 3;
}

/* promise S2 */
static void test_ended_target_makes_dead_letters(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_FULL_WAIT, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.fed, NULL));
    f.fed = NULL;
    order_emits(&f, 100, 3);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_target, f.feeding));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    finish(&f);
}

/* Retired after another object: freed together with it. */
struct mark {
    struct retired retired;
    _Atomic bool freed; /* by the thread that frees it */
};

static void note_freed(struct retired *retired, struct reader *reader)
{
    (void)reader;
    atomic_store(&LIST_ENTRY(retired, struct mark, retired)->freed, true);
}

static bool has_been_freed(void *context)
{
    struct fixture *f = ((void **)context)[0];
    struct mark *mark = ((void **)context)[1];

    runtime_leave(runtime_enter(f->rig.runtime));
    return atomic_load(&mark->freed);
}

/* Ends a pool, and waits until its memory is free. */
static void end_and_free(struct fixture *f, struct pool *pool)
{
    struct mark mark = { .retired.free = note_freed };
    void *context[] = { f, &mark };
    struct executor *executor;

    CU_ASSERT_TRUE(rig_end(&f->rig, pool, NULL));
    executor = runtime_enter(f->rig.runtime);
    reader_retire(&executor->reader, &mark.retired);
    runtime_leave(executor);
    CU_ASSERT_TRUE_FATAL(rig_wait(&f->rig, has_been_freed, context));
}

static void pause_fed(struct fixture *f, bool paused)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_pause(f->fed, paused, executor);
    runtime_leave(executor);
}

/* Emits one to each of its outputs. */
static int emit_to_both(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)message;
    for (uint32_t output = 0; output < 2; output++)
        CU_ASSERT_EQUAL(weir_emit(self, output, probe_message(self, (struct order){ .id = 77 })),
                        0);
    (void)probe;
    return WEIR_DONE;
}

/* promise D4: messages that wait for another output find no target when their own ends. */
static void test_target_that_is_freed_while_others_are_waited_for_is_not_looked_at(void)
{
    struct pool *others[2];
    struct fixture f;
    weir_pid pid;

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    pause_fed(&f, true);
    others[0] = rig_workers(&f.rig, f.from, "gone", 1, 1);
    pid = others[0]->pid;
    others[1] = feeder_of_two(&f, f.fed->pid, pid);
    CU_ASSERT_PTR_EQUAL(pool_find(f.rig.runtime, pid), others[0]);
    CU_ASSERT_EQUAL(rig_send(&f.rig, others[1]->pid, (struct order){ .act = emit_to_both }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, others[1]));
    end_and_free(&f, others[0]);
    CU_ASSERT_PTR_NULL(pool_find(f.rig.runtime, pid));
    pause_fed(&f, false);
    CU_ASSERT_TRUE(rig_drained(&f.rig, others[1]));
    CU_ASSERT_EQUAL(rig_dead(others[1], DEAD_NO_TARGET), 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, 77, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, others[1], NULL));
    finish(&f);
}

/* promise S2: messages that wait when the target closes are dead, too, and the input is settled. */
static void test_target_that_closes_frees_those_who_wait(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    fill(&f);
    order_emits(&f, 100, 3);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, f.feeding));
    rig_close(&f.rig, f.fed);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_target, f.feeding));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    gate_open(&f.to->gate);
    finish(&f);
}

/* promise O2 */
static void test_waiters_are_served_first_come_first_served(void)
{
    struct fixture f;
    struct pool *others[2];

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    fill(&f);
    others[0] = feeder(&f, f.from, "x", (struct binding){ f.fed->pid, WEIR_FULL_WAIT }, 4);
    others[1] = feeder(&f, f.from, "y", (struct binding){ f.fed->pid, WEIR_FULL_WAIT }, 4);
    order_emits(&f, 100, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, f.feeding));
    for (uint64_t i = 0; i < 2; i++) {
        struct order order = { .act = emit, .id = 200 + i, .argument = 1 };

        CU_ASSERT_EQUAL(rig_send(&f.rig, others[i]->pid, order), 0);
        CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, others[i]));
    }
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, 201, 1));
    CU_ASSERT_EQUAL(probe_get(f.to, 2), 100);
    CU_ASSERT_EQUAL(probe_get(f.to, 3), 200);
    CU_ASSERT_EQUAL(probe_get(f.to, 4), 201);
    CU_ASSERT_TRUE(rig_end(&f.rig, others[0], NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, others[1], NULL));
    finish(&f);
}

/* promise O2: with the one worker held, nothing but the new limit makes room. */
static void test_raised_limit_lets_in_those_who_wait(void)
{
    struct fixture f;
    struct executor *executor;

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    fill(&f);
    order_emits(&f, 100, 5);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, f.feeding));
    executor = runtime_enter(f.rig.runtime);
    pool_set_limit(f.fed, 16, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(rig_ledger(f.fed).queued, 6);
    gate_open(&f.to->gate);
    finish(&f);
}

/* promise O2: also senders that wait for the worker alone, not for its pool. */
static void test_raised_limit_lets_in_those_who_wait_for_one_worker(void)
{
    struct executor *executor;
    struct pool *feeding;
    struct fixture f;

    begin(&f, 2, WEIR_FULL_WAIT, 1);
    fill(&f);
    feeding = feeder(&f, f.from, "x", (struct binding){ rig_worker(f.fed, 0), WEIR_FULL_WAIT }, 4);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, feeding->pid, (struct order){ .act = emit, .id = 1, .argument = 5 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, feeding));
    executor = runtime_enter(f.rig.runtime);
    pool_set_limit(f.fed, 16, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_drained(&f.rig, feeding));
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, feeding, NULL));
    finish(&f);
}

/* Emits one order to each of the outputs 1, 0, 0 and 1, numbered from its own id on. */
static int emit_to_two(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    const uint32_t outputs[] = { 1, 0, 0, 1 };

    (void)probe;
    for (uint64_t i = 0; i < 4; i++) {
        struct order next = { .id = probe_order(message)->id + i };

        CU_ASSERT_EQUAL(weir_emit(self, outputs[i], probe_message(self, next)), 0);
    }
    return WEIR_DONE;
}

/*
 * promise D7: the first of two pools has room again while the other is still to run, on the one
 * thread that there is: it runs before the sender, which then finds room in both.
 */
static void test_who_waited_runs_behind_those_who_can_make_room(void)
{
    struct fixture f = { .from = probe_create(), .to = probe_create() };
    struct binding bindings[2] = { { 0, WEIR_FULL_WAIT }, { 0, WEIR_FULL_WAIT } };
    struct pool_options options = {
        .path = "from", .size = 1, .settings.mailbox = 4, .output_count = 2, .outputs = bindings
    };
    const uint64_t in_order[] = { 101, 100, 103, 102 };
    struct pool *second;
    struct spec *spec;

    rig_init(&f.rig, 1, 0);
    f.fed = rig_workers(&f.rig, f.to, "first", 1, 1);
    second = rig_workers(&f.rig, f.to, "second", 1, 1);
    bindings[0].target = f.fed->pid;
    bindings[1].target = second->pid;
    options.spec = spec = rig_spec(f.from);
    f.feeding = rig_pool(&f.rig, &options);
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.feeding->pid, (struct order){ .act = emit_to_two, .id = 100 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.fed));
    CU_ASSERT_TRUE(rig_drained(&f.rig, second));
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(probe_get(f.to, i), in_order[i]);
    CU_ASSERT_TRUE(rig_end(&f.rig, second, NULL));
    finish(&f);
}

static int open_at_second(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) ? 0 : WEIR_ENOMEM;
}

static bool is_waiting(void *context)
{
    return actor_state(context) == ACTOR_WAITING;
}

/* A pool that emits to an actor which waits to be opened a second time. */
static struct actor *begin_closed(struct fixture *f, enum weir_when_full when_full)
{
    struct actor_options options;
    struct executor *executor;
    struct actor *actor;

    *f = (struct fixture){ .from = probe_create(), .to = probe_create() };
    f->to->opens = open_at_second;
    rig_init(&f->rig, 1, 0);
    options = (struct actor_options){ .dispatcher = f->rig.dispatcher, .spec = rig_spec(f->to) };
    executor = runtime_enter(f->rig.runtime);
    CU_ASSERT_EQUAL_FATAL(actor_spawn(f->rig.runtime, executor, &options, &actor), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_waiting, actor));
    f->feeding = feeder(f, f->from, "feeding", (struct binding){ actor_pid(actor), when_full }, 8);
    spec_unref(options.spec);
    return actor;
}

/* promise O1 */
static void test_target_that_is_not_open_yet_is_waited_for(void)
{
    struct fixture f;
    struct actor *actor = begin_closed(&f, WEIR_FULL_WAIT);

    CU_ASSERT_EQUAL(rig_send(&f.rig, actor_pid(actor), (struct order){ .id = 1 }), WEIR_EFULL);
    order_emits(&f, 100, 3);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, f.feeding));
    rig_advance(&f.rig, 3600000);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, 102, 1));
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(probe_get(f.to, i), 100 + i);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_EQUAL(rig_ledger(f.feeding).done, 1);
    finish(&f);
}

static void test_target_that_is_not_open_yet_rejects_as_a_full_one(void)
{
    struct fixture f;

    (void)begin_closed(&f, WEIR_FULL_REJECT);
    order_emits(&f, 100, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, EMITTED + (uint64_t)-WEIR_EFULL, 1));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "wait", test_wait_keeps_order_and_holds_the_input },
        { "outbox", test_emit_past_the_outbox_is_refused },
        { "chain", test_chain_on_one_thread_loses_nothing },
        { "reject", test_reject_answers_the_emitter_full },
        { "drop newest", test_drop_newest_counts_it_dead },
        { "dead letter", test_dead_letter_counts_it_dead },
        { "unbound", test_unbound_output_counts_and_unknown_output_refuses },
        { "ended target", test_ended_target_makes_dead_letters },
        { "freed target", test_target_that_is_freed_while_others_are_waited_for_is_not_looked_at },
        { "closing target", test_target_that_closes_frees_those_who_wait },
        { "waiters", test_waiters_are_served_first_come_first_served },
        { "raised limit", test_raised_limit_lets_in_those_who_wait },
        { "not open", test_target_that_is_not_open_yet_is_waited_for },
        { "not open, reject", test_target_that_is_not_open_yet_rejects_as_a_full_one },
        { "behind others", test_who_waited_runs_behind_those_who_can_make_room },
        { "limit of one", test_raised_limit_lets_in_those_who_wait_for_one_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("output", tests);
}
