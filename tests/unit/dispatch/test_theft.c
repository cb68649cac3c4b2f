/* SPDX-License-Identifier: MIT */
/*
 * Goal: where senders lack room, a thread steals only actors that have waited for some time, and
 * is woken only for enough work; where thefts did not pay, it does neither for some beats;
 * elsewhere it steals and is woken at once. No work stays undone.
 *
 * Method: executors without threads, of which the test takes the steps, with one that is noted as
 * parked where a wake-up is to be seen.
 */
#include "dispatch/theft.h"

#include "dispatch/press.h"
#include "unit/dispatch/stage.h"
#include "unit/host/suite.h"

#define TURNS 200u /* enough for a mean: every 61st take looks at the clock */

/* --- thieves -------------------------------------------------------------------------------- */

/* promise D2 */
static void test_ready_job_is_stolen_when_it_has_waited_and_not_before(void)
{
    static struct stage s;

    stage_begin(&s);
    stage_queue(&s, 1, 1);
    CU_ASSERT_FALSE(stage_step(&s, 1)); /* the thief sees it */
    stage_advance(&s, THEFT_AGE_NS - 1);
    CU_ASSERT_FALSE(stage_step(&s, 1));
    stage_advance(&s, 1);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].runs, 1);
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    stage_finish(&s);
}

/* promise D2 */
static void test_jobs_that_came_after_the_look_are_left(void)
{
    static struct stage s;

    stage_begin(&s);
    stage_queue(&s, 1, 1);
    CU_ASSERT_FALSE(stage_step(&s, 1));
    s.jobs[2].act = stage_scatter; /* the one in the slot: four more behind the first */
    s.first = 3;
    s.last = 7;
    CU_ASSERT_TRUE(stage_step(&s, 0));
    stage_advance(&s, THEFT_AGE_NS);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_FALSE(stage_step(&s, 1)); /* half of five would be three */
    while (stage_step(&s, 0))
        ;
    for (uint32_t i = 3; i <= 7; i++)
        CU_ASSERT_EQUAL(s.jobs[i].runs, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    stage_finish(&s);
}

/* promise D2: no sender lacked room, so that actors may run apart. */
static void test_ready_job_is_stolen_at_once_while_no_sender_lacks_room(void)
{
    static struct stage s;

    stage_begin(&s);
    stage_relieve(&s);
    stage_queue(&s, 1, 1);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    stage_finish(&s);
}

static enum turn spawn(struct job *job, struct executor *executor)
{
    struct stage *stage = job->stage;

    executor_submit_spawned(executor, stage->dispatcher, &stage->jobs[1].schedulable);
    executor_submit_spawned(executor, stage->dispatcher, &stage->jobs[2].schedulable);
    return TURN_IDLE;
}

/* Has the first thread spawn the jobs 1 and 2. */
static void spawn_on_first(struct stage *stage)
{
    stage->jobs[0].act = spawn;
    stage_submit(stage, 0);
    CU_ASSERT_TRUE(stage_step(stage, 0));
}

/* promise D2 */
static void test_oldest_spawned_job_is_stolen_at_once_while_no_sender_lacks_room(void)
{
    static struct stage s;

    stage_begin(&s);
    stage_relieve(&s);
    spawn_on_first(&s);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_TRUE(stage_step(&s, 0));
    CU_ASSERT_EQUAL(s.jobs[2].ran_on, 0);
    stage_finish(&s);
}

/* promise D2 */
static void test_oldest_spawned_job_is_stolen_when_it_has_waited_and_not_before(void)
{
    static struct stage s;

    stage_begin(&s);
    spawn_on_first(&s);
    CU_ASSERT_FALSE(stage_step(&s, 1));
    stage_advance(&s, THEFT_AGE_NS - 1);
    CU_ASSERT_FALSE(stage_step(&s, 1));
    stage_advance(&s, 1);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_FALSE(stage_step(&s, 1)); /* the other one is seen for the first time */
    CU_ASSERT_TRUE(stage_step(&s, 0));
    CU_ASSERT_EQUAL(s.jobs[2].ran_on, 0);
    stage_finish(&s);
}

/* As an actor that handles messages. */
static enum turn handle(struct job *job, struct executor *executor)
{
    stage_advance(job->stage, job->stage->turn_ns);
    executor->handled += job->stage->messages;
    return TURN_IDLE;
}

/* Makes job 1 handle so many messages in `turn_ns`. */
static void begin_thefts(struct stage *stage, uint32_t turn_ns, uint32_t messages)
{
    stage_begin(stage);
    stage_relieve(stage);
    stage->turn_ns = turn_ns;
    stage->messages = messages;
    stage->jobs[1].act = handle;
}

/* Has the second thread steal job 1; true: then it steals job 2, too. `make_two` makes both ready
 * on the first thread. */
static bool steals_on(struct stage *stage, void (*make_two)(struct stage *stage))
{
    uint32_t before = atomic_load(&stage->jobs[2].runs);
    bool stolen;

    make_two(stage);
    CU_ASSERT_TRUE(stage_step(stage, 1));
    CU_ASSERT_EQUAL(stage->jobs[1].ran_on, 1);
    stolen = stage_step(stage, 1);
    while (stage_step(stage, 0))
        ;
    CU_ASSERT_EQUAL(stage->jobs[2].runs, before + 1);
    CU_ASSERT_EQUAL(stage->jobs[2].ran_on, stolen);
    return stolen;
}

/* A thief takes half of them: one. */
static void queue_two_on_first(struct stage *stage)
{
    stage_queue(stage, 1, 2);
}

/* Has the second thread steal job 1, and find no more. */
static void steal_one(struct stage *stage)
{
    stage_queue(stage, 1, 1);
    CU_ASSERT_TRUE(stage_step(stage, 1));
    CU_ASSERT_EQUAL(stage->jobs[1].ran_on, 1);
    CU_ASSERT_FALSE(stage_step(stage, 1)); /* judges the theft */
    while (stage_step(stage, 0))
        ;
}

/* promise D2 */
static void test_thread_is_exempt_after_thefts_that_did_not_pay(void)
{
    const struct {
        uint32_t turn_ns, messages;
        bool pays;
    } cases[] = {
        { THEFT_NS_FIRST / 4, 1, false },
        { THEFT_NS_FIRST * 2, 1, true },
        { THEFT_NS_FIRST * 2, 8, false },
        { THEFT_NS_FIRST * 16, 8, true },
    };
    static struct stage s;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin_thefts(&s, cases[i].turn_ns, cases[i].messages);
        steal_one(&s);
        CU_ASSERT_EQUAL(steals_on(&s, spawn_on_first), cases[i].pays);
        stage_finish(&s);
        begin_thefts(&s, cases[i].turn_ns, cases[i].messages);
        steal_one(&s);
        CU_ASSERT_EQUAL(steals_on(&s, queue_two_on_first), cases[i].pays);
        stage_finish(&s);
    }
}

/* promise D2 */
static void test_theft_that_pays_ends_the_row(void)
{
    static struct stage s;

    begin_thefts(&s, 0, 1);
    steal_one(&s);
    s.turn_ns = THEFT_NS_FIRST * 2;
    steal_one(&s);
    s.turn_ns = 0;
    CU_ASSERT_TRUE(steals_on(&s, queue_two_on_first));
    stage_finish(&s);
}

/* promise D2: a sleep is no part of what the last theft has brought. */
static void test_theft_is_judged_before_the_thread_sleeps(void)
{
    static struct stage s;

    begin_thefts(&s, 0, 1);
    steal_one(&s);
    stage_queue(&s, 1, 1);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    theft_end(dispatcher_executor(s.dispatcher, 1));
    stage_advance(&s, 1000 * THEFT_NS_FIRST);
    CU_ASSERT_FALSE(stage_step(&s, 1));
    CU_ASSERT_TRUE(press_is_exempt(dispatcher_executor(s.dispatcher, 0)));
    stage_finish(&s);
}

/* promise D2: where the CPUs are far apart, only longer messages are worth a theft. */
static void test_thefts_that_take_long_must_bring_longer_messages(void)
{
    static struct stage s;

    begin_thefts(&s, THEFT_NS_FIRST * 2, 1);
    s.read_ns = THEFT_NS_FIRST * 8;
    for (uint32_t i = 0; i < 16; i++) {
        stage_relieve(&s);
        steal_one(&s);
    }
    s.read_ns = 0;
    stage_relieve(&s);
    steal_one(&s);
    CU_ASSERT_FALSE(steals_on(&s, queue_two_on_first));
    stage_finish(&s);
}

/* promise D2, D18: an exempt thread is left alone, but not for long. */
static void test_exempt_thread_is_left_alone_for_some_beats(void)
{
    struct theft_note note = { 0 };
    static struct stage s;
    struct executor *executor;

    stage_begin(&s);
    stage_relieve(&s);
    executor = dispatcher_executor(s.dispatcher, 0);
    press_exempt(executor);
    atomic_fetch_add(&s.dispatcher->beat, EXEMPT_BEATS - 1);
    stage_queue(&s, 1, 1);
    CU_ASSERT_FALSE(theft_is_work_waiting(s.dispatcher));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_FALSE(stage_step(&s, 1));
    atomic_fetch_add(&s.dispatcher->beat, 1);
    CU_ASSERT_TRUE(theft_is_work_waiting(s.dispatcher));
    CU_ASSERT_TRUE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    stage_finish(&s);
}

static void test_spawned_job_that_waits_is_seen_at_the_second_look(void)
{
    struct theft_note note = { 0 };
    static struct stage s;
    struct executor *executor;

    stage_begin(&s);
    executor = dispatcher_executor(s.dispatcher, 0);
    spawn_on_first(&s);
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(theft_has_waited(&note, executor));
    while (stage_step(&s, 0))
        ;
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    stage_finish(&s);
}

static void test_queue_that_stands_still_is_seen_at_the_second_look(void)
{
    struct theft_note note = { 0 };
    static struct stage s;
    struct executor *executor;

    stage_begin(&s);
    executor = dispatcher_executor(s.dispatcher, 0);
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    stage_queue(&s, 1, 1);
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(stage_step(&s, 0));
    CU_ASSERT_TRUE(stage_step(&s, 0));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    stage_finish(&s);
}

/* --- waking --------------------------------------------------------------------------------- */

/* Takes turns of the same length until there is a mean; then queues the others. */
static enum turn work(struct job *job, struct executor *executor)
{
    stage_advance(job->stage, job->stage->turn_ns);
    return atomic_load(&job->runs) < TURNS ? TURN_AGAIN : stage_scatter(job, executor);
}

/* Whether a thread that sleeps is woken when `count` turns of `turn_ns` are queued, while senders
 * lack room. */
static bool is_woken_for(uint32_t count, uint32_t turn_ns)
{
    static struct stage s;
    bool woken;

    stage_begin(&s);
    idle_park(&s.dispatcher->idle, 1, false);
    s.jobs[0].act = work;
    s.turn_ns = turn_ns;
    s.first = 1;
    s.last = 1 + count;
    executor_submit(&s.outside, s.dispatcher, &s.jobs[0].schedulable); /* this wakes it as well */
    (void)stage_step(&s, 0);
    CU_ASSERT_FALSE(idle_is_parked(&s.dispatcher->idle, 1));
    idle_park(&s.dispatcher->idle, 1, true);
    while (atomic_load(&s.jobs[0].runs) < TURNS)
        CU_ASSERT_TRUE_FATAL(stage_step(&s, 0));
    woken = !idle_is_parked(&s.dispatcher->idle, 1);
    while (stage_step(&s, 0))
        ;
    for (uint32_t i = 1; i <= 1 + count; i++)
        CU_ASSERT_EQUAL(s.jobs[i].runs, 1);
    stage_finish(&s);
    return woken;
}

/* promise D18 */
static void test_sleeping_thread_is_woken_for_a_backlog_that_is_worth_it(void)
{
    CU_ASSERT_TRUE(is_woken_for(10, THEFT_AGE_NS / 10));
    CU_ASSERT_TRUE(is_woken_for(2, THEFT_AGE_NS));
}

/* promise D18 */
static void test_sleeping_thread_is_not_woken_for_a_backlog_of_little_worth(void)
{
    CU_ASSERT_FALSE(is_woken_for(9, THEFT_AGE_NS / 10));
    CU_ASSERT_FALSE(is_woken_for(10, 1000));
}

/* promise D18 */
static void test_sleeping_thread_is_woken_for_any_backlog_while_no_sender_lacks_room(void)
{
    static struct stage s;

    stage_begin(&s);
    s.jobs[0].act = work;
    s.turn_ns = 1000;
    s.first = 1;
    s.last = 2;
    stage_submit(&s, 0);
    while (atomic_load(&s.jobs[0].runs) < TURNS - 1)
        CU_ASSERT_TRUE_FATAL(stage_step(&s, 0));
    stage_relieve(&s);
    idle_park(&s.dispatcher->idle, 1, false);
    CU_ASSERT_TRUE(stage_step(&s, 0));
    CU_ASSERT_FALSE(idle_is_parked(&s.dispatcher->idle, 1));
    stage_finish(&s);
}

/* What is not known counts as long. */
static void test_sleeping_thread_is_woken_while_the_pace_is_not_known(void)
{
    static struct stage s;

    stage_begin(&s);
    stage_submit(&s, 15);
    CU_ASSERT_TRUE(stage_step(&s, 0));
    idle_park(&s.dispatcher->idle, 1, false);
    s.first = 1;
    s.last = 2;
    s.jobs[0].act = stage_scatter;
    global_queue_push(&s.dispatcher->global, &s.jobs[0].schedulable); /* wakes nobody */
    CU_ASSERT_TRUE(stage_step(&s, 0));
    CU_ASSERT_FALSE(idle_is_parked(&s.dispatcher->idle, 1));
    stage_finish(&s);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "ring", test_ready_job_is_stolen_when_it_has_waited_and_not_before },
        { "younger", test_jobs_that_came_after_the_look_are_left },
        { "at once", test_ready_job_is_stolen_at_once_while_no_sender_lacks_room },
        { "spawned", test_oldest_spawned_job_is_stolen_at_once_while_no_sender_lacks_room },
        { "spawned later", test_oldest_spawned_job_is_stolen_when_it_has_waited_and_not_before },
        { "did not pay", test_thread_is_exempt_after_thefts_that_did_not_pay },
        { "in a row", test_theft_that_pays_ends_the_row },
        { "before sleep", test_theft_is_judged_before_the_thread_sleeps },
        { "far apart", test_thefts_that_take_long_must_bring_longer_messages },
        { "exempt", test_exempt_thread_is_left_alone_for_some_beats },
        { "spawned waits", test_spawned_job_that_waits_is_seen_at_the_second_look },
        { "still", test_queue_that_stands_still_is_seen_at_the_second_look },
        { "worth", test_sleeping_thread_is_woken_for_a_backlog_that_is_worth_it },
        { "not worth", test_sleeping_thread_is_not_woken_for_a_backlog_of_little_worth },
        { "any", test_sleeping_thread_is_woken_for_any_backlog_while_no_sender_lacks_room },
        { "not known", test_sleeping_thread_is_woken_while_the_pace_is_not_known },
        CU_TEST_INFO_NULL,
    };

    return suite_run("theft", tests);
}
