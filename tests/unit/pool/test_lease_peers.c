/* SPDX-License-Identifier: MIT */
/*
 * Goal: cases of pooler's own suite (docs/pooler-cases.md) that no other test here shows: the
 * members at the start, growth when none is free and not before, and no member that leaves
 * without being told to.
 *
 * Method: the pool and the holders of lease_rig.h.
 */
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define IDLE_MS 1000u
#define DAY_MS 86400000u

/* Its first two members are free at the start, and the third comes for the third taker. */
static void test_pool_has_its_first_members_and_grows_when_none_is_free(void)
{
    const struct setup setup = {
        .size = 2, .size_max = 3, .queue = 1, .scale = { true, 0, IDLE_MS }
    };
    struct weir_pool_stats stats;
    struct fixture f;

    begin_as(&f, &setup);
    stats = rig_stats(f.pool);
    CU_ASSERT_TRUE(stats.live == 2 && stats.idle == 2 && stats.target == 2);
    for (uint32_t slot = 0; slot < 2; slot++) {
        CU_ASSERT_TRUE(takes(&f, slot));
        CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2); /* not before it is needed */
    }
    CU_ASSERT_TRUE(takes(&f, 2));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    CU_ASSERT_FALSE(same_member(&f, 0, 1) || same_member(&f, 0, 2) || same_member(&f, 1, 2));
    act(&f, 3, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act(&f, 4, take);
    CU_ASSERT_TRUE(answered(&f, 4, WEIR_EFULL));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    finish(&f);
}

static void test_without_a_law_no_unused_member_leaves(void)
{
    struct fixture f;

    begin(&f, 3, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    for (uint32_t day = 0; day < 3; day++)
        rig_advance(&f.rig, DAY_MS);
    CU_ASSERT_TRUE(takes(&f, 1)); /* after whatever the clock has caused */
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 3);
    CU_ASSERT_EQUAL(atomic_load(&f.member->closed), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 3);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "first members", test_pool_has_its_first_members_and_grows_when_none_is_free },
        { "no cull", test_without_a_law_no_unused_member_leaves },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_peers", tests);
}
