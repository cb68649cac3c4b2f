/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that fails is replaced in its place, with its accepted messages; one that fails
 * too often, or cannot be opened, waits longer and longer while the others serve, and keeps its
 * place.
 *
 * Method: workers that fail by order, a clock that stands still; notes, figures and the ledger.
 */
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define NUMBER 100u /* a note: NUMBER + the worker's index */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t threads)
{
    f->probe = probe_create();
    rig_init(&f->rig, threads, 0);
    f->spec = rig_spec(f->probe);
}

static void create(struct fixture *f, uint32_t size, uint32_t limit)
{
    f->pool = rig_pool(&f->rig, &(struct pool_options){
                                    .spec = f->spec, .size = size, .settings.mailbox = limit });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
}

static void finish(struct fixture *f, struct ledger_reading *ledger)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, ledger));
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promises P4 and S2: the limit, the PID and the mailbox are as before. */
static void test_failed_worker_is_replaced_with_its_mailbox_kept(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    weir_pid pid;

    begin(&f, 1);
    create(&f, 1, 3);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    pid = rig_worker(f.pool, 0);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait_and_fail, .id = 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait, .id = id }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 4 }), WEIR_EFULL);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* the next incarnation has message 1 */
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    CU_ASSERT_EQUAL(rig_worker(f.pool, 0), pid);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 5 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 6 }), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 1);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    for (uint64_t id = 0; id <= 3; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    finish(&f, &ledger);
    CU_ASSERT_EQUAL(ledger.done, 4);
    CU_ASSERT_EQUAL(ledger.dead, 1);
}

static bool one_waits(void *context)
{
    struct weir_pool_stats stats = rig_stats(context);

    return stats.live == 1 && stats.starting == 1;
}

/* promises P5 and L1: its backlog goes to the sibling, and it opens again when the pause is
 * over. */
static void test_worker_that_fails_too_often_waits_and_its_backlog_moves(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    weir_pid pid;

    begin(&f, 2);
    f.spec->restart.max = 2;
    create(&f, 2, 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    pid = rig_worker(f.pool, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pid, (struct order){ .act = probe_wait, .id = 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    /* The sibling is busy, so that it does not help before. */
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1), (struct order){ .act = probe_wait }),
                    0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_EQUAL(
            rig_send_routed(&f.rig, f.pool, 0, (struct order){ .act = probe_fail, .id = id }), 0);
    for (uint64_t id = 4; id <= 8; id++)
        CU_ASSERT_EQUAL(rig_send_routed(&f.rig, f.pool, 0, (struct order){ .id = id }), 0);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, one_waits, f.pool));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 4; id <= 8; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 5);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pid, (struct order){ .id = 9 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 10 }), 0);
    rig_advance(&f.rig, f.spec->restart.backoff_ms_min);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_worker(f.pool, 0), pid);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pid, (struct order){ .id = 11 }), 0);
    finish(&f, &ledger);
    CU_ASSERT_EQUAL(ledger.accepted, 17);
    CU_ASSERT_EQUAL(ledger.done, 9);
    CU_ASSERT_EQUAL(ledger.dead, 3);
}

static int note_number(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)message;
    probe_note(probe, NUMBER + weir_index(self));
    return WEIR_DONE;
}

/* The first key that worker 0 owns. */
static uint64_t key_of_the_first(struct fixture *f)
{
    uint64_t key = 0;

    do {
        CU_ASSERT_EQUAL(
            rig_send_key(&f->rig, f->pool->pid, ++key, (struct order){ .act = note_number }), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    } while (probe_times(f->probe, NUMBER) == 0);
    return key;
}

static bool is_timed(void *context)
{
    const struct rig *rig = context;

    return atomic_load(&rig->dispatcher->timers.next_due_ns) != TIMER_NEVER;
}

/* After the last of them was offered to the siblings. */
static bool five_are_left(void *context)
{
    struct ledger_reading reading = rig_ledger(context);

    return reading.queued + reading.held == 5;
}

/* promise P5: by key the backlog stays, for its owner is still the same. */
static void test_backlog_of_an_owner_waits_for_it(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    uint64_t key;

    begin(&f, 2);
    f.spec->restart.max = 0;
    create(&f, 2, 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    pool_set_route(f.pool, WEIR_ROUTE_HASH);
    key = key_of_the_first(&f);
    CU_ASSERT_EQUAL(
        rig_send_key(&f.rig, f.pool->pid, key, (struct order){ .act = probe_wait_and_fail }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 1; id <= 5; id++)
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, key, (struct order){ .id = id }), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, one_waits, f.pool));
    CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, key, (struct order){ .id = 6 }), WEIR_EFULL);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_timed, &f.rig));
    CU_ASSERT_TRUE(rig_wait(&f.rig, five_are_left, f.pool));
    rig_advance(&f.rig, f.spec->restart.backoff_ms_min);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 1; id <= 5; id++)
        CU_ASSERT_EQUAL(probe_get(f.probe, probe_count(f.probe) - 6 + (uint32_t)id), id);
    finish(&f, &ledger);
    CU_ASSERT_EQUAL(ledger.moved, 0);
    CU_ASSERT_EQUAL(ledger.dead, 1);
}

/* Worker 0 cannot be opened until the test says so. */
static int refuse_the_first(struct weir_self *self, struct probe *probe)
{
    bool *may = probe->context;

    return weir_index(self) == 0 && !atomic_load((_Atomic bool *)may) ? WEIR_ENOMEM : 0;
}

struct tries {
    struct probe *probe;
    uint32_t count;
};

static bool has_tried(void *context)
{
    struct tries *tries = context;

    return atomic_load(&tries->probe->refused) >= tries->count;
}

/* As many opens were refused, and the next one has its time. */
static bool waits_to_open(struct fixture *f, uint32_t refused)
{
    struct tries tries = { f->probe, refused };

    return rig_wait(&f->rig, has_tried, &tries) && rig_wait(&f->rig, is_timed, &f->rig);
}

/* promise P5 */
static void test_worker_that_cannot_open_is_tried_again_while_others_serve(void)
{
    struct fixture f;
    _Atomic bool may = false;
    uint32_t refused = 1;
    uint64_t backoff = 100;

    begin(&f, 1);
    f.probe->opens = refuse_the_first;
    f.probe->context = &may;
    create(&f, 2, 1);
    CU_ASSERT_TRUE(waits_to_open(&f, refused));
    CU_ASSERT_TRUE(rig_wait(&f.rig, one_waits, f.pool));
    for (uint64_t id = 1; id <= 4; id++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = id }), 0);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        rig_advance(&f.rig, backoff); /* at most: the jitter only shortens it */
        CU_ASSERT_TRUE(waits_to_open(&f, ++refused));
        backoff *= 2;
    }
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).starting, 1);
    atomic_store(&may, true);
    rig_advance(&f.rig, backoff);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->refused), 5);
    finish(&f, NULL);
}

static uint64_t delay_of_the_next_open(struct fixture *f)
{
    uint64_t due;

    do
        due = atomic_load(&f->rig.dispatcher->timers.next_due_ns);
    while (due == TIMER_NEVER);
    return due - atomic_load(&f->rig.now_ns);
}

/* promise P5: each pause is longer than the one before, up to the longest, by the clock of the
 * runtime, and a little shorter by chance: workers that failed together must not return
 * together. */
static void test_delay_of_a_failing_open_grows(void)
{
    static const uint64_t waits_ms[] = { 100, 200, 400, 800, 800 };
    struct fixture f;
    _Atomic bool may = false;
    struct tries tries;
    uint64_t spared = 0;

    begin(&f, 1);
    f.spec->restart.backoff_ms_max = 800;
    f.probe->opens = refuse_the_first;
    f.probe->context = &may;
    create(&f, 1, 1);
    tries = (struct tries){ f.probe, 1 };
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_tried, &tries));
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        uint64_t delay_ns = delay_of_the_next_open(&f);

        CU_ASSERT_TRUE(delay_ns <= waits_ms[i] * 1000000u);
        CU_ASSERT_TRUE(delay_ns >= waits_ms[i] * 800000u);
        spared += waits_ms[i] * 1000000u - delay_ns;
        rig_advance(&f.rig, waits_ms[i]);
        tries.count++;
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_tried, &tries));
    }
    CU_ASSERT_TRUE(spared > 0);
    finish(&f, NULL);
}

/* Lets the worker fail once more; returns the pause that follows, after which it is open again. */
static uint64_t pause_after_a_failure(struct fixture *f)
{
    uint64_t pause_ns;

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_fail }), 0);
    pause_ns = delay_of_the_next_open(f);
    rig_advance(&f->rig, pause_ns / 1000000u + 1);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    return pause_ns;
}

/* promise P5: an open between two failures does not shorten the pause; nor does the time that the
 * worker has waited. */
static void test_pause_of_a_failing_worker_grows(void)
{
    static const uint64_t waits_ms[] = { 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000 };
    struct fixture f;

    begin(&f, 1);
    f.spec->restart.max = 2;
    create(&f, 1, 1);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    for (uint32_t i = 1; i <= 2; i++) { /* these are replaced at once */
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_fail }), 0);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    }
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        uint64_t pause_ns = pause_after_a_failure(&f);

        CU_ASSERT_TRUE(pause_ns <= waits_ms[i] * 1000000u);
        CU_ASSERT_TRUE(pause_ns >= waits_ms[i] * 800000u);
    }
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 11);
    finish(&f, NULL);
}

/* promise P5: it begins with the shortest pause again when it has worked for `within`. */
static void test_pause_is_short_again_after_a_life_without_failure(void)
{
    struct fixture f;

    begin(&f, 1);
    f.spec->restart.max = 0;
    create(&f, 1, 1);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(pause_after_a_failure(&f) <= UINT64_C(100000000));
    CU_ASSERT_TRUE(pause_after_a_failure(&f) > UINT64_C(100000000));
    rig_advance(&f.rig, f.spec->restart.within_ms - 1);
    CU_ASSERT_TRUE(pause_after_a_failure(&f) > UINT64_C(200000000));
    rig_advance(&f.rig, f.spec->restart.within_ms);
    CU_ASSERT_TRUE(pause_after_a_failure(&f) <= UINT64_C(100000000));
    finish(&f, NULL);
}

/* promise P4: failures before the window `within` do not count. */
static void test_old_failures_do_not_count(void)
{
    struct fixture f;

    begin(&f, 1);
    f.spec->restart.max = 1;
    create(&f, 1, 2);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    for (uint64_t id = 1; id <= 4; id++) {
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_fail, .id = 100 }), 0);
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = id }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1)); /* while the clock stands still */
        rig_advance(&f.rig, f.spec->restart.within_ms + 1);
    }
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 4);
    finish(&f, NULL);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "replaced", test_failed_worker_is_replaced_with_its_mailbox_kept },
        { "too often", test_worker_that_fails_too_often_waits_and_its_backlog_moves },
        { "by key", test_backlog_of_an_owner_waits_for_it },
        { "cannot open", test_worker_that_cannot_open_is_tried_again_while_others_serve },
        { "delay grows", test_delay_of_a_failing_open_grows },
        { "pause grows", test_pause_of_a_failing_worker_grows },
        { "short again", test_pause_is_short_again_after_a_life_without_failure },
        { "old failures", test_old_failures_do_not_count },
        CU_TEST_INFO_NULL,
    };

    return suite_run("replace", tests);
}
