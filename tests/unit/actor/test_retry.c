/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool with `retry` bounds the number and the time of the retries of a message, and pauses
 * before each, whether the message waits in its worker or goes back to its origin.
 *
 * Method: one worker on one thread, whose clock stands still until the test moves it. A message
 * that is handled behind a retry that is not due shows that it was not given. The origin is a
 * second pool, which sends a message with the attempt that the test wants.
 */
#include <string.h>

#include "actor/send.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define PAUSE 1000u /* ms */

static _Atomic bool is_enough; /* no more retries: the test ends */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct probe *home; /* the origin's */
    struct spec *spec;
    struct pool *pool;
    struct pool *home_pool;
    struct weir_outcome last; /* written before the note of its token */
    uint64_t marks;
};

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct probe *probe = *(struct probe **)state;
    struct fixture *f = probe->context;

    (void)self;
    f->last = *outcome;
    probe_note(probe, 1000 + outcome->token);
}

static void begin(struct fixture *f, struct retry retry, uint32_t redeliver)
{
    *f = (struct fixture){ .probe = probe_create(), .home = probe_create(), .marks = 5000 };
    atomic_store(&is_enough, false);
    f->home->behaviour.settled = settled;
    f->home->context = f;
    rig_init(&f->rig, 1, 0);
    f->spec = rig_spec(f->probe);
    f->spec->retry = retry;
    f->spec->redeliver_max = redeliver;
    f->pool = rig_pool(
        &f->rig, &(struct pool_options){ .spec = f->spec, .size = 1, .settings.mailbox = 64 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    f->home_pool = rig_workers(&f->rig, f->home, "home", 1, 16);
}

static bool is_over(void *context)
{
    struct ledger_reading ledger = rig_ledger(context);

    return ledger.accepted == ledger.dead + ledger.done + ledger.moved;
}

static bool is_over_in_time(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, PAUSE);
    return is_over(f->pool);
}

static void finish(struct fixture *f)
{
    atomic_store(&is_enough, true);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_over_in_time, f));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->home_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->home);
}

/* Asks for itself after `argument` ms. */
static int again(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    weir_retry_after(self, probe_order(message)->argument);
    probe_note(probe, 100u + message->attempt);
    return atomic_load(&is_enough) ? WEIR_DONE : WEIR_RETRY;
}

static int fail_first(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    return message->attempt == 1 ? WEIR_FAIL : again(self, probe, message);
}

static void send(struct fixture *f, probe_act *act, uint64_t delay_ms)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ act, 1, delay_ms }), 0);
}

/* All that was due is handled. */
static void pass(struct fixture *f)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ probe_done, ++f->marks, 0 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, f->marks, 1));
}

/* Tries number `attempt` and no more were made. */
static void expect_tries(struct fixture *f, uint32_t attempt)
{
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, 100u + attempt, 1));
    pass(f);
    CU_ASSERT_EQUAL(probe_times(f->probe, 101u + attempt), 0);
}

/* promise B71 */
static void test_number_of_retries(void)
{
    static const uint32_t most[] = { 0, 1, 7 };

    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        struct fixture f;

        begin(&f, (struct retry){ .max = most[i] }, 0);
        send(&f, again, 0);
        CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, f.pool));
        CU_ASSERT_EQUAL(probe_times(f.probe, 1), most[i] + 1);
        CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_RETRIES), 1);
        finish(&f);
    }
}

static int done_late(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    probe_note(probe, message->attempt == UINT16_MAX ? 7 : 8);
    return probe_times(probe, 7) < 3 ? WEIR_RETRY : WEIR_DONE;
}

/* The number of the attempt saturates. promise B71 */
static void test_retries_without_a_bound(void)
{
    struct order order = { done_late, 1, 0 };
    struct executor *executor;
    struct message *message;
    struct fixture f;

    begin(&f, (struct retry){ .max = RETRY_UNLIMITED }, 0);
    executor = runtime_enter(f.rig.runtime);
    message = message_create(&executor->cache, NULL, sizeof order);
    memcpy(message->public.data, &order, sizeof order);
    message->public.attempt = UINT16_MAX - 20;
    CU_ASSERT_EQUAL(send_message(f.rig.runtime, executor, f.pool->pid, WEIR_NORMAL, message), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 7, 3));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 8), 20);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).done, 1);
    finish(&f);
}

/* promise B72 */
static void test_pauses_double_up_to_the_greatest(void)
{
    static const uint32_t pauses[] = { PAUSE, 2 * PAUSE, 3 * PAUSE, 3 * PAUSE };
    struct fixture f;

    begin(&f, (struct retry){ RETRY_UNLIMITED, PAUSE, 3 * PAUSE, 0 }, 0);
    send(&f, again, 10);
    for (uint32_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        expect_tries(&f, i + 1);
        rig_advance(&f.rig, pauses[i] - pauses[i] / 4 - 1);
        expect_tries(&f, i + 1);
        rig_advance(&f.rig, pauses[i] / 4 + 1);
    }
    expect_tries(&f, 5);
    finish(&f);
}

/* promise B72 */
static void test_longer_delay_of_the_worker_is_used(void)
{
    struct fixture f;

    begin(&f, (struct retry){ RETRY_UNLIMITED, PAUSE, PAUSE, 0 }, 0);
    send(&f, again, 5 * PAUSE);
    expect_tries(&f, 1);
    rig_advance(&f.rig, 5 * PAUSE - 1);
    expect_tries(&f, 1);
    rig_advance(&f.rig, 1);
    expect_tries(&f, 2);
    finish(&f);
}

/* promise B73 */
static void test_time_of_all_tries(void)
{
    struct fixture f;

    begin(&f, (struct retry){ RETRY_UNLIMITED, PAUSE, PAUSE, 5 * PAUSE / 2 }, 0);
    send(&f, again, 0);
    expect_tries(&f, 1);
    rig_advance(&f.rig, PAUSE);
    expect_tries(&f, 2);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_RETRIES), 0);
    rig_advance(&f.rig, PAUSE);
    expect_tries(&f, 3);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_RETRIES), 1); /* at once */
    CU_ASSERT_TRUE(is_over(f.pool));
    finish(&f);
}

/* By the clock: the pauses alone would allow it. promise B73 */
static void test_delays_of_the_worker_take_time(void)
{
    struct fixture f;

    begin(&f, (struct retry){ RETRY_UNLIMITED, PAUSE, PAUSE, 5 * PAUSE }, 0);
    send(&f, again, 3 * PAUSE);
    expect_tries(&f, 1);
    rig_advance(&f.rig, 3 * PAUSE);
    expect_tries(&f, 2);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_RETRIES), 1);
    finish(&f);
}

/* --- with an origin --------------------------------------------------------------------------- */

struct job {
    struct order order;
    struct order away;
    weir_pid to;
    uint16_t attempt;
};

static int send_away(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    const struct job *job = message->data;
    struct weir_message *sent = probe_message(self, job->away);

    (void)probe;
    CU_ASSERT_EQUAL(weir_set_origin(self, sent, 7), 0);
    sent->attempt = job->attempt;
    CU_ASSERT_EQUAL(weir_send(self, job->to, sent), 0);
    return WEIR_DONE;
}

/* The outcome of a message of an origin that comes as its attempt number `attempt`. */
static struct weir_outcome outcome_of(struct retry retry, probe_act *act, uint16_t attempt)
{
    struct fixture f;
    struct executor *executor;
    struct message *message;
    struct job job = { .order = { .act = send_away },
                       .away = { .act = act, .id = 1 },
                       .attempt = attempt };

    begin(&f, retry, 1);
    job.to = f.pool->pid;
    executor = runtime_enter(f.rig.runtime);
    message = message_create(&executor->cache, NULL, sizeof job);
    memcpy(message->public.data, &job, sizeof job);
    CU_ASSERT_EQUAL(send_message(f.rig.runtime, executor, f.home_pool->pid, WEIR_NORMAL, message),
                    0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1007, 1));
    finish(&f);
    return f.last;
}

/* promise B74 */
static void test_origin_is_told_the_pause_while_retries_are_left(void)
{
    const struct retry retry = { 3, PAUSE, 3 * PAUSE, 0 };
    struct weir_outcome outcome = outcome_of(retry, again, 2);

    CU_ASSERT_EQUAL(outcome.result, WEIR_OUTCOME_RETRY);
    CU_ASSERT_EQUAL(outcome.attempt, 2);
    CU_ASSERT_TRUE(outcome.delay_ms >= 3 * PAUSE / 2 && outcome.delay_ms <= 2 * PAUSE);
    outcome = outcome_of(retry, again, 3);
    CU_ASSERT_EQUAL(outcome.result, WEIR_OUTCOME_RETRY);
    CU_ASSERT_EQUAL(outcome_of(retry, again, 4).result, WEIR_OUTCOME_DEAD);
}

/* promise B74 */
static void test_time_of_an_origin_is_the_sum_of_its_pauses(void)
{
    const struct retry retry = { RETRY_UNLIMITED, PAUSE, 2 * PAUSE, 7 * PAUSE };

    /* 1 + 2 + 2 seconds, and at most 2; then two more */
    CU_ASSERT_EQUAL(outcome_of(retry, again, 4).result, WEIR_OUTCOME_RETRY);
    CU_ASSERT_EQUAL(outcome_of(retry, again, 5).result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_EQUAL(outcome_of(retry, again, UINT16_MAX).result, WEIR_OUTCOME_DEAD);
}

/* promises B71 and B74 */
static void test_attempt_that_an_origin_is_told(void)
{
    const struct retry retry = { RETRY_UNLIMITED, PAUSE, PAUSE, 0 };

    CU_ASSERT_EQUAL(outcome_of(retry, fail_first, 1).attempt, 1); /* a failure is no try */
    CU_ASSERT_EQUAL(outcome_of(retry, again, UINT16_MAX).attempt, UINT16_MAX - 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "number", test_number_of_retries },
        { "without a bound", test_retries_without_a_bound },
        { "pauses", test_pauses_double_up_to_the_greatest },
        { "longer delay", test_longer_delay_of_the_worker_is_used },
        { "time", test_time_of_all_tries },
        { "delays take time", test_delays_of_the_worker_take_time },
        { "origin", test_origin_is_told_the_pause_while_retries_are_left },
        { "time of an origin", test_time_of_an_origin_is_the_sum_of_its_pauses },
        { "attempt", test_attempt_that_an_origin_is_told },
        CU_TEST_INFO_NULL,
    };

    return suite_run("retry", tests);
}
