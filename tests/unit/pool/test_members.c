/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool that grows one by one copies its members a few times in all, and each array that a
 * sender may still read stays as it was.
 *
 * Method: arrays that grow by one from one to many, each kept until the end; then pools that grow
 * and shrink, whose numbers and seats are the lowest ones that are free.
 */
#include "pool/members.h"

#include <stdlib.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define MANY 8000u
#define COPIES_MAX 30 /* half as much room again each time */
#define WORKERS 40u

static void set(struct members *members, uint32_t at)
{
    if (!members) /* the analyser does not know CUnit */
        return;
    members->members[at] = (struct member){ .index = at, .serial = at + 1 };
}

/* As members_publish, without reclamation. */
static struct members *publish(struct members *next)
{
    next->memory->used = next->count;
    return next;
}

/* promise G11 */
static void test_growth_copies_seldom(void)
{
    struct members **all = calloc(MANY, sizeof(struct members *));
    uint32_t copies = 0;
    uint32_t wrong = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    if (!all) /* the analyser does not know CUnit */
        return;
    for (uint32_t i = 0; i < MANY; i++) {
        all[i] = i ? members_extend(all[i - 1], i + 1) : members_create(1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all[i]);
        set(all[i], i);
        (void)publish(all[i]);
        copies += all[i]->memory == all[i];
    }
    CU_ASSERT_TRUE(copies <= COPIES_MAX);
    for (uint32_t i = 0; i < MANY; i++)
        for (uint32_t j = i / 2; j <= i; j += 1 + i / 10)
            wrong += all[i]->count != i + 1 || all[i]->members[j].serial != j + 1;
    CU_ASSERT_EQUAL(wrong, 0);
    /* In any order: a sender may be the last to leave the first of them. */
    for (uint32_t i = 0; i < MANY; i++)
        members_destroy(all[i * 7 % MANY]);
    free(all);
}

/* What was extended twice, since a change failed, or is not the newest, has one owner of each
 * further place. */
static void test_each_place_is_given_once(void)
{
    struct members *first = publish(members_create(4));
    struct members *second, *failed, *third, *other;

    second = publish(members_extend(first, 5)); /* with room for more */
    failed = members_extend(second, 6);
    CU_ASSERT_PTR_EQUAL_FATAL(failed->memory, second->memory);
    members_destroy(failed);
    third = publish(members_extend(second, 6));
    CU_ASSERT_PTR_EQUAL(third->members, second->members);
    other = members_extend(second, 6); /* the place after its last is in use */
    CU_ASSERT_PTR_NOT_EQUAL(other->members, second->members);
    CU_ASSERT_EQUAL(other->count, 6);
    members_destroy(second);
    members_destroy(other);
    members_destroy(first);
    members_destroy(third);
}

static uint32_t seat_of(const struct members *members, uint32_t index)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->members[i].index == index)
            return members->members[i].seat;
    return UINT32_MAX;
}

/* Whether the members have the numbers below `size`, and seats below it, each once. */
static bool are_lowest(struct pool *pool, uint32_t size)
{
    const struct members *members = atomic_load(&pool->members);
    bool seats[WORKERS + 1] = { false };

    for (uint32_t i = 0; i < size; i++) {
        uint32_t seat = seat_of(members, i);

        if (seat >= size || seats[seat] || members->members[i].index != i)
            return false;
        seats[seat] = true;
    }
    return members->count == size;
}

static uint32_t lowest_free(struct pool *pool)
{
    const struct members *members = atomic_load(&pool->members);
    uint32_t lowest = 0;

    while (seat_of(members, lowest) != UINT32_MAX)
        lowest++;
    return lowest;
}

static void resize(struct rig *rig, struct pool *pool, uint32_t size)
{
    CU_ASSERT_EQUAL(rig_resize(rig, pool, size, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(rig, pool));
}

static void add_one(struct rig *rig, struct pool *pool)
{
    uint32_t lowest = lowest_free(pool);

    resize(rig, pool, rig_stats(pool).target + 1);
    CU_ASSERT_TRUE(lowest_free(pool) > lowest);
}

/* promise G11: one by one, also after some have left, and beside one that leaves. */
static void test_new_workers_have_the_lowest_numbers(void)
{
    struct probe *probe = probe_create();
    struct pool *pool;
    struct rig rig;

    rig_init(&rig, 2, 0);
    pool = rig_workers(&rig, probe, "pool", 1, 0);
    for (uint32_t size = 2; size <= WORKERS; size++) {
        add_one(&rig, pool);
        CU_ASSERT_TRUE(are_lowest(pool, size));
    }
    resize(&rig, pool, WORKERS / 2);
    for (uint32_t i = 0; i < WORKERS / 2; i++)
        add_one(&rig, pool);
    CU_ASSERT_TRUE(are_lowest(pool, WORKERS));
    CU_ASSERT_EQUAL(
        rig_send(&rig, rig_worker(pool, WORKERS - 1), (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 1));
    CU_ASSERT_EQUAL(rig_resize(&rig, pool, WORKERS / 2, NULL), 0); /* that one is slow to leave */
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_settled(&rig, pool));
    resize(&rig, pool, WORKERS);
    CU_ASSERT_TRUE(are_lowest(pool, WORKERS));
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "copies", test_growth_copies_seldom },
        { "once", test_each_place_is_given_once },
        { "lowest", test_new_workers_have_the_lowest_numbers },
        CU_TEST_INFO_NULL,
    };

    return suite_run("members", tests);
}
