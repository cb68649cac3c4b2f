/* SPDX-License-Identifier: MIT */
/*
 * Goal: workers of one pool run at the same time, a thread without work takes another's, and a
 * worker with a long queue does not keep its thread from others.
 *
 * Method: workers meet inside their handlers, which they can on two threads only; a worker gives
 * work to its own thread and waits until it was done elsewhere.
 */
#include "actor/find.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

/* promise D1 */
static void test_two_workers_of_one_pool_meet_inside_their_handlers(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;

    rig_init(&rig, 2, 0);
    pool = rig_workers(&rig, probe, "pool", 2, 4);
    for (uint64_t id = 0; id < 2; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_wait, .id = id }),
                        0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 2)); /* both are inside, neither has gone on */
    CU_ASSERT_EQUAL(rig_stats(pool).busy, 2);
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

static int share(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct probe *helping = probe->context;

    for (uint64_t id = 0; id < 2; id++) {
        struct weir_message *out = probe_message(self, (struct order){ .act = probe_wait });

        CU_ASSERT_EQUAL(weir_send(self, probe_order(message)->argument, out), 0);
    }
    return gate_await(&helping->gate, 1) ? WEIR_DONE : WEIR_REJECT;
}

/* Its first turn is over, too, so no thread runs it, and no queue has it. */
static bool sleeps(struct pool *pool, uint32_t worker)
{
    struct actor *actor = actor_find(pool->runtime, rig_worker(pool, worker));

    return (atomic_load(&actor->mailbox.word) & MAILBOX_IDLE) != 0;
}

static bool one_sleeps(void *context)
{
    return sleeps(context, 0);
}

static bool both_sleep(void *context)
{
    return sleeps(context, 0) && sleeps(context, 1);
}

/* promise D2: both messages went to this thread's own queue, and the thread is held. */
static void test_work_behind_a_held_worker_is_stolen(void)
{
    struct probe *giving = probe_create();
    struct probe *helping = probe_create();
    struct ledger_reading ledger;
    struct rig rig;
    struct pool *givers;
    struct pool *helpers;
    struct order order = { .act = share };

    giving->context = helping;
    gate_open(&helping->gate);
    rig_init(&rig, 2, 0);
    helpers = rig_workers(&rig, helping, "helpers", 2, 4);
    givers = rig_workers(&rig, giving, "givers", 1, 4);
    order.argument = helpers->pid;
    CU_ASSERT_TRUE(rig_wait(&rig, both_sleep, helpers));
    CU_ASSERT_EQUAL(rig_send(&rig, givers->pid, order), 0);
    CU_ASSERT_TRUE(gate_await(&helping->gate, 2));
    CU_ASSERT_TRUE(rig_end(&rig, givers, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 1);
    CU_ASSERT_TRUE(rig_end(&rig, helpers, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 2);
    rig_finish(&rig);
    probe_destroy(giving);
    probe_destroy(helping);
}

static int send_one(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .id = 50 });

    (void)gate_pass(&probe->gate);
    CU_ASSERT_EQUAL(weir_send(self, probe_order(message)->argument, out), 0);
    return WEIR_DONE;
}

/* promise D3: one thread, a budget of 2, and a queue of 20: the other does not wait for all. */
static void test_worker_that_spent_its_budget_lets_others_run(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *busy;
    struct pool *other;
    struct order first = { .act = send_one, .id = 0 };
    uint32_t before = 0;

    rig_init(&rig, 1, 2);
    busy = rig_workers(&rig, probe, "busy", 1, 0);
    other = rig_workers(&rig, probe, "other", 1, 0);
    first.argument = other->pid;
    CU_ASSERT_TRUE(rig_wait(&rig, one_sleeps, other));
    CU_ASSERT_EQUAL(rig_send(&rig, busy->pid, first), 0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 1));
    for (uint64_t id = 1; id <= 20; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, busy->pid, (struct order){ .id = id }), 0);
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 20, 1));
    while (probe_get(probe, before) != 50 && before < 22)
        before++;
    CU_ASSERT_TRUE(before <= 3);
    CU_ASSERT_TRUE(rig_end(&rig, busy, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, other, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "meet", test_two_workers_of_one_pool_meet_inside_their_handlers },
        { "stolen", test_work_behind_a_held_worker_is_stolen },
        { "budget", test_worker_that_spent_its_budget_lets_others_run },
        CU_TEST_INFO_NULL,
    };

    return suite_run("parallel", tests);
}
