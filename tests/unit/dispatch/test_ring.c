/* SPDX-License-Identifier: MIT */
/*
 * Goal: a ring gives out what was put in, once, in order, to its owner and to thieves, in any
 * capacity and across the wrap of its indexes.
 *
 * Method: rings of 2 and 4 played by one thread; indexes set close to their wrap; then an owner
 * and two thieves, with every schedulable counted.
 */
#include "dispatch/ring.h"

#include <pthread.h>

#include "dispatch/schedulable.h"
#include "unit/host/suite.h"

#define ITEMS 20000u

static void start_at(struct ring *ring, uint32_t capacity, uint32_t index)
{
    ring_init(ring, capacity);
    atomic_store(&ring->head, index);
    atomic_store(&ring->tail, index);
}

static void test_full_ring_refuses_a_push(void)
{
    struct schedulable items[3];
    static struct ring ring;

    ring_init(&ring, 2);
    CU_ASSERT_TRUE(ring_push(&ring, &items[0]));
    CU_ASSERT_TRUE(ring_push(&ring, &items[1]));
    CU_ASSERT_FALSE(ring_push(&ring, &items[2]));
    CU_ASSERT_EQUAL(ring_count(&ring), 2);
    CU_ASSERT_PTR_EQUAL(ring_pop(&ring), &items[0]);
    CU_ASSERT_TRUE(ring_push(&ring, &items[2]));
    CU_ASSERT_PTR_EQUAL(ring_pop(&ring), &items[1]);
    CU_ASSERT_PTR_EQUAL(ring_pop(&ring), &items[2]);
    CU_ASSERT_PTR_NULL(ring_pop(&ring));
}

static void test_indexes_run_over_and_order_stays(void)
{
    struct schedulable items[4];
    static struct ring ring;

    start_at(&ring, 4, UINT32_MAX - 5);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 4; i++)
            CU_ASSERT_TRUE(ring_push(&ring, &items[i]));
        CU_ASSERT_FALSE(ring_push(&ring, &items[0]));
        CU_ASSERT_EQUAL(ring_count(&ring), 4);
        for (int i = 0; i < 4; i++)
            CU_ASSERT_PTR_EQUAL(ring_pop(&ring), &items[i]);
    }
}

static void test_thief_takes_half_rounded_up(void)
{
    struct schedulable items[4];
    static struct ring victim;
    static struct ring thief;

    start_at(&victim, 4, UINT32_MAX - 1);
    ring_init(&thief, 4);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(ring_push(&victim, &items[i]));
    CU_ASSERT_PTR_EQUAL(ring_steal(&victim, &thief, UINT32_MAX), &items[1]);
    CU_ASSERT_EQUAL(ring_count(&victim), 1);
    CU_ASSERT_EQUAL(ring_count(&thief), 1);
    CU_ASSERT_PTR_EQUAL(ring_pop(&thief), &items[0]);
    CU_ASSERT_PTR_EQUAL(ring_pop(&victim), &items[2]);
}

static void test_thief_of_one_or_none_gets_one_or_none(void)
{
    struct schedulable item;
    static struct ring victim;
    static struct ring thief;

    ring_init(&victim, 2);
    ring_init(&thief, 2);
    CU_ASSERT_PTR_NULL(ring_steal(&victim, &thief, UINT32_MAX));
    CU_ASSERT_TRUE(ring_push(&victim, &item));
    CU_ASSERT_PTR_EQUAL(ring_steal(&victim, &thief, UINT32_MAX), &item);
    CU_ASSERT_EQUAL(ring_count(&thief), 0);
    CU_ASSERT_PTR_NULL(ring_pop(&victim));
}

/* --- owner and thieves ---------------------------------------------------------------------- */

struct item {
    struct schedulable schedulable; /* first */
    _Atomic uint32_t taken;
};

struct race {
    struct ring ring;
    struct item items[ITEMS];
    _Atomic uint32_t left;
};

static void take(struct race *race, struct schedulable *schedulable)
{
    struct item *item = (struct item *)(void *)schedulable;

    if (!item)
        return;
    atomic_fetch_add(&item->taken, 1);
    atomic_fetch_sub(&race->left, 1);
}

static void *thieve(void *argument)
{
    static _Thread_local struct ring own;
    struct race *race = argument;

    ring_init(&own, 4);
    while (atomic_load(&race->left) > 0) {
        struct schedulable *stolen = ring_steal(&race->ring, &own, UINT32_MAX);

        take(race, stolen);
        while (stolen && (stolen = ring_pop(&own)))
            take(race, stolen);
    }
    return NULL;
}

/* promise D2 */
static void test_owner_and_thieves_take_each_once(void)
{
    static struct race race;
    pthread_t thieves[2];
    uint32_t wrong = 0;

    start_at(&race.ring, 4, UINT32_MAX - ITEMS / 2);
    atomic_store(&race.left, ITEMS);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(pthread_create(&thieves[i], NULL, thieve, &race), 0);
    for (uint32_t i = 0; i < ITEMS; i++) {
        while (!ring_push(&race.ring, &race.items[i].schedulable))
            take(&race, ring_pop(&race.ring));
        if (i % 3 == 0)
            take(&race, ring_pop(&race.ring));
    }
    while (atomic_load(&race.left) > 0)
        take(&race, ring_pop(&race.ring));
    for (int i = 0; i < 2; i++)
        pthread_join(thieves[i], NULL);
    for (uint32_t i = 0; i < ITEMS; i++)
        wrong += atomic_load(&race.items[i].taken) != 1;
    CU_ASSERT_EQUAL(wrong, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "full", test_full_ring_refuses_a_push },
        { "indexes run over", test_indexes_run_over_and_order_stays },
        { "half", test_thief_takes_half_rounded_up },
        { "one or none", test_thief_of_one_or_none_gets_one_or_none },
        { "race", test_owner_and_thieves_take_each_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("ring", tests);
}
