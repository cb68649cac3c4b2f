/* SPDX-License-Identifier: MIT */
/*
 * Goal: a replayed dead letter arrives as a new message with its payload at its intended receiver;
 * without room or receiver it stays a dead letter, in its place; none is sent twice.
 *
 * Method: workers that reject the orders they are reported to, for a time; outputs without a target
 * at first; stores that keep no payload.
 */
#include "actor/replay.h"
#include "pool/outlet.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 4u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    _Atomic bool accepts;
};

/* Rejects until the test changes it. */
static int rejects(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)self;
    (void)message;
    return atomic_load(&f->accepts) ? WEIR_DONE : WEIR_REJECT;
}

static void begin_bounded(struct fixture *f, const struct dead_letters_bounds *bounds)
{
    struct pool_options options = { .size = 1, .settings.mailbox = LIMIT, .dead_letters = bounds };

    f->probe = probe_create();
    f->probe->context = f;
    atomic_init(&f->accepts, false);
    rig_init(&f->rig, 1, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void begin(struct fixture *f)
{
    begin_bounded(f, NULL);
}

static struct ledger_reading finish(struct fixture *f)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    return ledger;
}

static struct replay_result replay_pool(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct replay_result result;

    replay(f->rig.runtime, executor, &f->pool->dead, outlet_present(&f->pool->outlets),
           f->pool->pid, &result);
    runtime_leave(executor);
    return result;
}

/* Sends `count` orders that the worker rejects, numbered from 1. */
static void make_letters(struct fixture *f, uint64_t count)
{
    for (uint64_t i = 1; i <= count; i++) {
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ rejects, i, 0 }), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    }
}

static uint32_t kept(struct fixture *f)
{
    struct dead_letters_figures figures = { 0 };

    dead_letters_figures(&f->pool->dead, &figures);
    return figures.kept;
}

/* promise L4 */
static void test_letters_sent_again_are_handled_and_counted_anew(void)
{
    struct fixture f;
    struct replay_result result;
    struct ledger_reading ledger;

    begin(&f);
    make_letters(&f, 3);
    CU_ASSERT_EQUAL(kept(&f), 3);
    atomic_store(&f.accepts, true);
    result = replay_pool(&f);
    CU_ASSERT_EQUAL(result.replayed, 3);
    CU_ASSERT_EQUAL(result.left, 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(kept(&f), 0);
    for (uint64_t i = 1; i <= 3; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, i), 2);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, 3 + i), i + 1);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 3);
    ledger = finish(&f);
    CU_ASSERT_EQUAL(ledger.accepted, 6);
    CU_ASSERT_EQUAL(ledger.done, 3);
    CU_ASSERT_EQUAL(ledger.dead, 3);
}

/* promise L4 */
static void test_letters_without_room_stay_dead_in_their_order(void)
{
    struct fixture f;
    struct replay_result result;
    struct dead_letter letters[4];
    uint64_t refused;

    begin(&f);
    make_letters(&f, LIMIT + 3);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ probe_wait, 99, 0 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 99, 1));
    refused = rig_stats(f.pool).refused;
    result = replay_pool(&f);
    CU_ASSERT_EQUAL(result.replayed, LIMIT);
    CU_ASSERT_EQUAL(result.left, 3);
    CU_ASSERT_EQUAL(result.unable, 0);
    CU_ASSERT_EQUAL(result.status, WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, refused + 1);
    CU_ASSERT_EQUAL(dead_letters_read(&f.pool->dead, letters, 4), 3);
    for (uint64_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(letters[i].number, LIMIT + 1 + i);
    atomic_store(&f.accepts, true);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(replay_pool(&f).replayed, 3);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t i = 1; i <= LIMIT + 3; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, i), 2);
    (void)finish(&f);
}

static void test_letter_that_is_rejected_again_is_a_new_letter(void)
{
    struct fixture f;
    struct dead_letter letter;

    begin(&f);
    make_letters(&f, 1);
    CU_ASSERT_EQUAL(replay_pool(&f).replayed, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(dead_letters_read(&f.pool->dead, &letter, 1), 1);
    CU_ASSERT_EQUAL(letter.number, 2);
    CU_ASSERT_EQUAL(letter.attempt, 1);
    (void)finish(&f);
}

static void test_letter_without_payload_stays_and_is_named(void)
{
    struct fixture f;
    struct replay_result result;

    begin_bounded(&f, &(struct dead_letters_bounds){ 10, 0 });
    make_letters(&f, 2);
    result = replay_pool(&f);
    CU_ASSERT_EQUAL(result.replayed, 0);
    CU_ASSERT_EQUAL(result.left, 2);
    CU_ASSERT_EQUAL(result.unable, 2);
    CU_ASSERT_EQUAL(kept(&f), 2);
    (void)finish(&f);
}

/* Emits an order of its own number + 100. */
static int emits(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ probe_done, 0, 0 });

    (void)probe;
    ((struct order *)out->data)->id = probe_order(message)->id + 100;
    return weir_emit(self, 0, out) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static void lead_to(struct fixture *f, weir_pid target)
{
    struct wiring *wiring = wiring_create(1);
    struct executor *executor = runtime_enter(f->rig.runtime);

    wiring->bindings[0] = (struct binding){ target, WEIR_FULL_WAIT };
    pool_set_wiring(f->pool, wiring, executor);
    runtime_leave(executor);
}

/* A dead letter of an unbound output goes to its present target, not to its emitter. */
static void test_letter_of_an_output_goes_where_the_output_leads_now(void)
{
    struct fixture f;
    struct pool *gone, *next;
    struct replay_result result;
    struct ledger_reading ledger;
    weir_pid old;

    begin(&f);
    gone = rig_workers(&f.rig, f.probe, "gone", 1, LIMIT);
    old = gone->pid;
    CU_ASSERT_TRUE(rig_end(&f.rig, gone, NULL));
    lead_to(&f, old);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ emits, 1, 0 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_NO_TARGET), 1);

    result = replay_pool(&f);
    CU_ASSERT_EQUAL(result.replayed, 0);
    CU_ASSERT_EQUAL(result.left, 1);
    CU_ASSERT_NOT_EQUAL(result.status, 0);

    next = rig_workers(&f.rig, f.probe, "next", 1, LIMIT);
    lead_to(&f, next->pid);
    CU_ASSERT_EQUAL(replay_pool(&f).replayed, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 101, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, next, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 1);
    (void)finish(&f);
}

/* A dead letter of a worker's own lane goes to that worker. */
static void test_letter_of_a_worker_goes_to_that_worker(void)
{
    struct fixture f;
    struct dead_letter letter;

    begin(&f);
    CU_ASSERT_EQUAL(
        rig_send_lane(&f.rig, rig_worker(f.pool, 0), WEIR_HIGH, (struct order){ rejects, 7, 0 }),
        0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 7, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    while (dead_letters_read(&f.pool->dead, &letter, 1) == 0)
        (void)rig_drained(&f.rig, f.pool);
    CU_ASSERT_EQUAL(letter.way.to, rig_worker(f.pool, 0));
    CU_ASSERT_EQUAL(letter.lane, WEIR_HIGH);
    atomic_store(&f.accepts, true);
    CU_ASSERT_EQUAL(replay_pool(&f).replayed, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 7, 2));
    CU_ASSERT_EQUAL(finish(&f).accepted, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "sent again", test_letters_sent_again_are_handled_and_counted_anew },
        { "no room", test_letters_without_room_stay_dead_in_their_order },
        { "rejected again", test_letter_that_is_rejected_again_is_a_new_letter },
        { "no payload", test_letter_without_payload_stays_and_is_named },
        { "output", test_letter_of_an_output_goes_where_the_output_leads_now },
        { "own lane", test_letter_of_a_worker_goes_to_that_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("replay", tests);
}
