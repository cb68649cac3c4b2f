/* SPDX-License-Identifier: MIT */
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

/* --- pools of workers ------------------------------------------------------------------------- */

#define GRANTED 1000u /* noted with the number of the step */
#define REFUSED 2000u

static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct order *order = probe_order(message);
    int status = weir_set_descriptors(self, (uint32_t)order->argument);

    probe_note(probe, order->id + (status == 0 ? GRANTED : REFUSED));
    return WEIR_DONE;
}

/* The worker of a pool asks for a share of LIMIT. */
struct step {
    unsigned pool;
    uint32_t worker;
    uint32_t share;
    bool is_granted;
};

static void go(struct rig *rig, struct probe *probe, struct pool *const *pools,
               const struct step *steps, size_t count)
{
    static uint64_t id;

    for (size_t i = 0; i < count; i++, id++) {
        const struct order order = { .id = id, .act = ask, .argument = steps[i].share };

        CU_ASSERT_EQUAL(rig_send_routed(rig, pools[steps[i].pool], steps[i].worker, order), 0);
        CU_ASSERT_TRUE(rig_noted(rig, probe, id + (steps[i].is_granted ? GRANTED : REFUSED), 1));
    }
}

/* promise B28: the members of a pool count together, and one that leaves gives its share back; a
 * pool in a pool counts by itself. */
static void test_shares_of_members_and_of_pools_in_pools(void)
{
    static const struct step members[] = {
        { 0, 0, 50, true },  { 0, 1, 50, false }, { 0, 1, 34, true },
        { 0, 0, 51, false }, { 1, 0, 16, true },  { 1, 0, 17, false },
    };
    static const struct step after[] = { { 1, 0, 35, false },
                                         { 1, 0, 34, true },
                                         { 2, 0, 16, true } };
    struct probe *probe = probe_create();
    struct pool *pools[3], *parent;
    struct weir_resized resized = { 0 };
    struct spec *spec;
    struct rig rig;

    rig_init(&rig, 1, 0);
    rig.runtime->descriptors.limit = LIMIT;
    pools[0] = rig_workers(&rig, probe, "pool", 2, 8);
    parent = rig_pool(&rig, &(struct pool_options){ .path = "parent" });
    spec = rig_spec(probe);
    for (unsigned i = 1; i < 3; i++)
        pools[i] = rig_pool(&rig, &(struct pool_options){ .path = i == 1 ? "parent/a" : "parent/b",
                                                          .parent = parent,
                                                          .spec = spec,
                                                          .size = 1,
                                                          .settings.mailbox = 8 });
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&rig, pools[1]) && rig_settled(&rig, pools[2]));
    go(&rig, probe, pools, members, sizeof members / sizeof *members);
    CU_ASSERT_EQUAL(descriptors_taken(&rig.runtime->descriptors), 100);
    CU_ASSERT_EQUAL(rig_resize(&rig, pools[0], 1, &resized), 0);
    CU_ASSERT_TRUE(rig_settled(&rig, pools[0]));
    go(&rig, probe, pools, after, sizeof after / sizeof *after);
    for (unsigned i = 1; i < 3; i++) /* before the pool above them */
        CU_ASSERT_TRUE(rig_end(&rig, pools[i], NULL));
    CU_ASSERT_TRUE(rig_end(&rig, parent, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, pools[0], NULL));
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
        { "members, nesting", test_shares_of_members_and_of_pools_in_pools },
        CU_TEST_INFO_NULL,
    };

    return suite_run("descriptors", tests);
}
