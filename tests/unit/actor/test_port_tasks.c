/* SPDX-License-Identifier: MIT */
/*
 * Goal: a plugin's own threads wait for room, await several answers, submit tasks, and wait for
 * groups and idle pools through a port, and a wait does not outlive the runtime.
 *
 * Method: a worker hands out its port; a pool of tasks of one worker stands at a gate; the thread
 * of the test is one from outside.
 */
#include <pthread.h>
#include <string.h>

#include "actor/wait_queue.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

#define OWNERS_LIMIT 8u

struct fixture {
    struct rig rig;
    struct probe *probe;  /* of the worker with the port */
    struct probe *runner; /* of the pool of tasks; its gate is that of the tasks */
    struct pool *owners;
    struct pool *tasks;
    struct weir_port *port; /* counted */
    _Atomic uint32_t ran;
    _Atomic int seen; /* by a task or a thread: a status */
};

static int open_port(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    f->port = weir_port(self);
    return f->port ? 0 : WEIR_ENOMEM;
}

static void begin(struct fixture *f, uint32_t limit)
{
    *f = (struct fixture){ .probe = probe_create(), .runner = probe_create() };
    f->probe->opens = open_port;
    f->probe->context = f;
    f->runner->behaviour.handle = weir_task_handle;
    rig_init(&f->rig, 2, 0);
    f->owners = rig_workers(&f->rig, f->probe, "owners", 1, OWNERS_LIMIT);
    f->tasks = rig_workers(&f->rig, f->runner, "tasks", 1, limit);
}

static void end_pools(struct fixture *f)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->tasks, &ledger));
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead + ledger.moved);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->owners, NULL));
    CU_ASSERT_EQUAL(weir_port_submit(f->port, 1, NULL, NULL, 0), WEIR_ECLOSED);
}

static void free_all(struct fixture *f)
{
    rig_finish(&f->rig);
    weir_port_unref(f->port);
    probe_destroy(f->probe);
    probe_destroy(f->runner);
}

static void finish(struct fixture *f)
{
    end_pools(f);
    free_all(f);
}

static int count(struct weir_task *task, void *argument)
{
    (void)task;
    atomic_fetch_add(&((struct fixture *)argument)->ran, 1);
    return 0;
}

static int fail_with_7(struct weir_task *task, void *argument)
{
    (void)task;
    (void)argument;
    return 7;
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_KEEP;
}

/* Sees whether it is wanted once it may go on. */
static int wait_at_gate(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)gate_pass(&f->runner->gate);
    atomic_store(&f->seen, weir_task_is_wanted(task) ? 1 : 2);
    return 0;
}

/* One task is at the gate. */
static void hold(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_port_submit(f->port, f->tasks->pid, wait_at_gate, f, 0), 0);
    CU_ASSERT_TRUE(gate_await(&f->runner->gate, 1));
}

static struct weir_message *order_through(struct weir_port *port, struct order order)
{
    struct weir_message *message = weir_port_message_new(port, NULL, sizeof order);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    memcpy(message->data, &order, sizeof order);
    return message;
}

/* --- tasks ---------------------------------------------------------------------------------- */

/* promise A25 */
static void test_thread_submits_tasks(void)
{
    struct weir_task_call calls[6];
    uint32_t accepted = 99;
    struct fixture f;
    weir_pid pool;

    begin(&f, 4);
    pool = f.tasks->pid;
    hold(&f);
    for (uint32_t i = 0; i < 6; i++)
        calls[i] = (struct weir_task_call){ count, &f };
    CU_ASSERT_EQUAL(weir_port_submit(f.port, pool, NULL, &f, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_port_submit(f.port, 12345, count, &f, 0), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_port_submit_many(f.port, pool, calls, 6, 0, &accepted), WEIR_EFULL);
    CU_ASSERT_EQUAL(accepted, 4);
    CU_ASSERT_EQUAL(weir_port_submit(f.port, pool, count, &f, 1), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, pool, 1), WEIR_ETIMEOUT);
    gate_open(&f.runner->gate);
    CU_ASSERT_EQUAL(weir_port_submit_many(f.port, pool, calls, 6, WEIR_FOR_EVER, &accepted), 0);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, 12345, 0), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 10);
    finish(&f);
}

/* promise A25 */
static void test_thread_looks_a_pool_up(void)
{
    struct fixture f;
    weir_pid pool = 0;

    begin(&f, 4);
    CU_ASSERT_EQUAL(weir_port_lookup(f.port, "elsewhere", &pool), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_port_lookup(f.port, "tasks", &pool), 0);
    CU_ASSERT_EQUAL(pool, f.tasks->pid);
    end_pools(&f);
    CU_ASSERT_EQUAL(weir_port_lookup(f.port, "tasks", &pool), WEIR_ECLOSED);
    free_all(&f);
}

/* promise A25 */
static void test_thread_gets_the_result_of_a_task(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference = 0;
    struct fixture f;
    weir_pid pool;
    int result = 1;

    begin(&f, 4);
    pool = f.tasks->pid;
    CU_ASSERT_EQUAL(weir_port_submit_wait(f.port, pool, count, &f, WEIR_FOR_EVER, &result), 0);
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(
        weir_port_submit_request(f.port, pool, fail_with_7, &f, WEIR_FOR_EVER, &reference), 0);
    CU_ASSERT_EQUAL(weir_port_await(f.port, reference, &answer), 0);
    CU_ASSERT_EQUAL(weir_task_result(&answer), 7);
    weir_port_message_free(f.port, answer.message);
    hold(&f);
    CU_ASSERT_EQUAL(weir_port_submit_request(f.port, pool, count, &f, WEIR_FOR_EVER, &reference),
                    0);
    CU_ASSERT_EQUAL(weir_port_cancel(f.port, reference), 0);
    CU_ASSERT_EQUAL(weir_port_cancel(f.port, reference), WEIR_EUNKNOWN);
    gate_open(&f.runner->gate);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 1); /* the last one did not begin */
    finish(&f);
}

/* promise A25: an answer that nobody fetched before the port closed can still be freed. */
static void test_reference_of_a_closed_port_is_cancelled(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference = 0;
    struct fixture f;

    begin(&f, 4);
    CU_ASSERT_EQUAL(
        weir_port_submit_request(f.port, f.tasks->pid, count, &f, WEIR_FOR_EVER, &reference), 0);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, f.tasks->pid, wait_limit_ms()), 0);
    end_pools(&f);
    CU_ASSERT_EQUAL(weir_port_await(f.port, reference, &answer), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_cancel(f.port, reference), 0);
    CU_ASSERT_EQUAL(weir_port_cancel(f.port, reference), WEIR_EUNKNOWN);
    free_all(&f);
}

/* promise A25: the copies of a broadcast would share the argument of a task. */
static void test_pool_that_broadcasts_takes_no_task(void)
{
    struct weir_port_group *group;
    struct pool *wide;
    struct spec *spec;
    struct fixture f;

    begin(&f, 4);
    spec = rig_spec(f.runner);
    wide = rig_pool(&f.rig, &(struct pool_options){ .path = "wide",
                                                    .spec = spec,
                                                    .size = 2,
                                                    .settings.mailbox = 4,
                                                    .settings.route = WEIR_ROUTE_BROADCAST });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wide);
    CU_ASSERT_TRUE(rig_settled(&f.rig, wide));
    CU_ASSERT_EQUAL(weir_port_submit(f.port, wide->pid, count, &f, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL_FATAL(weir_port_group_create(f.port, 0, &group), 0);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, wide->pid, count, &f, 0), WEIR_EINVALID);
    weir_port_group_destroy(group);
    CU_ASSERT_TRUE(rig_end(&f.rig, wide, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    finish(&f);
}

/* promise A25: a message that is no task does not reach a function, and a dead task has no payload,
 * so it cannot be replayed. */
static void test_pool_of_tasks_refuses_other_messages(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct fixture f;
    int result = 0;

    begin(&f, 4);
    CU_ASSERT_EQUAL(weir_port_request(f.port, f.tasks->pid,
                                      order_through(f.port, (struct order){ 0 }), UINT64_MAX,
                                      &answer),
                    WEIR_EREJECTED);
    CU_ASSERT_STRING_EQUAL(answer.detail, "it is no task");
    CU_ASSERT_EQUAL(
        weir_port_submit_wait(f.port, f.tasks->pid, fail_with_7, &f, WEIR_FOR_EVER, &result), 0);
    CU_ASSERT_EQUAL(result, 7);
    finish(&f);
}

static int wait_inside(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;
    struct weir_answer answer = WEIR_ANSWER;
    weir_pid pool = f->tasks->pid;
    uint32_t index;
    int result;

    (void)task;
    if (weir_port_submit(f->port, pool, count, f, 0) == 0 &&
        weir_port_submit(f->port, pool, count, f, 1) == WEIR_EDEADLK &&
        weir_port_submit_wait(f->port, pool, count, f, 1, &result) == WEIR_EDEADLK &&
        weir_port_await(f->port, 1, &answer) == WEIR_EDEADLK &&
        weir_port_await_any(f->port, NULL, 0, 1, &index, &answer) == WEIR_EDEADLK &&
        weir_port_wait_idle(f->port, pool, 1) == WEIR_EDEADLK)
        atomic_store(&f->seen, 3);
    return 0;
}

/* promise A25 */
static void test_task_submits_through_the_port_without_waiting(void)
{
    struct fixture f;

    begin(&f, 4);
    CU_ASSERT_EQUAL(weir_port_submit(f.port, f.tasks->pid, wait_inside, &f, 0), 0);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, f.tasks->pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 1);
    finish(&f);
}

/* --- groups --------------------------------------------------------------------------------- */

/* promise A25 */
static void test_group_of_a_port_counts_and_cancels(void)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_port_group *group = NULL;
    struct fixture f;
    weir_pid pool;

    begin(&f, 16);
    pool = f.tasks->pid;
    CU_ASSERT_EQUAL(weir_port_group_create(f.port, 1u << 7, &group), WEIR_EINVALID);
    CU_ASSERT_EQUAL_FATAL(weir_port_group_create(f.port, 0, &group), 0);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, pool, wait_at_gate, &f, 0), 0);
    CU_ASSERT_TRUE(gate_await(&f.runner->gate, 1));
    CU_ASSERT_EQUAL(weir_port_group_send(group, f.owners->pid,
                                         order_through(f.port, (struct order){ .id = 5 }), 0),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 5, 1));
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(weir_port_group_submit(group, pool, count, &f, WEIR_FOR_EVER), 0);
    CU_ASSERT_EQUAL(weir_port_group_wait(group, 1, &ended), WEIR_ETIMEOUT);
    CU_ASSERT_TRUE(ended.open >= 5);
    weir_port_group_cancel(group);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, pool, count, &f, 0), WEIR_ECANCELLED);
    gate_open(&f.runner->gate);
    CU_ASSERT_EQUAL(weir_port_group_wait(group, WEIR_FOR_EVER, &ended), 0);
    CU_ASSERT_EQUAL(ended.done, 2);
    CU_ASSERT_EQUAL(ended.cancelled, 4);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    weir_port_group_destroy(group);
    weir_port_group_destroy(NULL);
    finish(&f);
}

/* promise A25 */
static void test_first_failure_cancels_a_group_of_a_port(void)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_port_group *group = NULL;
    struct fixture f;

    begin(&f, 16);
    hold(&f);
    CU_ASSERT_EQUAL_FATAL(weir_port_group_create(f.port, WEIR_GROUP_FIRST_ERROR, &group), 0);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, f.tasks->pid, fail_with_7, &f, 0), 0);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, f.tasks->pid, count, &f, 0), 0);
    gate_open(&f.runner->gate);
    CU_ASSERT_EQUAL(weir_port_group_wait(group, WEIR_FOR_EVER, &ended), 0);
    CU_ASSERT_EQUAL(ended.first_error, 7);
    CU_ASSERT_EQUAL(ended.failed, 1);
    CU_ASSERT_EQUAL(ended.cancelled, 1);
    weir_port_group_destroy(group);
    finish(&f);
}

/* --- waits ---------------------------------------------------------------------------------- */

/* promise A25 */
static void test_thread_awaits_the_first_of_several_answers(void)
{
    struct weir_answer answers[2] = { WEIR_ANSWER, WEIR_ANSWER };
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t references[2];
    uint32_t index = 99;
    int statuses[2];
    struct fixture f;

    begin(&f, 4);
    hold(&f);
    CU_ASSERT_EQUAL(
        weir_port_submit_request(f.port, f.tasks->pid, count, &f, WEIR_FOR_EVER, &references[0]),
        0);
    CU_ASSERT_EQUAL(weir_port_await_any(f.port, references, 1, 1, &index, &answer), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(index, 1);
    CU_ASSERT_EQUAL(
        weir_port_begin_wait(f.port, f.owners->pid,
                             order_through(f.port, (struct order){ .act = probe_reply, .id = 5 }),
                             WEIR_FOR_EVER, &references[1]),
        0);
    CU_ASSERT_EQUAL(weir_port_await_any(f.port, references, 2, wait_limit_ms(), &index, &answer),
                    0);
    CU_ASSERT_EQUAL(index, 1);
    CU_ASSERT_EQUAL(probe_order(answer.message)->id, 1005);
    weir_port_message_free(f.port, answer.message);
    CU_ASSERT_EQUAL(
        weir_port_begin(f.port, f.owners->pid,
                        order_through(f.port, (struct order){ .act = probe_reply, .id = 6 }),
                        WEIR_FOR_EVER, &references[1]),
        0);
    gate_open(&f.runner->gate);
    CU_ASSERT_EQUAL(weir_port_await_all(f.port, references, 2, answers, statuses), 0);
    CU_ASSERT_EQUAL(weir_task_result(&answers[0]), 0);
    CU_ASSERT_EQUAL(probe_order(answers[1].message)->id, 1006);
    for (uint32_t i = 0; i < 2; i++)
        weir_port_message_free(f.port, answers[i].message);
    finish(&f);
}

static void *send_and_wait(void *context)
{
    struct fixture *f = context;
    struct weir_message *message = weir_port_message_new(f->port, NULL, sizeof(struct order));
    int status = weir_port_send_wait(f->port, f->tasks->pid, message, WEIR_FOR_EVER);

    if (status != 0)
        weir_port_message_free(f->port, message);
    atomic_store(&f->seen, status);
    return NULL;
}

/* promise A25 */
static void test_send_through_a_port_waits_for_room(void)
{
    pthread_t thread;
    struct fixture f;

    begin(&f, 1);
    hold(&f);
    CU_ASSERT_EQUAL(weir_port_submit(f.port, f.tasks->pid, count, &f, 0), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, send_and_wait, &f), 0);
    gate_open(&f.runner->gate);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), 0);
    CU_ASSERT_EQUAL(weir_port_wait_idle(f.port, f.tasks->pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(rig_dead(f.tasks, DEAD_REJECTED), 1);
    finish(&f);
}

/* --- the end of the runtime ----------------------------------------------------------------- */

struct waiting {
    struct fixture *f;
    struct weir_port_group *group;
    _Atomic int statuses[4];
};

static int wait_for_room(struct fixture *f, weir_pid to)
{
    struct weir_message *message = order_through(f->port, (struct order){ 0 });
    int status = weir_port_send_wait(f->port, to, message, WEIR_FOR_EVER);

    weir_port_message_free(f->port, message);
    return status;
}

static void *wait_for_the_worker(void *context)
{
    struct waiting *waiting = context;

    atomic_store(&waiting->statuses[0], wait_for_room(waiting->f, 0));
    return NULL;
}

static void *wait_for_the_pool(void *context)
{
    struct waiting *waiting = context;

    atomic_store(&waiting->statuses[3], wait_for_room(waiting->f, waiting->f->owners->pid));
    return NULL;
}

static void *wait_for_the_group(void *context)
{
    struct waiting *waiting = context;

    atomic_store(&waiting->statuses[1], weir_port_group_wait(waiting->group, WEIR_FOR_EVER, NULL));
    return NULL;
}

static void *wait_until_idle(void *context)
{
    struct waiting *waiting = context;
    struct fixture *f = waiting->f;

    atomic_store(&waiting->statuses[2],
                 weir_port_wait_idle(f->port, f->owners->pid, WEIR_FOR_EVER));
    return NULL;
}

/* All threads are in their waits. */
static bool all_wait(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->rig.runtime->holds) == 4 &&
           atomic_load(&f->rig.runtime->idle_waits) == 1 && wait_queue_any(&f->owners->waiters);
}

/* Nothing was ended: the parts are destroyed with messages that never began. */
static void destroy_everything(struct fixture *f)
{
    struct pool *pools[] = { f->owners, f->tasks };
    struct executor *executor;

    CU_ASSERT_EQUAL(runtime_stop(f->rig.runtime), 0);
    executor = runtime_enter(f->rig.runtime);
    for (size_t i = 0; i < 2; i++)
        pool_destroy(pools[i], executor);
    runtime_leave(executor);
    runtime_destroy(f->rig.runtime);
}

/* promise A25: the worker keeps a message of the group, and its mailbox is full, while threads wait
 * for room there, for the group, and for the pool to be idle. */
static void test_waits_end_with_the_runtime(void)
{
    void *(*const waits[])(void *) = { wait_for_the_worker, wait_for_the_group, wait_until_idle,
                                       wait_for_the_pool };
    struct waiting waiting = { 0 };
    pthread_t threads[4];
    struct fixture f;

    begin(&f, 1);
    waiting.f = &f;
    CU_ASSERT_EQUAL_FATAL(weir_port_group_create(f.port, 0, &waiting.group), 0);
    CU_ASSERT_EQUAL(weir_port_group_send(waiting.group, f.owners->pid,
                                         order_through(f.port, (struct order){ keep, 1, 0 }), 0),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    for (uint32_t sent = 0; sent < OWNERS_LIMIT;) /* the first message gives its place back */
        sent += rig_send(&f.rig, f.owners->pid, (struct order){ 0 }) == 0;
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, waits[i], &waiting), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, all_wait, &f));
    destroy_everything(&f);
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(atomic_load(&waiting.statuses[i]), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_group_wait(waiting.group, 0, NULL), WEIR_ECLOSED);
    weir_port_group_destroy(waiting.group);
    weir_port_unref(f.port);
    probe_destroy(f.probe);
    probe_destroy(f.runner);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "submit", test_thread_submits_tasks },
        { "lookup", test_thread_looks_a_pool_up },
        { "result", test_thread_gets_the_result_of_a_task },
        { "closed port", test_reference_of_a_closed_port_is_cancelled },
        { "broadcast", test_pool_that_broadcasts_takes_no_task },
        { "other messages", test_pool_of_tasks_refuses_other_messages },
        { "inside", test_task_submits_through_the_port_without_waiting },
        { "group", test_group_of_a_port_counts_and_cancels },
        { "first failure", test_first_failure_cancels_a_group_of_a_port },
        { "several", test_thread_awaits_the_first_of_several_answers },
        { "room", test_send_through_a_port_waits_for_room },
        { "the end", test_waits_end_with_the_runtime },
        CU_TEST_INFO_NULL,
    };

    return suite_run("port_tasks", tests);
}
