/* SPDX-License-Identifier: MIT */
/*
 * Goal: figures of a group of lease pools stop nobody. While a reader waits for the lock of a pool
 * of the group, takers of the group go on, and so does the pool that holds that lock and looks at
 * the queue of its group. Shows promise L10.
 *
 * Method: the reader is held where it waits for the lock of the member, by a replacement of
 * pthread_mutex_lock (--wrap). A taker comes to the queue of the group meanwhile: the empty member
 * cannot serve it before it has looked at that queue, under its own lock, and grown.
 */
#include <pthread.h>

#include "face/leases.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *group;
    struct pool *member;
    struct weir_pool_stats stats; /* of the group, by the reader */
    struct weir_lease lease;
    _Atomic int taken; /* NOT_YET, or the answer */
};

#define NOT_YET 1

/* Holds a thread, once, at the mutex of its choice. */
static struct gate at_mutex;
static _Thread_local const pthread_mutex_t *stops_at;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (stops_at == mutex) {
        stops_at = NULL;
        (void)gate_pass(&at_mutex);
    }
    return __real_pthread_mutex_lock(mutex);
}

static void begin(struct fixture *f)
{
    struct pool_options group = {
        .path = "group", .settings = { .route = WEIR_ROUTE_ROUND_ROBIN, .lease = { true, 0, 8 } }
    };
    struct pool_options member = {
        .path = "group/member",
        .settings = { .route = WEIR_ROUTE_PULL,
                      .size_max = 1,
                      .lease = { true, 0, 8 },
                      .scale = { .on = true, .wait_ms = 0, .idle_ms = 60000 } },
    };

    *f = (struct fixture){ .probe = probe_create(), .taken = NOT_YET };
    rig_init(&f->rig, 2, 0);
    gate_init(&at_mutex);
    f->group = rig_pool(&f->rig, &group);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->group);
    member.parent = f->group;
    member.spec = rig_spec(f->probe);
    f->member = rig_pool(&f->rig, &member);
    spec_unref(member.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->member);
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;
    struct executor *executor;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->group, &ledger));
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead + ledger.moved);
    executor = runtime_enter(f->rig.runtime);
    pool_destroy(f->member, executor);
    runtime_leave(executor);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    gate_finish(&at_mutex);
}

static void *read_figures(void *argument)
{
    struct fixture *f = argument;

    stops_at = &f->member->lock.mutex;
    f->stats = rig_stats(f->group);
    return NULL;
}

static void *take(void *argument)
{
    struct fixture *f = argument;
    int status = runtime_take_wait(f->rig.runtime, NULL, f->group->pid, 60000, &f->lease);

    atomic_store(&f->taken, status);
    return NULL;
}

static bool is_taken(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->taken) != NOT_YET;
}

/* promise L10 */
static void test_reader_that_waits_for_a_pool_of_a_group_stops_nobody(void)
{
    pthread_t reader, taker;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_figures, &f), 0);
    CU_ASSERT_TRUE(gate_await(&at_mutex, 1));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&taker, NULL, take, &f), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_taken, &f));
    gate_open(&at_mutex);
    pthread_join(reader, NULL);
    pthread_join(taker, NULL);
    CU_ASSERT_EQUAL(atomic_load(&f.taken), 0);
    CU_ASSERT_EQUAL(f.stats.live, 1); /* it grew while the reader waited */
    CU_ASSERT_EQUAL(f.stats.accepted, f.stats.done + f.stats.queued + f.stats.in_hand);
    CU_ASSERT_EQUAL(runtime_lease_return(f.rig.runtime, LEASE_OF_PROGRAM, &f.lease, WEIR_DONE), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reader", test_reader_that_waits_for_a_pool_of_a_group_stops_nobody },
        CU_TEST_INFO_NULL,
    };

    return suite_run("figures_meanwhile", tests);
}
