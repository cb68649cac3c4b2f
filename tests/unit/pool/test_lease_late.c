/* SPDX-License-Identifier: MIT */
/*
 * Goal: a message that was sent to the pool, and that a worker has when it is leased, is handled by
 * another worker, or by the same one when it is free: one of its stash, and one of a sender that
 * chose the worker before a reload added `lease`. Shows promise P36.
 *
 * Method: holders of lease_rig.h; the sender's second step alone, when the worker is leased.
 */
#include <stdlib.h>
#include <string.h>

#include "actor/deliver.h"
#include "actor/find.h"
#include "actor/runtime.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

/* promise P36: another member handles it, or the same one when it is free. */
static void test_message_of_the_pool_waits_when_its_member_is_leased(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = put_aside, .id = 1, .argument = 1 }),
        0);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_and_bring_back), 0);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].reply), NOT_YET);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[1].reply, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 0);
    finish(&f);
}

/* As a sender that chose the worker before a reload added leases. */
static void send_late(struct fixture *f, struct order order)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof order);
    struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->pool, 0));

    if (!message)
        abort();
    memcpy(message->public.data, &order, sizeof order);
    CU_ASSERT_EQUAL(deliver(actor, actor_serial_of(actor_pid(actor)), executor, message), 0);
    runtime_leave(executor);
}

/* promise P36 */
static void test_late_message_of_the_pool_waits_when_its_member_is_leased(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    send_late(&f, (struct order){ .id = 7 });
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 1000, 1));
    CU_ASSERT_EQUAL(probe_times(f.member, 7), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 7, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "stashed", test_message_of_the_pool_waits_when_its_member_is_leased },
        { "late", test_late_message_of_the_pool_waits_when_its_member_is_leased },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_late", tests);
}
