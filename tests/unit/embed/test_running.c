/* SPDX-License-Identifier: MIT */
/*
 * Goal: the status of a request that a thread no longer waits for says whether its work had begun:
 * after TIMEOUT and CANCELLED it never begins, after RUNNING it had begun. A cancel wakes the
 * thread that waits.
 *
 * Method: a worker at a gate, a request that it has begun, and one behind it; then a storm of tasks
 * whose time-outs pass while they begin.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define THREADS 4u
#define ROUNDS 300u

struct fixture {
    struct hand hand;
    weir_pid pool;
    uint64_t begun;  /* the reference of a request at the gate */
    uint64_t behind; /* of one that waits behind it */
};

static int wait_and_reply(struct weir_self *self, struct hand *hand,
                          const struct weir_message *message)
{
    (void)gate_pass(&hand->gate);
    return hand_reply(self, hand, message);
}

static uint64_t request(struct fixture *f, hand_act *act, uint64_t id, uint64_t timeout_ms)
{
    struct weir_message *message = hand_message(&f->hand, (struct hand_order){ act, id });
    uint64_t reference = 0;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_request(f->hand.runtime, f->pool, WEIR_NORMAL, message,
                                               timeout_ms, &reference),
                          0);
    return reference;
}

static void begin(struct fixture *f, uint64_t timeout_ms)
{
    hand_begin(&f->hand, 2);
    f->pool = hand_pool(&f->hand, "pool", 1, 4);
    if (timeout_ms == 0)
        return;
    f->begun = request(f, wait_and_reply, 1, timeout_ms);
    CU_ASSERT_TRUE(gate_await(&f->hand.gate, 1));
    f->behind = request(f, hand_reply, 2, timeout_ms);
}

/* Only the request at the gate was handled. */
static void finish(struct fixture *f)
{
    struct weir_ledger ledger;

    gate_open(&f->hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f->hand.sum), 1);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    hand_finish(&f->hand);
}

static int await(struct fixture *f, uint64_t reference)
{
    struct weir_answer answer = WEIR_ANSWER;

    return weir_runtime_await(f->hand.runtime, reference, &answer);
}

/* promise E11 */
static void test_time_out_says_whether_the_work_had_begun(void)
{
    int status = WEIR_ETIMEOUT;
    struct fixture f;

    begin(&f, 0);
    /* With more time, until it has begun in its time. */
    for (uint64_t ms = 1; status == WEIR_ETIMEOUT && ms < wait_limit_ms(); ms *= 2)
        status = await(&f, request(&f, wait_and_reply, 1, ms));
    CU_ASSERT_EQUAL(status, WEIR_ERUNNING);
    CU_ASSERT_EQUAL(await(&f, request(&f, hand_reply, 2, 1)), WEIR_ETIMEOUT);
    finish(&f);
}

/* promise E11 */
static void test_cancel_says_whether_the_work_had_begun(void)
{
    struct fixture f;

    begin(&f, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, f.begun), WEIR_ERUNNING);
    CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, f.behind), 0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, f.begun), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(await(&f, f.behind), WEIR_EUNKNOWN);
    finish(&f);
}

/* --- threads that wait ------------------------------------------------------------------------ */

struct waiting {
    struct fixture *f;
    pthread_t thread;
    uint64_t reference;
    bool any; /* by weir_runtime_await_any */
    int status;
};

static void *wait_for_answer(void *argument)
{
    struct waiting *waiting = argument;
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_runtime *runtime = waiting->f->hand.runtime;
    uint32_t index;

    do /* while the test looks whether this thread waits, another thread waits */
        waiting->status = waiting->any ? weir_runtime_await_any(runtime, &waiting->reference, 1,
                                                                WEIR_FOR_EVER, &index, &answer)
                                       : weir_runtime_await(runtime, waiting->reference, &answer);
    while (waiting->status == WEIR_EUNKNOWN);
    return NULL;
}

static void start(struct waiting *waiting, struct fixture *f, uint64_t reference, bool any)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint32_t index;

    *waiting = (struct waiting){ .f = f, .reference = reference, .any = any };
    CU_ASSERT_EQUAL_FATAL(pthread_create(&waiting->thread, NULL, wait_for_answer, waiting), 0);
    while (weir_runtime_await_any(f->hand.runtime, &reference, 1, 0, &index, &answer) !=
           WEIR_EUNKNOWN)
        (void)sched_yield();
}

/* promise E14: the thread gets what the cancel says. */
static void test_cancel_wakes_the_thread_that_waits(void)
{
    for (int any = 0; any <= 1; any++) {
        struct waiting begun, behind;
        struct fixture f;

        begin(&f, WEIR_FOR_EVER);
        start(&begun, &f, f.begun, any);
        start(&behind, &f, f.behind, any);
        CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, f.begun), WEIR_ERUNNING);
        CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, f.behind), 0);
        CU_ASSERT_EQUAL(pthread_join(begun.thread, NULL), 0);
        CU_ASSERT_EQUAL(pthread_join(behind.thread, NULL), 0);
        CU_ASSERT_EQUAL(begun.status, WEIR_ERUNNING);
        CU_ASSERT_EQUAL(behind.status, WEIR_ECANCELLED);
        finish(&f);
    }
}

/* --- the storm -------------------------------------------------------------------------------- */

struct submitter {
    struct fixture *f;
    pthread_t thread;
    _Atomic uint32_t ran[ROUNDS];
    int status[ROUNDS];
    uint64_t references[ROUNDS];
};

static int run(struct weir_task *task, void *argument)
{
    _Atomic uint32_t *ran = argument;

    (void)task;
    atomic_fetch_add(ran, 1);
    return 0;
}

/* By turns with a time-out that passes about when the task begins, and with a cancel. */
static void *submit_all(void *argument)
{
    struct submitter *submitter = argument;
    struct weir_runtime *runtime = submitter->f->hand.runtime;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        int result;
        uint64_t reference;

        if (i % 2 == 0) {
            submitter->status[i] = weir_runtime_submit_wait(runtime, submitter->f->pool, run,
                                                            &submitter->ran[i], i % 4 / 2, &result);
            continue;
        }
        submitter->status[i] = weir_runtime_submit_request(
            runtime, submitter->f->pool, run, &submitter->ran[i], WEIR_FOR_EVER, &reference);
        if (submitter->status[i] == 0 && weir_runtime_cancel(runtime, reference) == WEIR_ERUNNING)
            submitter->status[i] = WEIR_ERUNNING;
        else if (submitter->status[i] == 0)
            submitter->status[i] = 1; /* never begun, or done */
    }
    return NULL;
}

static bool is_true(int status, uint32_t ran)
{
    if (status == WEIR_ERUNNING || status == 0)
        return ran == 1;
    return status == 1 ? ran <= 1 : ran == 0;
}

/* promise E11: the argument of a task that never begins may be freed at once. */
static void test_task_never_begins_after_the_status_that_says_so(void)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    static struct submitter submitters[THREADS];
    struct fixture f;
    uint32_t false_ones = 0;

    hand_begin(&f.hand, 2);
    options.path = "tasks";
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_task_pool(f.hand.runtime, &options, &f.pool), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        memset(&submitters[i], 0, sizeof submitters[i]);
        submitters[i].f = &f;
        CU_ASSERT_EQUAL_FATAL(
            pthread_create(&submitters[i].thread, NULL, submit_all, &submitters[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL(pthread_join(submitters[i].thread, NULL), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t j = 0; j < ROUNDS; j++)
            false_ones += !is_true(submitters[i].status[j], atomic_load(&submitters[i].ran[j]));
    CU_ASSERT_EQUAL(false_ones, 0);
    hand_finish(&f.hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "time-out", test_time_out_says_whether_the_work_had_begun },
        { "cancel", test_cancel_says_whether_the_work_had_begun },
        { "wakes", test_cancel_wakes_the_thread_that_waits },
        { "storm", test_task_never_begins_after_the_status_that_says_so },
        CU_TEST_INFO_NULL,
    };

    return suite_run("running", tests);
}
