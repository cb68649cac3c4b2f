/* SPDX-License-Identifier: MIT */
/*
 * Goal: the limits of a pool that gives leases are those in force: a renewal after a reload has the
 * new time-out, a try does not wait, and takes have no bytes.
 *
 * Method: holders of lease_rig.h, with a clock that the test moves.
 */
#include "face/lease_figures.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define SHORT_MS 100u

static void set_timeout(struct fixture *f, uint64_t timeout_ms)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change_options options = {
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL, .mailbox = 4, .lease = { true, timeout_ms, 2 } },
    };
    struct pool_change *change;

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
}

/* promise P35: the time-out that is in force at the renewal counts from then on. */
static void test_renewal_has_the_time_out_of_the_last_reload(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    set_timeout(&f, SHORT_MS);
    CU_ASSERT_EQUAL(result(&f, 0, renew), 0);
    rig_advance(&f.rig, SHORT_MS - 1);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    finish(&f);
}

/* promise S11: a take has no bytes of a user. */
static void test_takes_weigh_nothing(void)
{
    const struct setup setup = { .size = 1, .queue = SLOTS, .bytes = 1 };
    struct fixture f;

    begin_as(&f, &setup);
    CU_ASSERT_TRUE(takes(&f, 0));
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        act(&f, slot, take);
        CU_ASSERT_TRUE(queued(&f, slot));
    }
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        CU_ASSERT_EQUAL(result(&f, slot - 1, return_done), 0);
        CU_ASSERT_TRUE(answered(&f, slot, 0));
    }
    CU_ASSERT_EQUAL(f.pool->pull.bytes, 0);
    finish(&f);
}

static int fails_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->taken) == 1 ? WEIR_FAIL : 0;
}

/* promise P33: a try ends when the worker that was called for it does not serve it. */
static void test_try_ends_with_the_member_that_does_not_serve_it(void)
{
    struct pool_leases figures;
    struct fixture f;

    begin(&f, 1, 4);
    act(&f, 0, try_to_take);
    CU_ASSERT_TRUE(answered(&f, 0, 0));
    act(&f, 1, try_to_take);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_EFULL));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->returned, 1));
    atomic_store(&f.member->taken, 0);
    f.member->takes = fails_once;
    act(&f, 2, try_to_take);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_EFULL));
    CU_ASSERT_TRUE(takes(&f, 3));
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_FULL], 2);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_EXPIRED], 0);
    CU_ASSERT_EQUAL(figures.waiting, 0);
    CU_ASSERT_EQUAL(f.pool->pull.tries, 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "renewal", test_renewal_has_the_time_out_of_the_last_reload },
        { "try", test_try_ends_with_the_member_that_does_not_serve_it },
        { "bytes", test_takes_weigh_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_limits", tests);
}
