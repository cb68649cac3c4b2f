/* SPDX-License-Identifier: MIT */
/*
 * Goal: message memory returns to the cache that it came from, in batches, is used again, and is
 * bounded; a message may outlive its cache; a size that is too large is not cached, one that
 * overflows is refused.
 *
 * Method: two caches played by one thread, then by two. Under AddressSanitizer the cache is off by
 * design; tests that cannot hold then are left out.
 */
#include "message/cache.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "message/message.h"
#include "unit/host/suite.h"

#define ROUNDS 200

static bool is_bypassed(void)
{
    struct cache cache;
    struct message *message;
    bool bypassed;

    cache_init(&cache);
    message = message_create(&cache, NULL, 8);
    bypassed = message->home == NULL;
    message_destroy(&cache, message);
    cache_finish(&cache);
    return bypassed;
}

static void test_given_message_is_taken_again(void)
{
    struct cache cache;
    struct message *first;
    struct message *second;

    cache_init(&cache);
    first = message_create(&cache, NULL, 8);
    message_destroy(&cache, first);
    second = message_create(&cache, NULL, 16);
    CU_ASSERT_TRUE(is_bypassed() || first == second);
    CU_ASSERT_EQUAL(second->public.size, 16);
    message_destroy(&cache, second);
    cache_finish(&cache);
}

static void test_other_threads_messages_go_home_in_batches(void)
{
    struct cache home;
    struct cache away;
    struct message *messages[CACHE_BATCH];

    cache_init(&home);
    cache_init(&away);
    for (size_t i = 0; i < CACHE_BATCH; i++)
        messages[i] = message_create(&home, NULL, 8);
    for (size_t i = 0; i + 1 < CACHE_BATCH; i++)
        message_destroy(&away, messages[i]);
    CU_ASSERT_PTR_NULL(atomic_load(&home.returned));
    message_destroy(&away, messages[CACHE_BATCH - 1]);
    CU_ASSERT_TRUE(is_bypassed() || atomic_load(&home.returned) != NULL);
    CU_ASSERT_EQUAL(away.shelves[0].room, cache_keeps(0));
    cache_finish(&away);
    cache_finish(&home);
}

static void test_flush_sends_home_what_waits(void)
{
    struct cache home;
    struct cache away;
    struct message *message;
    struct message *again;

    cache_init(&home);
    cache_init(&away);
    message = message_create(&home, NULL, 8);
    message_destroy(&away, message);
    CU_ASSERT_PTR_NULL(atomic_load(&home.returned));
    cache_flush(&away);
    again = message_create(&home, NULL, 8);
    CU_ASSERT_TRUE(is_bypassed() || again == message);
    message_destroy(&home, again);
    cache_finish(&away);
    cache_finish(&home);
}

static void test_more_homes_than_parcels_lose_nothing(void)
{
    enum { HOMES = CACHE_PARCELS + 3 };
    struct cache homes[HOMES];
    struct cache away;

    cache_init(&away);
    for (size_t i = 0; i < HOMES; i++)
        cache_init(&homes[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < HOMES; i++)
            message_destroy(&away, message_create(&homes[i], NULL, 8));
    cache_finish(&away);
    for (size_t i = 0; i < HOMES; i++)
        cache_finish(&homes[i]);
}

static void test_large_message_is_not_cached(void)
{
    struct cache cache;
    struct message *message;

    cache_init(&cache);
    message = message_create(&cache, NULL, 1 << 20);
    CU_ASSERT_PTR_NULL(message->home);
    CU_ASSERT_EQUAL(((char *)message->public.data)[(1 << 20) - 1], 0);
    message_destroy(&cache, message);
    for (size_t i = 0; i < CACHE_CLASSES; i++)
        CU_ASSERT_EQUAL(cache.shelves[i].room, cache_keeps((uint32_t)i));
    cache_finish(&cache);
}

static void test_class_boundary_holds_all_bytes(void)
{
    struct cache cache;

    cache_init(&cache);
    for (size_t size = 0; size <= 4200; size++) {
        struct message *message = message_create(&cache, NULL, size);

        /* AddressSanitizer sees a byte too few. */
        if (size)
            ((char *)message->public.data)[size - 1] = 1;
        message_destroy(&cache, message);
    }
    cache_finish(&cache);
}

static size_t length_of(const struct cache_shelf *shelf)
{
    size_t length = 0;

    for (struct message *message = shelf->first; message; message = atomic_load(&message->next))
        length++;
    return length;
}

static void test_room_is_never_more_than_foretold(void)
{
    struct cache cache;

    cache_init(&cache);
    for (size_t size = 0; size < (size_t)1 << 20; size += 1 + size / 50) {
        struct message *message = message_create(&cache, NULL, size);

        CU_ASSERT_TRUE(cache_room(message, MESSAGE_HEADER_SIZE) <=
                       cache_room_max(MESSAGE_HEADER_SIZE, size));
        message_destroy(&cache, message);
    }
    CU_ASSERT_EQUAL(cache_room_max(MESSAGE_HEADER_SIZE, SIZE_MAX), SIZE_MAX);
    cache_finish(&cache);
}

static void test_shelf_keeps_no_more_than_its_bound(void)
{
    enum { COUNT = CACHE_KEEP_BYTES / 4096 + 10 };
    struct message *messages[COUNT];
    struct cache cache;

    cache_init(&cache);
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = message_create(&cache, NULL, 4000);
    for (size_t i = 0; i < COUNT; i++)
        message_destroy(&cache, messages[i]);
    CU_ASSERT_EQUAL(length_of(&cache.shelves[CACHE_CLASSES - 1]),
                    CACHE_BYPASS ? 0 : CACHE_KEEP_BYTES / 4096);
    cache_finish(&cache);
}

static int compare(const void *a, const void *b)
{
    uintptr_t first = *(const uintptr_t *)a, second = *(const uintptr_t *)b;

    return first < second ? -1 : first > second;
}

/* Small and larger messages by turns, freed by another cache: the home takes the same ones again,
 * each once. */
static void test_all_that_went_home_is_taken_again(void)
{
    enum { COUNT = 1000 };
    struct message *before[COUNT], *after[COUNT];
    struct cache home, away;

    cache_init(&home);
    cache_init(&away);
    for (size_t i = 0; i < COUNT; i++)
        before[i] = message_create(&home, NULL, i % 7 == 3 ? 300 : 8);
    for (size_t i = 0; i < COUNT; i++)
        message_destroy(&away, before[i]);
    cache_flush(&away);
    for (size_t i = 0; i < COUNT; i++)
        after[i] = message_create(&home, NULL, i % 7 == 3 ? 300 : 8);
    qsort(before, COUNT, sizeof before[0], compare);
    qsort(after, COUNT, sizeof after[0], compare);
    CU_ASSERT_TRUE(is_bypassed() || memcmp(before, after, sizeof before) == 0);
    for (size_t i = 0; i < COUNT; i++)
        message_destroy(&home, after[i]);
    cache_finish(&away);
    cache_finish(&home);
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* False under a sanitizer, which has an allocator of its own. */
static bool malloc_counts(void)
{
    size_t before = bytes_in_use();
    struct message *message;
    struct cache cache;
    bool counts;

    cache_init(&cache);
    message = message_create(&cache, NULL, 1 << 14);
    counts = bytes_in_use() > before;
    message_destroy(&cache, message);
    cache_finish(&cache);
    return counts;
}

/* A burst of small messages, freed by the cache itself or by another one: memory beyond the bound
 * goes back to malloc. */
static void test_memory_of_a_burst_goes_back(void)
{
    enum { COUNT = 16 * CACHE_KEEP_BYTES / CACHE_SMALL };
    struct message **messages = malloc(COUNT * sizeof(struct message *));
    const bool counts = malloc_counts();
    struct cache home, away;
    size_t before;

    if (!messages)
        abort();
    for (int by_another = 0; by_another < 2; by_another++) {
        cache_init(&home);
        cache_init(&away);
        before = bytes_in_use();
        for (size_t i = 0; i < COUNT; i++)
            messages[i] = message_create(&home, NULL, 8);
        CU_ASSERT_TRUE(!counts || bytes_in_use() - before >= COUNT * (size_t)CACHE_SMALL);
        for (size_t i = 0; i < COUNT; i++)
            message_destroy(by_another ? &away : &home, messages[i]);
        cache_flush(&away);
        message_destroy(&home, message_create(&home, NULL, 8)); /* collects */
        /* What the cache keeps lies in two regions at most, which malloc counts twice: slab.c. */
        CU_ASSERT_TRUE(!counts || bytes_in_use() - before <= 10 * CACHE_KEEP_BYTES);
        cache_finish(&away);
        cache_finish(&home);
        /* malloc counts the small pieces that it keeps for itself. */
        CU_ASSERT_TRUE(!counts || bytes_in_use() - before < 4096);
    }
    free(messages);
}

static void make_and_outlive(void)
{
    struct cache cache;
    struct message *small, *larger, *released;

    cache_init(&cache);
    small = message_create(&cache, NULL, 8);
    larger = message_create(&cache, NULL, 1000);
    released = message_create(&cache, NULL, 8);
    message_release(NULL, released); /* as its runtime ends */
    cache_finish(&cache);
    memset(small->public.data, 1, 8);
    message_release(NULL, larger);
    message_release(NULL, small);
}

/* A plugin may hold messages longer than the runtime lives. */
static void test_message_outlives_its_cache(void)
{
    const bool counts = malloc_counts();
    size_t before;

    make_and_outlive(); /* malloc has its own caches now */
    before = bytes_in_use();
    make_and_outlive();
    CU_ASSERT_TRUE(!counts || bytes_in_use() == before);
}

static void test_size_that_overflows_gives_null(void)
{
    struct cache cache;

    cache_init(&cache);
    CU_ASSERT_PTR_NULL(message_create(&cache, NULL, SIZE_MAX));
    CU_ASSERT_PTR_NULL(message_create(&cache, NULL, SIZE_MAX - MESSAGE_HEADER_SIZE + 1));
    cache_finish(&cache);
}

/* --- two threads ---------------------------------------------------------------------------- */

struct stream {
    struct cache away;
    _Atomic(struct message *) slot; /* one message on its way; NULL = room */
};

static void *take_and_free(void *argument)
{
    struct stream *stream = argument;

    for (int got = 0; got < ROUNDS * CACHE_BATCH;) {
        struct message *message = atomic_exchange(&stream->slot, NULL);

        if (!message)
            continue;
        message_destroy(&stream->away, message);
        got++;
    }
    cache_flush(&stream->away);
    return NULL;
}

static void test_one_way_stream_uses_its_memory_again(void)
{
    struct stream stream = { .slot = NULL };
    struct cache home;
    pthread_t thread;

    cache_init(&home);
    cache_init(&stream.away);
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, take_and_free, &stream), 0);
    for (int i = 0; i < ROUNDS * CACHE_BATCH; i++) {
        struct message *message = message_create(&home, NULL, 8);
        struct message *none = NULL;

        while (!atomic_compare_exchange_weak(&stream.slot, &none, message))
            none = NULL;
    }
    pthread_join(thread, NULL);
    cache_finish(&stream.away);
    cache_finish(&home);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "taken again", test_given_message_is_taken_again },
        { "batches", test_other_threads_messages_go_home_in_batches },
        { "flush", test_flush_sends_home_what_waits },
        { "many homes", test_more_homes_than_parcels_lose_nothing },
        { "large", test_large_message_is_not_cached },
        { "class boundaries", test_class_boundary_holds_all_bytes },
        { "room", test_room_is_never_more_than_foretold },
        { "bounded", test_shelf_keeps_no_more_than_its_bound },
        { "home again", test_all_that_went_home_is_taken_again },
        { "burst", test_memory_of_a_burst_goes_back },
        { "outlives", test_message_outlives_its_cache },
        { "overflow", test_size_that_overflows_gives_null },
        { "stream", test_one_way_stream_uses_its_memory_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("cache", tests);
}
