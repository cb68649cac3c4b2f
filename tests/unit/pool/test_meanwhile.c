/* SPDX-License-Identifier: MIT */
/*
 * Goal: a message that comes to the queue of a pool after its workers have left is refused,
 * although its sender found the pool open: no worker would handle it.
 *
 * Method: the sender is held where it waits for the mutex of the queue, by a replacement of
 * pthread_mutex_lock (--wrap), until the pool has closed and its workers with it. Senders that meet
 * a resize or a close at any other instruction: tests/linear/test_linear_steps.c.
 */
#include <pthread.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    int first;   /* the answer to a sender that nobody holds */
    int delayed; /* to the sender that is held */
};

/* Holds a thread that has asked for it, once. */
static struct gate at_mutex;
static _Thread_local bool stops_at_mutex;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (stops_at_mutex) {
        stops_at_mutex = false;
        (void)gate_pass(&at_mutex);
    }
    return __real_pthread_mutex_lock(mutex);
}

static void begin(struct fixture *f)
{
    struct pool_options options = { .size = 1, .settings.route = WEIR_ROUTE_PULL };

    *f = (struct fixture){ .probe = probe_create() };
    rig_init(&f->rig, 3, 0);
    gate_init(&at_mutex);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE_FATAL(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.accepted, 1);
    CU_ASSERT_EQUAL(ledger.done, 1);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    gate_finish(&at_mutex);
}

/* The first message makes what a thread from outside needs; the second one meets the mutex of the
 * queue first. */
static void *send_two(void *argument)
{
    const struct order order = { .act = probe_done };
    struct fixture *f = argument;

    f->first = rig_send(&f->rig, f->pool->pid, order);
    stops_at_mutex = true;
    f->delayed = rig_send(&f->rig, f->pool->pid, order);
    return NULL;
}

static bool have_closed(void *context)
{
    struct probe *probe = context;

    return atomic_load(&probe->closed) == atomic_load(&probe->opened);
}

/* promises P8 and P12 */
static void test_what_comes_to_the_queue_after_the_workers_have_left_is_refused(void)
{
    struct fixture f;
    pthread_t sender;

    begin(&f);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&sender, NULL, send_two, &f), 0);
    CU_ASSERT_TRUE(gate_await(&at_mutex, 1));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_closed, f.probe));
    gate_open(&at_mutex);
    pthread_join(sender, NULL);
    CU_ASSERT_EQUAL(f.first, 0);
    CU_ASSERT_EQUAL(f.delayed, WEIR_ECLOSED);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "closed", test_what_comes_to_the_queue_after_the_workers_have_left_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("meanwhile", tests);
}
