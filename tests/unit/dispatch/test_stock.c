/* SPDX-License-Identifier: MIT */
/*
 * Goal: a free object has one holder, and goes from stocks with too many to stocks without any;
 * a thread holds two batches at most.
 *
 * Method: two stocks played by one thread; then threads that take from and give to their own
 * stocks, one of which only takes and one of which only gives, with each thing marked by its
 * holder.
 */
#include "dispatch/stock.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "unit/host/suite.h"

#define THREADS 3
#define ITEMS (STOCK_BATCH * 8u)
#define ROUNDS 20000u

struct item {
    struct stock_item stock; /* first */
    _Atomic uint32_t holders;
};

static void test_last_given_is_first_taken(void)
{
    struct stock_item items[2];
    struct stock_common common;
    struct stock stock = { .open.count = 0 };

    stock_common_init(&common);
    CU_ASSERT_PTR_NULL(stock_take(&stock, &common));
    stock_give(&stock, &common, &items[0]);
    stock_give(&stock, &common, &items[1]);
    CU_ASSERT_PTR_EQUAL(stock_take(&stock, &common), &items[1]);
    CU_ASSERT_PTR_EQUAL(stock_take(&stock, &common), &items[0]);
    CU_ASSERT_PTR_NULL(stock_take(&stock, &common));
    stock_common_finish(&common);
}

static void test_what_is_too_much_is_for_others(void)
{
    static struct stock_item items[STOCK_BATCH * 3];
    struct stock_common common;
    struct stock one = { .open.count = 0 }, other = { .open.count = 0 };
    uint32_t count = 0;

    stock_common_init(&common);
    for (uint32_t i = 0; i < STOCK_BATCH * 2; i++)
        stock_give(&one, &common, &items[i]);
    CU_ASSERT_PTR_NULL(stock_take(&other, &common)); /* not too much yet */
    for (uint32_t i = STOCK_BATCH * 2; i < STOCK_BATCH * 3; i++)
        stock_give(&one, &common, &items[i]);
    while (stock_take(&other, &common))
        count++;
    CU_ASSERT_EQUAL(count, STOCK_BATCH);
    for (count = 0; stock_take(&one, &common);)
        count++;
    CU_ASSERT_EQUAL(count, STOCK_BATCH * 2);
    stock_common_finish(&common);
}

/* --- threads -------------------------------------------------------------------------------- */

struct race {
    struct stock_common common;
    struct item items[ITEMS];
    struct stock stocks[THREADS];
    _Atomic uint32_t next; /* number of a thread */
    _Atomic uint32_t wrong;
};

static void hold(struct race *race, struct item *item, uint32_t holders)
{
    if (atomic_fetch_xor(&item->holders, 1) != holders)
        atomic_fetch_add(&race->wrong, 1);
}

/* Takes a few from its stock, and gives them back. */
static void *exchange(void *argument)
{
    struct race *race = argument;
    struct stock *stock = &race->stocks[atomic_fetch_add(&race->next, 1)];
    struct item *held[STOCK_BATCH * 2];

    for (uint32_t round = 0; round < ROUNDS / STOCK_BATCH; round++) {
        uint32_t count = 0;

        while (count < 1 + round % (STOCK_BATCH * 2) &&
               (held[count] = (struct item *)(void *)stock_take(stock, &race->common)))
            hold(race, held[count++], 0);
        while (count > 0) {
            hold(race, held[--count], 1);
            stock_give(stock, &race->common, &held[count]->stock);
        }
    }
    return NULL;
}

static void test_each_thing_has_one_holder(void)
{
    static struct race race;
    pthread_t threads[THREADS];
    uint32_t count = 0;

    stock_common_init(&race.common);
    for (uint32_t i = 0; i < ITEMS; i++)
        stock_give(&race.stocks[i % THREADS], &race.common, &race.items[i].stock);
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, exchange, &race), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&race.wrong), 0);
    for (int i = 0; i < THREADS; i++)
        while (stock_take(&race.stocks[i], &race.common))
            count++;
    CU_ASSERT_EQUAL(count, ITEMS);
    stock_common_finish(&race.common);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "last", test_last_given_is_first_taken },
        { "too much", test_what_is_too_much_is_for_others },
        { "race", test_each_thing_has_one_holder },
        CU_TEST_INFO_NULL,
    };

    return suite_run("stock", tests);
}
