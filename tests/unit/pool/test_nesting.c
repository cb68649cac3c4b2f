/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool whose workers are replaced by nested pools, and back, keeps its identity: its PID,
 * its name, its counters. Senders see the one or the other, never neither; accepted messages are
 * finished. Shows promise R15.
 *
 * Method: changes that are prepared, committed or aborted while workers wait at a gate; notes show
 * the handlers, and the ledger of the pool is read.
 */
#include "pool/change.h"
#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 4u

struct fixture {
    struct rig rig;
    struct probe *workers;
    struct probe *nested;
    struct pool *pool;
    struct pool *child; /* NULL: there is none */
    weir_pid pid;
};

static void begin(struct fixture *f, struct pool_options options)
{
    struct spec *spec;

    *f = (struct fixture){ .workers = probe_create(), .nested = probe_create() };
    f->workers->act = probe_wait;
    rig_init(&f->rig, 4, 0);
    spec = rig_spec(f->workers);
    options.spec = spec;
    options.settings.mailbox = LIMIT;
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    f->pid = f->pool->pid;
}

static void destroy_child(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_TRUE(pool_has_ended(f->child));
    pool_destroy(f->child, executor);
    runtime_leave(executor);
    f->child = NULL;
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    gate_open(&f->workers->gate);
    gate_open(&f->nested->gate);
    CU_ASSERT_EQUAL(f->pool->pid, f->pid);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead + ledger.moved);
    if (f->child)
        destroy_child(f);
    CU_ASSERT_EQUAL(atomic_load(&f->workers->opened), atomic_load(&f->workers->closed));
    rig_finish(&f->rig);
    probe_destroy(f->workers);
    probe_destroy(f->nested);
}

/* A pool of one worker within `pool`, invisible so far. */
static void make_child(struct fixture *f)
{
    struct spec *spec = rig_spec(f->nested);
    struct pool_options options = { .path = "pool/one",
                                    .parent = f->pool,
                                    .apart = true,
                                    .spec = spec,
                                    .size = 1,
                                    .settings.mailbox = LIMIT };

    f->child = rig_pool(&f->rig, &options);
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->child);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->child));
    CU_ASSERT_EQUAL(pool_prepare_join(f->pool, 1), 0);
}

static bool is_prepared(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(context, &opening);
    return opening.starting == 0;
}

static struct pool_change *prepare(struct fixture *f, struct pool_change_options options)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change *change = NULL;

    options.settings.mailbox = LIMIT;
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE_FATAL(rig_wait(&f->rig, is_prepared, f->pool));
    return change;
}

static struct pool_change *prepare_pools(struct fixture *f)
{
    return prepare(f, (struct pool_change_options){ .nests = true, .joining = 1 });
}

static struct pool_change *prepare_workers(struct fixture *f, uint32_t size)
{
    struct spec *spec = rig_spec(f->workers);
    struct pool_change *change = prepare(
        f, (struct pool_change_options){ .spec = spec, .size = size });

    spec_unref(spec);
    return change;
}

static void commit(struct fixture *f, struct pool_change *change)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    if (f->child && !f->child->joined)
        pool_join(f->child, executor);
    pool_change_commit(change, executor);
    pool_show_joined(f->pool, executor);
    runtime_leave(executor);
}

static void turn_to_pools(struct fixture *f)
{
    make_child(f);
    commit(f, prepare_pools(f));
}

static int send(struct fixture *f, uint64_t id)
{
    return rig_send(&f->rig, f->pid, (struct order){ .id = id });
}

static void send_all(struct fixture *f, uint64_t first, uint64_t last)
{
    for (uint64_t id = first; id <= last; id++)
        CU_ASSERT_EQUAL(send(f, id), 0);
}

/* --- tests ---------------------------------------------------------------------------------- */

/* promise R15 */
static void test_workers_finish_beside_the_pools_that_come(void)
{
    struct pool_change *change;
    struct fixture f;
    weir_pid found = 0;

    begin(&f, (struct pool_options){ .size = 2 });
    send_all(&f, 1, 2);
    CU_ASSERT_TRUE(gate_await(&f.workers->gate, 2));
    send_all(&f, 3, 6);
    make_child(&f);
    change = prepare_pools(&f);
    send_all(&f, 7, 8); /* still to the workers */
    commit(&f, change);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 2);
    for (uint64_t id = 11; id <= 16; id++) {
        send_all(&f, id, id);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.nested, id, 1));
    }
    CU_ASSERT_EQUAL(names_find(&f.rig.runtime->names, "pool", &found), 0);
    CU_ASSERT_EQUAL(found, f.pid);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), WEIR_EINVALID);
    gate_open(&f.workers->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_count(f.workers), 8);
    CU_ASSERT_EQUAL(probe_count(f.nested), 6);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 0);
    finish(&f, 14);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

/* promise R15 */
static void test_pools_finish_beside_the_workers_that_come(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 1 });
    gate_open(&f.workers->gate);
    f.nested->act = probe_wait;
    turn_to_pools(&f);
    send_all(&f, 1, 1);
    CU_ASSERT_TRUE(gate_await(&f.nested->gate, 1));
    send_all(&f, 2, 3);
    commit(&f, prepare_workers(&f, 2));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 3); /* the child has not been closed yet */
    for (uint64_t id = 11; id <= 16; id++) {
        send_all(&f, id, id);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.workers, id, 1));
    }
    rig_close(&f.rig, f.child);
    send_all(&f, 17, 17);
    gate_open(&f.nested->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.child));
    destroy_child(&f);
    send_all(&f, 18, 18); /* the child that has left did not take the workers along */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.workers, 18, 1));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).accepted, 11);
    turn_to_pools(&f);
    send_all(&f, 21, 21);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.nested, 21, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    finish(&f, 12);
}

/* promises R15 and P12: no other worker would take it. */
static void test_leaving_workers_finish_the_queue_that_they_pulled_from(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 2, .settings.route = WEIR_ROUTE_PULL });
    send_all(&f, 1, 2);
    CU_ASSERT_TRUE(gate_await(&f.workers->gate, 2));
    send_all(&f, 3, 8);
    turn_to_pools(&f);
    send_all(&f, 11, 11);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.nested, 11, 1));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 6);
    gate_open(&f.workers->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_count(f.workers), 8);
    finish(&f, 9);
}

/* promise R15: dead with its reason, when there is no worker to finish it. */
static void test_queue_without_a_worker_is_dead(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 1, .settings.route = WEIR_ROUTE_PULL });
    send_all(&f, 1, 1);
    CU_ASSERT_TRUE(gate_await(&f.workers->gate, 1));
    send_all(&f, 2, 3);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    gate_open(&f.workers->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 2);
    turn_to_pools(&f);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 0);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REMOVED), 2);
    finish(&f, 1);
}

/* promises R15 and P12: new workers take the rest of the queue. */
static void test_workers_that_come_take_what_is_left_in_the_queue(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 1, .settings.route = WEIR_ROUTE_PULL });
    send_all(&f, 1, 1);
    CU_ASSERT_TRUE(gate_await(&f.workers->gate, 1));
    send_all(&f, 2, 3);
    turn_to_pools(&f);
    gate_admit(&f.workers->gate, 0);
    commit(&f, prepare_workers(&f, 2));
    CU_ASSERT_TRUE(gate_await(&f.workers->gate, 3)); /* while the first is still in hand */
    finish(&f, 3);
}

/* promises R2 and R15 */
static void test_aborted_change_of_kind_leaves_the_pool_as_it_was(void)
{
    struct pool_change *change;
    struct executor *executor;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 1 });
    gate_open(&f.workers->gate);
    make_child(&f);
    change = prepare_pools(&f);
    executor = runtime_enter(f.rig.runtime);
    pool_change_abort(change, executor);
    pool_forget_join(f.pool);
    pool_close(f.child, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.child));
    destroy_child(&f);
    send_all(&f, 1, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.workers, 1, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    turn_to_pools(&f);
    change = prepare_workers(&f, 2);
    executor = runtime_enter(f.rig.runtime);
    pool_change_abort(change, executor);
    runtime_leave(executor);
    send_all(&f, 2, 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.nested, 2, 1));
    finish(&f, 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "to pools", test_workers_finish_beside_the_pools_that_come },
        { "to workers", test_pools_finish_beside_the_workers_that_come },
        { "queue", test_leaving_workers_finish_the_queue_that_they_pulled_from },
        { "queue of nobody", test_queue_without_a_worker_is_dead },
        { "queue of new ones", test_workers_that_come_take_what_is_left_in_the_queue },
        { "aborted", test_aborted_change_of_kind_leaves_the_pool_as_it_was },
        CU_TEST_INFO_NULL,
    };

    return suite_run("nesting", tests);
}
