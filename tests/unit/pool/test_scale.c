/* SPDX-License-Identifier: MIT */
/*
 * Goal: an elastic pool carries out its law: it grows when messages wait, starts workers on demand,
 * lets unused workers leave, and stands still while a size that somebody has set is in force.
 *
 * Method: workers that a gate holds, or that cannot open, and a clock that the test moves in small
 * steps until the pool has finished its change. A message to the pool's own actor shows that its
 * looks so far are over.
 */
#include <string.h>

#include "actor/find.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define STEP_MS 5u
#define WAIT_MS 50u
#define IDLE_MS 1000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t next;
    _Atomic bool down; /* no worker can open */
};

static int open_if_up(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    (void)self;
    return atomic_load(&f->down) ? WEIR_EUNKNOWN : 0;
}

static const struct pool_options usual = {
    .size = 1,
    .settings = { .size_min = 1,
                  .size_max = 4,
                  .mailbox = 8,
                  .scale = { .on = true, .wait_ms = WAIT_MS, .idle_ms = IDLE_MS } },
};

static const struct pool_options on_demand = {
    .size = 0,
    .settings = { .size_min = 0,
                  .size_max = 3,
                  .mailbox = 8,
                  .scale = { .on = true, .wait_ms = 0, .idle_ms = IDLE_MS } },
};

static void begin(struct fixture *f, const struct pool_options *wanted)
{
    struct pool_options options = *wanted;

    f->next = 0;
    atomic_init(&f->down, false);
    f->probe = probe_create();
    f->probe->act = probe_wait;
    f->probe->opens = open_if_up;
    f->probe->context = f;
    rig_init(&f->rig, 4, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
}

static int send(struct fixture *f)
{
    int status = rig_send(&f->rig, f->pool->pid, (struct order){ .id = f->next });

    f->next += status == 0;
    return status;
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    for (uint64_t id = 0; id < f->next; id++)
        CU_ASSERT_EQUAL(probe_times(f->probe, id), 1);
    CU_ASSERT_EQUAL(ledger.done, f->next);
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* --- conditions ----------------------------------------------------------------------------- */

struct goal {
    struct fixture *f;
    uint32_t target;
    struct pool *pool; /* NULL: that of the fixture */
};

/* Time goes on with each check. */
static bool has_target(void *context)
{
    struct goal *goal = context;

    rig_advance(&goal->f->rig, STEP_MS);
    return pool_target(goal->f->pool) == goal->target;
}

static bool reaches(struct fixture *f, uint32_t target)
{
    struct goal goal = { f, target, NULL };

    return rig_wait(&f->rig, has_target, &goal);
}

/* As has_target, under load: so that no worker is idle. */
static bool has_grown(void *context)
{
    struct goal *goal = context;

    (void)send(goal->f);
    return has_target(goal);
}

static bool grows_to(struct fixture *f, uint32_t target)
{
    struct goal goal = { f, target, NULL };

    return rig_wait(&f->rig, has_grown, &goal);
}

/* The clock stands still. */
static bool has_target_now(void *context)
{
    struct goal *goal = context;

    return pool_target(goal->f->pool) == goal->target;
}

static bool reaches_now(struct fixture *f, uint32_t target)
{
    struct goal goal = { f, target, NULL };

    return rig_wait(&f->rig, has_target_now, &goal);
}

/* Time goes on with each try. */
static bool is_accepted(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, STEP_MS);
    return send(f) == 0;
}

struct count {
    struct fixture *f;
    uint64_t dead;
};

static bool is_unhandled(void *context)
{
    struct count *count = context;

    return rig_dead(count->f->pool, DEAD_UNHANDLED) > count->dead;
}

/* The checks that were asked for so far are over. */
static void look_has_been(struct fixture *f)
{
    struct count count = { f, rig_dead(f->pool, DEAD_UNHANDLED) };

    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->pool->pid, WEIR_HIGH, (struct order){ .id = 0 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_unhandled, &count));
}

/* Time stands still. One is refused, or waits no longer than until the first worker is open. */
static bool is_started(void *context)
{
    struct fixture *f = context;
    int status = rig_send(&f->rig, f->pool->pid,
                          (struct order){ .act = probe_done, .id = f->next });

    CU_ASSERT_TRUE(status == 0 || status == WEIR_EFULL);
    f->next += status == 0;
    return status == 0;
}

/* A worker is idle for senders when the turn has ended in which it has opened or worked. */
static bool all_sleep(void *context)
{
    struct fixture *f = context;

    for (uint32_t i = 0; i < pool_target(f->pool); i++) {
        struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->pool, i));

        if (!actor || !(atomic_load(&actor->mailbox.word) & MAILBOX_IDLE))
            return false;
    }
    return true;
}

/* The first message starts the first worker, and messages that were refused before that may have
 * started one more. Returns how many have nothing to do. */
static uint32_t start(struct fixture *f)
{
    CU_ASSERT_EQUAL(pool_target(f->pool), 0);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_started, f));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    look_has_been(f); /* those for messages that were refused */
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    CU_ASSERT_TRUE(rig_wait(&f->rig, all_sleep, f));
    return pool_target(f->pool);
}

static uint64_t grown_by_itself(struct fixture *f)
{
    return pool_resizes(f->pool, RESIZE_BY_SCALE);
}

/* One message in hand in each of `busy` workers, and more that wait. */
static void load(struct fixture *f, uint32_t busy, uint32_t more)
{
    for (uint32_t i = 0; i < busy; i++)
        CU_ASSERT_EQUAL(send(f), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, busy));
    for (uint32_t i = 0; i < more; i++)
        CU_ASSERT_EQUAL(send(f), 0);
}

/* --- growing -------------------------------------------------------------------------------- */

/* promise G1 */
static void test_messages_that_wait_make_it_grow_to_its_maximum(void)
{
    struct fixture f;

    begin(&f, &usual);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    load(&f, 1, 4);
    CU_ASSERT_TRUE(grows_to(&f, 4));
    CU_ASSERT_TRUE(grown_by_itself(&f) >= 2);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    finish(&f);
}

/* promise G1: however long ago. */
static void test_without_messages_that_wait_it_stays(void)
{
    struct fixture f;

    begin(&f, &usual);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    load(&f, 1, 0);
    for (int i = 0; i < 100; i++)
        rig_advance(&f.rig, WAIT_MS);
    look_has_been(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), 1);
    CU_ASSERT_EQUAL(grown_by_itself(&f), 0);
    finish(&f);
}

/* promise G1: the queue of a pool that pulls is looked at, too. */
static void test_the_queue_of_pull_makes_it_grow(void)
{
    struct pool_options options = usual;
    struct fixture f;

    options.settings.route = WEIR_ROUTE_PULL;
    begin(&f, &options);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    load(&f, 1, 4);
    CU_ASSERT_TRUE(grows_to(&f, 4));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    finish(&f);
}

/* --- on demand ------------------------------------------------------------------------------ */

/* promise G3: no time passes. */
static void test_each_message_without_an_idle_worker_starts_one(void)
{
    struct pool_options options = on_demand;
    struct fixture f;
    uint32_t first;

    options.settings.size_max = 16;
    begin(&f, &options);
    first = start(&f);
    load(&f, first, 0);
    look_has_been(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), first); /* each message had an idle one */
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_TRUE(reaches_now(&f, first + 1));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    finish(&f);
}

/* Time goes on with each check: the pool may have looked before the message came. */
static bool has_a_worker(void *context)
{
    struct goal *goal = context;

    rig_advance(&goal->f->rig, STEP_MS);
    return rig_stats(goal->pool).live == goal->target;
}

/* promise G3: also by way of the pool above. */
static void test_a_pool_above_starts_the_first_worker(void)
{
    struct pool_options options = on_demand;
    struct pool *above, *below;
    struct fixture f;
    int status;

    begin(&f, &on_demand);
    above = rig_pool(&f.rig, &(struct pool_options){ .path = "above" });
    CU_ASSERT_PTR_NOT_NULL_FATAL(above);
    options.spec = rig_spec(f.probe);
    options.path = "above/below";
    options.parent = above;
    options.settings.scale.wait_ms = WAIT_MS;
    below = rig_pool(&f.rig, &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(below);
    spec_unref(options.spec);
    /* Refused, or accepted by a worker that has come meanwhile. */
    status = rig_send(&f.rig, above->pid, (struct order){ .act = probe_done, .id = 900 });
    CU_ASSERT_TRUE(status == 0 || status == WEIR_EFULL);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_a_worker, &(struct goal){ &f, 1, below }));
    CU_ASSERT_TRUE(rig_end(&f.rig, below, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, above, NULL));
    finish(&f);
}

/* promise G2 */
static void test_a_backend_that_is_down_starts_no_more_workers(void)
{
    struct fixture f;

    begin(&f, &on_demand);
    atomic_store(&f.down, true);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    CU_ASSERT_TRUE(reaches_now(&f, 1));
    for (int i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
        rig_advance(&f.rig, STEP_MS);
        look_has_been(&f);
    }
    CU_ASSERT_EQUAL(pool_target(f.pool), 1);
    atomic_store(&f.down, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_accepted, &f)); /* it is opened again after its pause */
    finish(&f);
}

/* --- shrinking ------------------------------------------------------------------------------ */

struct use {
    struct fixture *f;
    weir_pid first, second;
};

/* Two workers are used again and again, the third is not. */
static bool is_smaller(void *context)
{
    struct use *use = context;
    struct fixture *f = use->f;

    if (pool_target(f->pool) < 3)
        return true;
    (void)rig_send(&f->rig, use->first, (struct order){ .act = probe_done, .id = 900 });
    (void)rig_send(&f->rig, use->second, (struct order){ .act = probe_done, .id = 901 });
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    rig_advance(&f->rig, IDLE_MS / 16);
    look_has_been(f);
    return false;
}

/* promise G4 */
static void test_the_worker_that_is_unused_longest_leaves_first(void)
{
    struct fixture f;
    struct use use = { .f = &f };

    begin(&f, &on_demand);
    CU_ASSERT_TRUE(start(&f) >= 1);
    load(&f, 1, 2);
    CU_ASSERT_TRUE(reaches(&f, 3)); /* a message may wait behind one that took the new worker */
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    use.first = rig_worker(f.pool, 1);
    use.second = rig_worker(f.pool, 2); /* the last would leave first */
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_smaller, &use));
    CU_ASSERT_EQUAL(pool_target(f.pool), 2);
    CU_ASSERT_EQUAL(rig_worker(f.pool, 0), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_worker(f.pool, 2), use.second);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* promise G4 */
static void test_unused_workers_leave_down_to_the_minimum(void)
{
    struct fixture f;

    begin(&f, &usual);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    load(&f, 1, 4);
    CU_ASSERT_TRUE(grows_to(&f, 4));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_TRUE(reaches(&f, 1));
    for (int i = 0; i < 100; i++)
        rig_advance(&f.rig, IDLE_MS);
    look_has_been(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), 1);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    finish(&f);
}

/* --- who decides ---------------------------------------------------------------------------- */

/* promise G6 */
static void test_a_size_that_was_set_stays_until_auto(void)
{
    struct pool_law_answer answer;
    struct pool_scaling scaling;
    struct executor *executor;
    struct fixture f;

    begin(&f, &usual);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    load(&f, 1, 4);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0); /* also one that changes nothing */
    pool_look_at_scale(f.pool, &scaling);
    CU_ASSERT_TRUE(scaling.suspended);
    for (int i = 0; i < 100; i++)
        rig_advance(&f.rig, WAIT_MS);
    look_has_been(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), 1);
    CU_ASSERT_EQUAL(grown_by_itself(&f), 0);
    pool_consult_law(f.pool, &usual.settings,
                     &answer); /* the first check of the waiting messages */
    rig_advance(&f.rig, WAIT_MS);
    pool_consult_law(f.pool, &usual.settings, &answer);
    CU_ASSERT_EQUAL(answer.now, 1);
    CU_ASSERT_EQUAL(answer.target, 2);
    CU_ASSERT_EQUAL(pool_target(f.pool), 1);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(pool_scale_auto(f.pool, executor), 0);
    runtime_leave(executor);
    pool_look_at_scale(f.pool, &scaling);
    CU_ASSERT_FALSE(scaling.suspended);
    CU_ASSERT_TRUE(grows_to(&f, 4));
    finish(&f);
}

static void test_a_pool_without_a_law_has_no_auto(void)
{
    struct pool_options options = { .size = 1, .settings = { .mailbox = 8 } };
    struct executor *executor;
    struct fixture f;

    begin(&f, &options);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(pool_scale_auto(f.pool, executor), WEIR_EINVALID);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_EQUAL(pool_resizes(f.pool, RESIZE_BY_SCALE), 0);
    finish(&f);
}

static void test_a_law_without_a_maximum_or_for_a_broadcast_is_refused(void)
{
    struct pool_options options = usual;
    struct fixture f;

    begin(&f, &usual);
    options.path = "other";
    options.spec = rig_spec(f.probe);
    options.settings.size_min = 0;
    options.settings.size_max = 0;
    CU_ASSERT_PTR_NULL(rig_pool(&f.rig, &options));
    options.settings.size_max = 4;
    options.settings.route = WEIR_ROUTE_BROADCAST;
    CU_ASSERT_PTR_NULL(rig_pool(&f.rig, &options));
    spec_unref(options.spec);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "messages that wait make it grow to its maximum",
          test_messages_that_wait_make_it_grow_to_its_maximum },
        { "without messages that wait it stays", test_without_messages_that_wait_it_stays },
        { "the queue of pull makes it grow", test_the_queue_of_pull_makes_it_grow },
        { "each message without an idle worker starts one",
          test_each_message_without_an_idle_worker_starts_one },
        { "a pool above starts the first worker", test_a_pool_above_starts_the_first_worker },
        { "a backend that is down starts no more workers",
          test_a_backend_that_is_down_starts_no_more_workers },
        { "the worker that is unused longest leaves first",
          test_the_worker_that_is_unused_longest_leaves_first },
        { "unused workers leave down to the minimum",
          test_unused_workers_leave_down_to_the_minimum },
        { "a size that was set stays until auto", test_a_size_that_was_set_stays_until_auto },
        { "a pool without a law has no auto", test_a_pool_without_a_law_has_no_auto },
        { "a law without a maximum or for a broadcast is refused",
          test_a_law_without_a_maximum_or_for_a_broadcast_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("scale", tests);
}
