/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker returns the places of its mailbox in batches while its handlers are quick, each
 * place at once while they may be slow, and all of them at the end of its turn. The limit stays an
 * upper bound.
 *
 * Method: the worker waits inside its handler for each message of one long turn. Meanwhile the test
 * fills the mailbox until it is refused, and so finds how many consumed places are not returned.
 * The clock stands still: the worker is known to be quick after its sixteenth message, or one
 * before when it opened in the same turn.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SLOW 16u    /* after so many messages the worker is known to be quick */
#define HANDLED 40u /* messages that the test looks at */
#define BUDGET 1000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint32_t limit;
    uint64_t sent;
    uint32_t beat; /* of the timekeeper, at some moment */
};

static void begin(struct fixture *f, uint32_t limit)
{
    *f = (struct fixture){ .probe = probe_create(), .limit = limit };
    rig_init(&f->rig, 1, BUDGET);
    f->pool = rig_workers(&f->rig, f->probe, "worker", 1, limit);
    f->probe->act = probe_wait;
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->sent);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static bool send(struct fixture *f)
{
    bool is_taken = rig_send(&f->rig, f->pool->pid, (struct order){ .id = 1 }) == 0;

    f->sent += is_taken;
    return is_taken;
}

/* The number of places that the worker holds back in the handler of message number `handled`. */
static uint32_t held_back(struct fixture *f, uint32_t handled)
{
    CU_ASSERT_TRUE_FATAL(gate_await(&f->probe->gate, handled));
    while (send(f))
        continue;
    return f->limit - (uint32_t)(f->sent - handled);
}

/* The worker holds back one place more with each message, from some message on, and returns them
 * all with each batch. */
static void check_batches(struct fixture *f, uint32_t batch)
{
    uint32_t before = 0;

    for (uint32_t handled = 1; handled <= HANDLED; handled++) {
        uint32_t now = held_back(f, handled);

        if (handled == 1)
            CU_ASSERT_EQUAL(now, 0);
        if (now > 0 || before > 0 || handled > SLOW)
            CU_ASSERT_EQUAL(now, (before + 1) % batch);
        before = now;
        gate_admit(&f->probe->gate, 1);
    }
}

/* promise S5 */
static void test_quick_worker_returns_places_in_batches(void)
{
    static const struct {
        uint32_t limit;
        uint32_t batch;
    } cases[] = { { 1, 1 }, { 4, 1 }, { 7, 1 }, { 8, 2 }, { 20, 5 }, { 64, 16 }, { 200, 16 } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;

        begin(&f, cases[i].limit);
        CU_ASSERT_TRUE(send(&f));
        check_batches(&f, cases[i].batch);
        finish(&f);
    }
}

static bool two_beats_have_passed(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->rig.dispatcher->beat) - f->beat > 2;
}

/* promises S5 and D13: between two of the usual looks at the clock. */
static void test_worker_that_has_become_slow_returns_each_place_at_once(void)
{
    struct fixture f;

    begin(&f, 64);
    CU_ASSERT_TRUE(send(&f));
    check_batches(&f, 16);
    (void)held_back(&f, HANDLED + 1);
    f.beat = atomic_load(&f.rig.dispatcher->beat);
    CU_ASSERT_TRUE(rig_wait(&f.rig, two_beats_have_passed, &f));
    rig_advance(&f.rig, 10);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_EQUAL(held_back(&f, HANDLED + 2), 0);
    finish(&f);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void take_turns(struct fixture *f)
{
    (void)rig_step(&f->rig, never, NULL, 4 * SLOW);
}

/* promise S5 */
static void test_turn_ends_with_all_places_free(void)
{
    struct fixture f = { .probe = probe_create(), .limit = 64 };
    struct pool_options options = { .path = "worker", .size = 1, .settings.mailbox = f.limit };
    uint64_t before;

    rig_init_still(&f.rig, 1, BUDGET);
    options.spec = rig_spec(f.probe);
    f.pool = rig_pool(&f.rig, &options);
    spec_unref(options.spec);
    take_turns(&f);
    for (uint32_t i = 0; i < 2 * SLOW; i++)
        CU_ASSERT_TRUE(send(&f));
    take_turns(&f); /* the worker is quick from now on */
    for (uint32_t i = 0; i < 5; i++)
        CU_ASSERT_TRUE(send(&f));
    take_turns(&f);
    before = f.sent;
    while (send(&f))
        continue;
    CU_ASSERT_EQUAL(f.sent - before, f.limit);
    take_turns(&f);
    rig_close(&f.rig, f.pool);
    take_turns(&f);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "batches", test_quick_worker_returns_places_in_batches },
        { "slow", test_worker_that_has_become_slow_returns_each_place_at_once },
        { "end of a turn", test_turn_ends_with_all_places_free },
        CU_TEST_INFO_NULL,
    };

    return suite_run("batch", tests);
}
