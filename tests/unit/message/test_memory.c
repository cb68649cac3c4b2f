/* SPDX-License-Identifier: MIT */
/*
 * Goal: messages never take more than the cap, on any threads; all of it can be used; none of it is
 * lost.
 *
 * Method: caches with shares of one cap, in one thread at every edge; then several threads that
 * make, pass on and free messages of all sizes while another one watches.
 */
#include "message/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "message/cache.h"
#include "message/message.h"
#include "unit/host/suite.h"

#define LIMIT (256u << 10)
#define THREADS 4u
#define ROUNDS 20000u
#define SHELF 64u

static void begin(struct memory *memory, struct cache *cache, uint64_t limit)
{
    memory_init(memory, limit);
    cache_init(cache);
    cache->share.memory = memory;
}

static uint64_t taken(struct memory *memory)
{
    return atomic_load(&memory->taken);
}

/* promise S10 */
static void test_all_of_the_cap_can_be_used_and_no_more(void)
{
    struct message_list list = { 0 };
    struct message *message;
    struct memory memory;
    struct cache cache;
    uint64_t sum = 0;

    begin(&memory, &cache, LIMIT);
    while (sum <= LIMIT && (message = message_create_counted(&cache, NULL, 1000))) {
        sum += cache_room(message, MESSAGE_HEADER_SIZE);
        message_list_append(&list, message);
    }
    CU_ASSERT_TRUE(sum <= LIMIT);
    CU_ASSERT_TRUE(sum + 2048 > LIMIT);
    CU_ASSERT_TRUE(taken(&memory) <= LIMIT);
    CU_ASSERT_EQUAL(atomic_load(&memory.refused), 1);
    CU_ASSERT_TRUE(memory_is_scarce(&memory));
    message_destroy(&cache, message_list_take(&list));
    message = message_create_counted(&cache, NULL, 1000);
    CU_ASSERT_PTR_NOT_NULL(message);
    message_destroy(&cache, message);
    while ((message = message_list_take(&list)))
        message_destroy(&cache, message);
    cache_flush(&cache);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    CU_ASSERT_FALSE(memory_is_scarce(&memory));
    cache_finish(&cache);
}

static void test_larger_than_the_cap_is_never_made(void)
{
    struct memory memory;
    struct cache cache;

    begin(&memory, &cache, 10000);
    CU_ASSERT_PTR_NULL(message_create_counted(&cache, NULL, 10001));
    CU_ASSERT_PTR_NULL(message_create_counted(&cache, NULL, SIZE_MAX));
    CU_ASSERT_PTR_NULL(message_create_counted(&cache, NULL, SIZE_MAX - 50));
    cache_flush(&cache);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    cache_finish(&cache);
}

/* promises S10 and R16: messages above a new limit stay. */
static void test_lower_cap_refuses_until_less_is_taken(void)
{
    struct message_list list = { 0 };
    struct message *message;
    struct memory memory;
    struct cache cache;
    size_t room = 0;

    begin(&memory, &cache, LIMIT);
    for (int i = 0; i < 64; i++) {
        message = message_create_counted(&cache, NULL, 1000);
        CU_ASSERT_PTR_NOT_NULL_FATAL(message);
        message_list_append(&list, message);
    }
    room = cache_room(message, MESSAGE_HEADER_SIZE);
    cache_flush(&cache);
    memory_set_limit(&memory, 8000);
    CU_ASSERT_TRUE(memory_is_scarce(&memory));
    while (list.count > 0 && taken(&memory) + room > 8000) { /* not for one more */
        CU_ASSERT_PTR_NULL(message_create_counted(&cache, NULL, 1000));
        message_destroy(&cache, message_list_take(&list));
        cache_flush(&cache);
    }
    CU_ASSERT_TRUE(list.count > 0);
    message = message_create_counted(&cache, NULL, 1000);
    CU_ASSERT_PTR_NOT_NULL(message);
    message_destroy(&cache, message);
    memory_set_limit(&memory, LIMIT);
    CU_ASSERT_FALSE(memory_is_scarce(&memory));
    while ((message = message_list_take(&list)))
        message_destroy(&cache, message);
    cache_flush(&cache);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    cache_finish(&cache);
}

/* promise R16: messages made without a cap have taken nothing, and give nothing back. */
static void test_cap_that_comes_and_goes_counts_what_is_made_under_it(void)
{
    struct message *before, *under;
    struct memory memory;
    struct cache cache;

    begin(&memory, &cache, 0);
    before = message_create_counted(&cache, NULL, 1000);
    memory_set_limit(&memory, LIMIT);
    under = message_create_counted(&cache, NULL, 1000);
    CU_ASSERT_FATAL(before && under);
    message_destroy(&cache, before);
    cache_flush(&cache);
    CU_ASSERT_EQUAL(taken(&memory), cache_room(under, MESSAGE_HEADER_SIZE));
    memory_set_limit(&memory, 0);
    before = message_create_counted(&cache, NULL, LIMIT);
    CU_ASSERT_PTR_NOT_NULL_FATAL(before);
    message_destroy(&cache, under);
    message_destroy(&cache, before);
    cache_flush(&cache);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    cache_finish(&cache);
}

static void test_without_a_cap_nothing_is_counted(void)
{
    struct message *message;
    struct memory memory;
    struct cache cache;

    begin(&memory, &cache, 0);
    message = message_create_counted(&cache, NULL, 5000);
    CU_ASSERT_PTR_NOT_NULL(message);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    CU_ASSERT_FALSE(memory_is_scarce(&memory));
    message_destroy(&cache, message);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    cache_finish(&cache);
}

/* A plugin may write to `size`; the bytes are given back all the same. */
static void test_size_that_was_written_to_changes_nothing(void)
{
    static const size_t sizes[] = { 0, 1, 32, 33, 4000, 4001, 100000 };
    struct memory memory;
    struct cache cache;

    begin(&memory, &cache, 1u << 20);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct message *message = message_create_counted(&cache, NULL, sizes[i]);

        CU_ASSERT_PTR_NOT_NULL_FATAL(message);
        message->public.size = sizes[i] / 2 + 7;
        message_destroy(&cache, message);
        cache_flush(&cache);
        CU_ASSERT_EQUAL(taken(&memory), 0);
    }
    cache_finish(&cache);
}

static void test_freed_elsewhere_is_free_for_all(void)
{
    struct message *message;
    struct memory memory;
    struct cache maker, taker;

    begin(&memory, &maker, LIMIT);
    cache_init(&taker);
    taker.share.memory = &memory;
    for (uint32_t i = 0; i < 100; i++) {
        message = message_create_counted(&maker, NULL, LIMIT / 2);
        CU_ASSERT_PTR_NOT_NULL(message);
        message_destroy(&taker, message);
    }
    cache_flush(&maker);
    cache_flush(&taker);
    CU_ASSERT_EQUAL(taken(&memory), 0);
    cache_finish(&taker);
    cache_finish(&maker);
}

/* --- threads -------------------------------------------------------------------------------- */

/* Messages for the next thread to free. */
struct common {
    struct memory memory;
    _Atomic(struct message *) shelf[SHELF];
    _Atomic bool done;
    uint64_t most;
};

struct worker {
    struct common *common;
    struct cache cache;
    pthread_t thread;
    uint32_t seed;
};

static void *work(void *context)
{
    struct worker *worker = context;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t random = (worker->seed = worker->seed * 1664525u + 1013904223u) >> 8;
        struct message *message = message_create_counted(&worker->cache, NULL, random % 9000);
        struct message *old = atomic_exchange(&worker->common->shelf[random % SHELF], message);

        message_destroy(&worker->cache, old);
    }
    return NULL;
}

static void *watch(void *context)
{
    struct common *common = context;

    while (!atomic_load(&common->done)) {
        uint64_t now = taken(&common->memory);

        if (now > common->most)
            common->most = now;
        (void)sched_yield();
    }
    return NULL;
}

/* promise S10 */
static void test_threads_never_pass_the_cap_and_lose_nothing(void)
{
    static struct common common;
    struct worker workers[THREADS];
    pthread_t watcher;

    memory_init(&common.memory, LIMIT);
    CU_ASSERT_EQUAL(pthread_create(&watcher, NULL, watch, &common), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .common = &common, .seed = i + 1 };
        cache_init(&workers[i].cache);
        workers[i].cache.share.memory = &common.memory;
        CU_ASSERT_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&common.done, true);
    pthread_join(watcher, NULL);
    for (uint32_t i = 0; i < SHELF; i++)
        message_destroy(&workers[0].cache, atomic_load(&common.shelf[i]));
    for (uint32_t i = 0; i < THREADS; i++)
        cache_flush(&workers[i].cache);
    CU_ASSERT_TRUE(common.most <= LIMIT);
    CU_ASSERT_EQUAL(taken(&common.memory), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        cache_finish(&workers[i].cache);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "all of it", test_all_of_the_cap_can_be_used_and_no_more },
        { "larger", test_larger_than_the_cap_is_never_made },
        { "lower cap", test_lower_cap_refuses_until_less_is_taken },
        { "comes and goes", test_cap_that_comes_and_goes_counts_what_is_made_under_it },
        { "no cap", test_without_a_cap_nothing_is_counted },
        { "size written to", test_size_that_was_written_to_changes_nothing },
        { "elsewhere", test_freed_elsewhere_is_free_for_all },
        { "threads", test_threads_never_pass_the_cap_and_lose_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("memory", tests);
}
