/*
 * Goal: shares of descriptors are granted while there are any, so that one pool leaves some to the
 * others (promise B28); an incarnation that ends gives its share back.
 * Method: shares of pools that are addresses alone; and a worker that asks, and is replaced.
 */
#include "actor/descriptors.h"

#include <weir/descriptors.h>
#include <weir/status.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 100u
#define FOR_OTHERS WEIR_DESCRIPTORS_FLOOR /* an eighth is less */

static const char big, small, other;

/* promise B28 */
static void test_pool_leaves_some_to_those_that_have_few(void)
{
    struct descriptors shares;

    descriptors_init(&shares, LIMIT);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &big, 0, LIMIT - FOR_OTHERS + 1), WEIR_EFULL);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &big, 0, LIMIT - FOR_OTHERS), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &small, 0, FOR_OTHERS + 1), WEIR_EFULL);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &small, 0, FOR_OTHERS - 1), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &small, 0, 2), WEIR_EFULL); /* of another member */
    CU_ASSERT_EQUAL(descriptors_set(&shares, &small, 0, 1), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &other, 0, FOR_OTHERS + 1), WEIR_EFULL);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &other, 0, FOR_OTHERS), 0); /* more than there are */
    descriptors_finish(&shares);
}

static void test_smaller_share_makes_room(void)
{
    struct descriptors shares;

    descriptors_init(&shares, LIMIT);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &big, 0, LIMIT - FOR_OTHERS), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &big, LIMIT - FOR_OTHERS, 10), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &other, 0, 50), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &big, 10, 0), 0);
    CU_ASSERT_EQUAL(shares.taken, 50);
    CU_ASSERT_EQUAL(shares.count, 1);
    descriptors_finish(&shares);
}

static void test_without_a_limit_every_share_is_granted(void)
{
    struct descriptors shares;

    descriptors_init(&shares, 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &big, 0, UINT32_MAX), 0);
    CU_ASSERT_EQUAL(descriptors_set(&shares, &other, 0, 1), WEIR_EFULL); /* it cannot be counted */
    descriptors_finish(&shares);
}

/* More pools than the table has at first. */
static void test_many_pools_have_shares(void)
{
    static const char pools[1000];
    struct descriptors shares;

    descriptors_init(&shares, 20000);
    for (unsigned i = 0; i < sizeof pools; i++)
        CU_ASSERT_EQUAL(descriptors_set(&shares, &pools[i], 0, 10), 0);
    for (unsigned i = 0; i < sizeof pools; i++)
        CU_ASSERT_EQUAL(descriptors_set(&shares, &pools[i], 10, 0), 0);
    CU_ASSERT_EQUAL(shares.taken, 0);
    CU_ASSERT_EQUAL(shares.count, 0);
    descriptors_finish(&shares);
}

static int ask_and_fail(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)message;
    probe_note(probe, 100 + (uint64_t)(weir_set_descriptors(self, 50) == 0));
    return WEIR_FAIL;
}

static void test_share_ends_with_the_incarnation(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;

    rig_init(&rig, 1, 0);
    pool = rig_workers(&rig, probe, "pool", 1, 8);
    for (uint64_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = i, .act = ask_and_fail }),
                        0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 101, 1));
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    CU_ASSERT_EQUAL(descriptors_taken(&rig.runtime->descriptors), 0);
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "some for others", test_pool_leaves_some_to_those_that_have_few },
        { "smaller", test_smaller_share_makes_room },
        { "no limit", test_without_a_limit_every_share_is_granted },
        { "many", test_many_pools_have_shares },
        { "end", test_share_ends_with_the_incarnation },
        CU_TEST_INFO_NULL,
    };

    return suite_run("descriptors", tests);
}
