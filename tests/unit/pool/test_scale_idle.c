/* SPDX-License-Identifier: MIT */
/*
 * Goal: an elastic pool knows its idle workers: a worker that waits for a thread is none, and the
 * idle worker with the lowest number gets the next message.
 *
 * Method: workers that compute on the one thread, by a clock that they move themselves; messages
 * one after the other, each when all workers sleep.
 */
#include "actor/find.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WAIT_MS 50u
#define WORKERS 4u
#define MESSAGES 10u
#define INDEX 600u /* a note: INDEX + the number of the worker */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t threads, uint32_t size, enum weir_route route)
{
    struct pool_options options = {
        .size = size,
        .settings = { .size_min = 1,
                      .size_max = WORKERS,
                      .mailbox = 8,
                      .route = route,
                      .scale = { .on = true, .wait_ms = WAIT_MS, .idle_ms = 60000 } },
    };

    f->probe = probe_create();
    f->probe->context = f;
    rig_init(&f->rig, threads, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* --- waiting for a thread --------------------------------------------------------------------- */

/* As long as the pool has one worker: lets the time go by, and gives the pool two more messages. */
static int compute(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct order order = { .act = compute };

    (void)message;
    rig_advance(&f->rig, WAIT_MS);
    for (int i = 0; i < 2 && pool_target(f->pool) == 1; i++) {
        struct weir_message *more = probe_message(self, order);

        if (weir_send(self, f->pool->pid, more) != 0)
            weir_message_free(self, more);
    }
    return WEIR_DONE;
}

static bool has_grown(void *context)
{
    const struct fixture *f = context;

    return pool_resizes(f->pool, RESIZE_BY_SCALE) > 0;
}

/* promise G1: no worker has a message in hand while the pool's own actor has the one thread. But
 * messages wait for them, so they are not idle. */
static void test_workers_that_compute_are_not_idle(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_PULL };

    for (uint32_t i = 0; i < 2; i++) {
        struct fixture f;

        begin(&f, 1, 1, routes[i]);
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = compute }), 0);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_grown, &f));
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        finish(&f);
    }
}

/* --- the next message ------------------------------------------------------------------------- */

static int note_index(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    probe_note(probe, INDEX + weir_index(self));
    return WEIR_DONE;
}

/* A worker is idle for senders when the turn has ended in which it has opened or worked. */
static bool all_sleep(void *context)
{
    struct fixture *f = context;

    for (uint32_t i = 0; i < WORKERS; i++) {
        struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->pool, i));

        if (!actor || !mailbox_is_idle(&actor->mailbox))
            return false;
    }
    return true;
}

/* promise G4: so that the others stay unused, and leave. */
static void test_the_idle_worker_with_the_lowest_number_comes_first(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED,
                                              WEIR_ROUTE_RANDOM };

    for (uint32_t i = 0; i < 3; i++) {
        struct fixture f;

        begin(&f, 4, WORKERS, routes[i]);
        f.probe->act = note_index;
        for (uint32_t j = 0; j < MESSAGES; j++) {
            CU_ASSERT_TRUE(rig_wait(&f.rig, all_sleep, &f));
            CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
            CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        }
        CU_ASSERT_EQUAL(probe_times(f.probe, INDEX), MESSAGES);
        finish(&f);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "workers that compute are not idle", test_workers_that_compute_are_not_idle },
        { "the idle worker with the lowest number comes first",
          test_the_idle_worker_with_the_lowest_number_comes_first },
        CU_TEST_INFO_NULL,
    };

    return suite_run("scale_idle", tests);
}
