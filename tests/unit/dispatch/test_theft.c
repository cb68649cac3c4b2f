/*
 * Goal: where senders lack room, and where thefts do not pay, a thread steals
 * only actors that have waited for some time, and is woken only for enough work; elsewhere it
 * steals and is woken at once. A thread whose work is only refused senders steals from the other
 * threads, and in the end leaves its senders to them. No work stays undone.
 *
 * Method: a clock that only the test moves. Mostly executors without threads, of which the test
 * takes the steps, with one that is noted as parked where a wake-up is to be seen. Then threads
 * that are held inside a turn while the clock moves, without a timekeeper.
 */
#include "dispatch/theft.h"

#include <sched.h>
#include <stdlib.h>

#include "dispatch/dispatcher.h"
#include "dispatch/press.h"
#include "dispatch/schedulable.h"
#include "unit/host/suite.h"
#include "unit/support/gate.h"

#define JOBS 16u
#define START_NS 1000000000u
#define TURNS 200u      /* enough for a mean: every 61st take looks at the clock */
#define STEPS_MAX 1000u /* a theft needs two rounds */
#define TRIES_MAX 5000000u

struct stage;

struct job {
    struct schedulable schedulable; /* first */
    struct stage *stage;
    enum turn (*act)(struct job *job, struct executor *executor);
    _Atomic uint32_t runs;
    _Atomic uint32_t ran_on; /* the index of its last thread */
};

struct stage {
    struct reclaim reclaim;
    struct dispatcher *dispatcher;
    struct executor outside;
    _Atomic uint64_t now_ns;
    struct job jobs[JOBS];
    uint32_t first, last; /* of the jobs that `scatter` queues */
    uint32_t turn_ns;     /* of `work` */
    struct gate gate;
    _Atomic bool has_room;
};

static uint64_t now_ns(void *context)
{
    return atomic_load((_Atomic uint64_t *)context);
}

static void advance(struct stage *stage, uint64_t ns)
{
    atomic_fetch_add(&stage->now_ns, ns);
}

static enum turn run(struct schedulable *schedulable, struct executor *executor)
{
    struct job *job = (struct job *)(void *)schedulable;

    atomic_store(&job->ran_on, executor->index);
    atomic_fetch_add(&job->runs, 1);
    return job->act(job, executor);
}

static enum turn finish_turn(struct job *job, struct executor *executor)
{
    (void)job;
    (void)executor;
    return TURN_IDLE;
}

static void begin(struct stage *stage)
{
    struct dispatcher_options options = { .name = "stage",
                                          .threads = 2,
                                          .reclaim = &stage->reclaim,
                                          .clock = { now_ns, (void *)&stage->now_ns } };

    *stage = (struct stage){ .now_ns = START_NS };
    reclaim_init(&stage->reclaim);
    gate_init(&stage->gate);
    CU_ASSERT_EQUAL_FATAL(dispatcher_create(&options, &stage->dispatcher), 0);
    CU_ASSERT_EQUAL(executor_init(&stage->outside, NULL, NULL, &stage->reclaim, options.clock), 0);
    for (uint32_t i = 0; i < JOBS; i++)
        stage->jobs[i] = (struct job){ .schedulable = { .run = run },
                                       .stage = stage,
                                       .act = finish_turn };
    press_begin(dispatcher_executor(stage->dispatcher, 0));
    press_begin(dispatcher_executor(stage->dispatcher, 1));
}

/* No sender has lacked room lately. */
static void relieve(struct stage *stage)
{
    atomic_fetch_add(&stage->dispatcher->beat, PRESS_BEATS);
}

static void finish(struct stage *stage)
{
    dispatcher_signal_stop(stage->dispatcher);
    CU_ASSERT_EQUAL(dispatcher_join(stage->dispatcher), 0);
    dispatcher_destroy(stage->dispatcher);
    executor_finish(&stage->outside);
    gate_finish(&stage->gate);
    reclaim_finish(&stage->reclaim);
}

static void submit(struct stage *stage, uint32_t index)
{
    executor_submit(&stage->outside, stage->dispatcher, &stage->jobs[index].schedulable);
}

static bool step(struct stage *stage, uint32_t thread)
{
    return executor_step(dispatcher_executor(stage->dispatcher, thread));
}

/* Queues some jobs, and one more in the slot of what runs next, which nobody steals. */
static enum turn scatter(struct job *job, struct executor *executor)
{
    struct stage *stage = job->stage;

    for (uint32_t i = stage->first; i <= stage->last; i++)
        executor_submit(executor, stage->dispatcher, &stage->jobs[i].schedulable);
    return TURN_IDLE;
}

/* Has the first thread queue `count` jobs in its ring, the first of them `first`. */
static void queue_on_first(struct stage *stage, uint32_t first, uint32_t count)
{
    stage->first = first;
    stage->last = first + count;
    stage->jobs[0].act = scatter;
    submit(stage, 0);
    CU_ASSERT_TRUE(step(stage, 0));
}

/* --- thieves -------------------------------------------------------------------------------- */

/* promise D2 */
static void test_ready_job_is_stolen_when_it_has_waited_and_not_before(void)
{
    static struct stage s;

    begin(&s);
    queue_on_first(&s, 1, 1);
    CU_ASSERT_FALSE(step(&s, 1)); /* the thief sees it */
    advance(&s, THEFT_AGE_NS - 1);
    CU_ASSERT_FALSE(step(&s, 1));
    advance(&s, 1);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].runs, 1);
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    finish(&s);
}

/* promise D2 */
static void test_jobs_that_came_after_the_look_are_left(void)
{
    static struct stage s;

    begin(&s);
    queue_on_first(&s, 1, 1);
    CU_ASSERT_FALSE(step(&s, 1));
    s.jobs[2].act = scatter; /* the one in the slot: four more behind the first */
    s.first = 3;
    s.last = 7;
    CU_ASSERT_TRUE(step(&s, 0));
    advance(&s, THEFT_AGE_NS);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_FALSE(step(&s, 1)); /* half of five would be three */
    while (step(&s, 0))
        ;
    for (uint32_t i = 3; i <= 7; i++)
        CU_ASSERT_EQUAL(s.jobs[i].runs, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    finish(&s);
}

/* promise D2: no sender lacked room, so that actors may run apart. */
static void test_ready_job_is_stolen_at_once_while_no_sender_lacks_room(void)
{
    static struct stage s;

    begin(&s);
    relieve(&s);
    queue_on_first(&s, 1, 1);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    finish(&s);
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
    submit(stage, 0);
    CU_ASSERT_TRUE(step(stage, 0));
}

/* promise D2 */
static void test_oldest_spawned_job_is_stolen_at_once_while_no_sender_lacks_room(void)
{
    static struct stage s;

    begin(&s);
    relieve(&s);
    spawn_on_first(&s);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_TRUE(step(&s, 0));
    CU_ASSERT_EQUAL(s.jobs[2].ran_on, 0);
    finish(&s);
}

/* promise D2 */
static void test_oldest_spawned_job_is_stolen_when_it_has_waited_and_not_before(void)
{
    static struct stage s;

    begin(&s);
    spawn_on_first(&s);
    CU_ASSERT_FALSE(step(&s, 1));
    advance(&s, THEFT_AGE_NS - 1);
    CU_ASSERT_FALSE(step(&s, 1));
    advance(&s, 1);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_FALSE(step(&s, 1)); /* the other one is seen for the first time */
    CU_ASSERT_TRUE(step(&s, 0));
    CU_ASSERT_EQUAL(s.jobs[2].ran_on, 0);
    finish(&s);
}

static enum turn take_time(struct job *job, struct executor *executor)
{
    (void)executor;
    advance(job->stage, job->stage->turn_ns);
    return TURN_IDLE;
}

/* Whether a thread that stole a job of `turn_ns`, after `failures` thefts that did not pay, steals
 * the next one at once. `make_two` makes the jobs 1 and 2 ready on the first thread. */
static bool goes_on_after(uint32_t failures, uint32_t turn_ns,
                          void (*make_two)(struct stage *stage))
{
    static struct stage s;
    bool goes_on;

    begin(&s);
    relieve(&s);
    s.turn_ns = turn_ns;
    s.jobs[1].act = take_time;
    dispatcher_executor(s.dispatcher, 1)->last_theft.failures = failures;
    make_two(&s);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    goes_on = step(&s, 1);
    while (step(&s, 0))
        ;
    CU_ASSERT_EQUAL(s.jobs[2].runs, 1);
    CU_ASSERT_EQUAL(s.jobs[2].ran_on, goes_on);
    finish(&s);
    return goes_on;
}

/* A thief takes half of them: one. */
static void queue_two_on_first(struct stage *stage)
{
    queue_on_first(stage, 1, 2);
}

/* promise D2 */
static void test_jobs_are_left_after_thefts_that_did_not_pay(void)
{
    const uint32_t last = THEFT_FAILURES - 1;

    CU_ASSERT_FALSE(goes_on_after(last, THEFT_PAYS_NS - 1, spawn_on_first));
    CU_ASSERT_FALSE(goes_on_after(last, THEFT_PAYS_NS - 1, queue_two_on_first));
    CU_ASSERT_TRUE(goes_on_after(last, THEFT_PAYS_NS, spawn_on_first));
    CU_ASSERT_TRUE(goes_on_after(last, THEFT_PAYS_NS, queue_two_on_first));
    CU_ASSERT_TRUE(goes_on_after(last - 1, THEFT_PAYS_NS - 1, spawn_on_first));
}

static void test_spawned_job_that_waits_is_seen_at_the_second_look(void)
{
    struct theft_note note = { 0 };
    static struct stage s;
    struct executor *executor;

    begin(&s);
    executor = dispatcher_executor(s.dispatcher, 0);
    spawn_on_first(&s);
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(theft_has_waited(&note, executor));
    while (step(&s, 0))
        ;
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    finish(&s);
}

static void test_queue_that_stands_still_is_seen_at_the_second_look(void)
{
    struct theft_note note = { 0 };
    static struct stage s;
    struct executor *executor;

    begin(&s);
    executor = dispatcher_executor(s.dispatcher, 0);
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    queue_on_first(&s, 1, 1);
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(theft_has_waited(&note, executor));
    CU_ASSERT_TRUE(step(&s, 0));
    CU_ASSERT_TRUE(step(&s, 0));
    CU_ASSERT_FALSE(theft_has_waited(&note, executor));
    finish(&s);
}

/* --- waking --------------------------------------------------------------------------------- */

/* Takes turns of the same length until there is a mean; then queues the others. */
static enum turn work(struct job *job, struct executor *executor)
{
    advance(job->stage, job->stage->turn_ns);
    return atomic_load(&job->runs) < TURNS ? TURN_AGAIN : scatter(job, executor);
}

/* Whether a thread that sleeps is woken when `count` turns of `turn_ns` are queued, while senders
 * lack room. */
static bool is_woken_for(uint32_t count, uint32_t turn_ns)
{
    static struct stage s;
    bool woken;

    begin(&s);
    idle_park(&s.dispatcher->idle, 1, false);
    s.jobs[0].act = work;
    s.turn_ns = turn_ns;
    s.first = 1;
    s.last = 1 + count;
    executor_submit(&s.outside, s.dispatcher, &s.jobs[0].schedulable); /* this wakes it as well */
    (void)step(&s, 0);
    CU_ASSERT_FALSE(idle_is_parked(&s.dispatcher->idle, 1));
    idle_park(&s.dispatcher->idle, 1, true);
    while (atomic_load(&s.jobs[0].runs) < TURNS)
        CU_ASSERT_TRUE_FATAL(step(&s, 0));
    woken = !idle_is_parked(&s.dispatcher->idle, 1);
    while (step(&s, 0))
        ;
    for (uint32_t i = 1; i <= 1 + count; i++)
        CU_ASSERT_EQUAL(s.jobs[i].runs, 1);
    finish(&s);
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

    begin(&s);
    s.jobs[0].act = work;
    s.turn_ns = 1000;
    s.first = 1;
    s.last = 2;
    submit(&s, 0);
    while (atomic_load(&s.jobs[0].runs) < TURNS - 1)
        CU_ASSERT_TRUE_FATAL(step(&s, 0));
    relieve(&s);
    idle_park(&s.dispatcher->idle, 1, false);
    CU_ASSERT_TRUE(step(&s, 0));
    CU_ASSERT_FALSE(idle_is_parked(&s.dispatcher->idle, 1));
    finish(&s);
}

/* What is not known counts as long. */
static void test_sleeping_thread_is_woken_while_the_pace_is_not_known(void)
{
    static struct stage s;

    begin(&s);
    submit(&s, 15);
    CU_ASSERT_TRUE(step(&s, 0));
    idle_park(&s.dispatcher->idle, 1, false);
    s.first = 1;
    s.last = 2;
    s.jobs[0].act = scatter;
    global_queue_push(&s.dispatcher->global, &s.jobs[0].schedulable); /* wakes nobody */
    CU_ASSERT_TRUE(step(&s, 0));
    CU_ASSERT_FALSE(idle_is_parked(&s.dispatcher->idle, 1));
    finish(&s);
}

/* --- refused senders ------------------------------------------------------------------------ */

static enum turn refused(struct job *job, struct executor *executor)
{
    if (atomic_load(&job->stage->has_room))
        return TURN_IDLE;
    executor_give_way(executor);
    return TURN_AGAIN;
}

/* promise D19: the second thread is never without work of its own. */
static void test_thread_of_refused_senders_takes_over_other_work(void)
{
    static struct stage s;
    uint32_t steps = 0;

    begin(&s);
    s.jobs[0].act = scatter;
    s.jobs[10].act = refused;
    s.jobs[11].act = refused;
    submit(&s, 10);
    submit(&s, 11);
    CU_ASSERT_TRUE(step(&s, 1));
    CU_ASSERT_TRUE(step(&s, 1));
    queue_on_first(&s, 1, 1);
    while (s.jobs[1].runs == 0 && steps++ < STEPS_MAX) {
        CU_ASSERT_TRUE(step(&s, 1));
        advance(&s, THEFT_AGE_NS / 10);
    }
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    finish(&s);
}

static enum turn hold(struct job *job, struct executor *executor)
{
    (void)executor;
    (void)gate_pass(&job->stage->gate);
    return TURN_IDLE;
}

/* Waits until so many threads are parked, while the clock moves. */
static bool parked_at_last(struct stage *stage, uint32_t count)
{
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        if (idle_parked_count(&stage->dispatcher->idle) == count)
            return true;
        advance(stage, 1000);
        sched_yield();
    }
    return false;
}

static bool runs_at_last(struct stage *stage, uint32_t index, uint32_t runs)
{
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        if (atomic_load(&stage->jobs[index].runs) >= runs)
            return true;
        advance(stage, 1000);
        sched_yield();
    }
    return false;
}

/* promise D19 */
static void test_refused_sender_waits_without_a_thread_until_there_is_room(void)
{
    static struct stage s;
    uint32_t runs;

    begin(&s);
    s.jobs[0].act = hold;
    s.jobs[1].act = refused;
    CU_ASSERT_EQUAL(dispatcher_start(s.dispatcher), 0);
    submit(&s, 0);
    CU_ASSERT_TRUE(gate_await(&s.gate, 1));
    submit(&s, 1);
    CU_ASSERT_TRUE(runs_at_last(&s, 1, 1));
    CU_ASSERT_TRUE(parked_at_last(&s, 1));
    runs = atomic_load(&s.jobs[1].runs);
    CU_ASSERT_EQUAL(global_queue_count(&s.dispatcher->global), 1);
    atomic_store(&s.has_room, true);
    gate_open(&s.gate); /* who made room runs on, and takes it */
    CU_ASSERT_TRUE(runs_at_last(&s, 1, runs + 1));
    finish(&s);
}

/* promise D19: a refused sender that no other thread would take goes on where it is. */
static void test_refused_sender_goes_on_while_all_other_threads_sleep(void)
{
    static struct stage s;

    begin(&s);
    s.jobs[1].act = refused;
    CU_ASSERT_EQUAL(dispatcher_start(s.dispatcher), 0);
    CU_ASSERT_TRUE(parked_at_last(&s, 2));
    submit(&s, 1);
    CU_ASSERT_TRUE(runs_at_last(&s, 1, TURNS));
    atomic_store(&s.has_room, true);
    CU_ASSERT_TRUE(parked_at_last(&s, 2));
    finish(&s);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "ring", test_ready_job_is_stolen_when_it_has_waited_and_not_before },
        { "younger", test_jobs_that_came_after_the_look_are_left },
        { "at once", test_ready_job_is_stolen_at_once_while_no_sender_lacks_room },
        { "spawned", test_oldest_spawned_job_is_stolen_at_once_while_no_sender_lacks_room },
        { "spawned later", test_oldest_spawned_job_is_stolen_when_it_has_waited_and_not_before },
        { "did not pay", test_jobs_are_left_after_thefts_that_did_not_pay },
        { "spawned waits", test_spawned_job_that_waits_is_seen_at_the_second_look },
        { "still", test_queue_that_stands_still_is_seen_at_the_second_look },
        { "worth", test_sleeping_thread_is_woken_for_a_backlog_that_is_worth_it },
        { "not worth", test_sleeping_thread_is_not_woken_for_a_backlog_of_little_worth },
        { "any", test_sleeping_thread_is_woken_for_any_backlog_while_no_sender_lacks_room },
        { "not known", test_sleeping_thread_is_woken_while_the_pace_is_not_known },
        { "takes over", test_thread_of_refused_senders_takes_over_other_work },
        { "waits", test_refused_sender_waits_without_a_thread_until_there_is_room },
        { "goes on", test_refused_sender_goes_on_while_all_other_threads_sleep },
        CU_TEST_INFO_NULL,
    };

    return suite_run("theft", tests);
}
