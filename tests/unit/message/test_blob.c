/* SPDX-License-Identifier: MIT */
/*
 * Goal: a blob is shared, not copied, by all messages that have it, and freed with the last hold.
 *
 * Method: messages made and destroyed by the test, with the count compared; blobs that go through
 * workers; threads that hold and release at once. AddressSanitizer sees a free that is too early or
 * missing.
 */
#include "message/blob.h"

#include <pthread.h>
#include <string.h>

#include "message/cache.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SIZE ((size_t)1 << 20)
#define THREADS 4
#define HOLDS 20000

static uint32_t holds(struct blob *blob)
{
    return atomic_load(&blob->references);
}

/* promise S12 */
static void test_copies_share_the_blob_until_the_last_is_gone(void)
{
    struct cache cache;
    struct blob *blob = blob_create(SIZE);
    struct message *message, *copy;

    cache_init(&cache);
    CU_ASSERT_PTR_NOT_NULL_FATAL(blob);
    memset(blob->public.data, 'x', SIZE);
    message = message_create_with_blob(&cache, NULL, blob);
    copy = message_copy(&cache, message);
    CU_ASSERT_EQUAL(holds(blob), 3);
    CU_ASSERT_PTR_EQUAL(copy->public.data, blob->public.data);
    CU_ASSERT_EQUAL(copy->public.size, SIZE);
    CU_ASSERT_PTR_EQUAL(message_blob(copy), blob);
    blob_unref(blob);
    message_destroy(&cache, message);
    CU_ASSERT_EQUAL(holds(blob), 1);
    CU_ASSERT_EQUAL(((char *)copy->public.data)[SIZE - 1], 'x');
    message_destroy(&cache, copy);
    message = message_create(&cache, NULL, 8); /* the memory that had a blob has none now */
    CU_ASSERT_PTR_NULL(message_blob(message));
    message_destroy(&cache, message);
    cache_finish(&cache);
}

/* promise S12: a text for people never overwrites a shared payload. */
static void test_text_replaces_the_blob_and_does_not_write_to_it(void)
{
    struct cache cache;
    struct blob *blob = blob_create(SIZE);
    struct message *message;

    cache_init(&cache);
    memset(blob->public.data, 'x', SIZE);
    message = message_create_with_blob(&cache, NULL, blob);
    message = message_say(&cache, message, "no");
    CU_ASSERT_STRING_EQUAL(message->public.data, "no");
    CU_ASSERT_EQUAL(holds(blob), 1);
    CU_ASSERT_EQUAL(((char *)blob->public.data)[0], 'x');
    message_destroy(&cache, message);
    blob_unref(blob);
    cache_finish(&cache);
}

static void test_blob_too_large_for_memory_is_refused(void)
{
    CU_ASSERT_PTR_NULL(blob_create(SIZE_MAX));
    CU_ASSERT_PTR_NULL(blob_create(SIZE_MAX - 100));
}

static void *hold_and_release(void *context)
{
    struct weir_blob *blob = context;

    for (int i = 0; i < HOLDS; i++) {
        weir_blob_hold(blob);
        weir_blob_release(blob);
    }
    weir_blob_release(blob);
    return NULL;
}

/* promise S12: the last of several threads frees it, whichever it is. */
static void test_any_thread_holds_and_releases(void)
{
    struct blob *blob = blob_create(64);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        weir_blob_hold(&blob->public);
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, hold_and_release, &blob->public), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(holds(blob), 1);
    weir_blob_release(&blob->public);
}

/* --- in the cap on memory -------------------------------------------------------------------- */

static uint64_t taken(struct memory *memory)
{
    return atomic_load(&memory->taken);
}

/* promise S10 */
static void test_blob_counts_once_from_its_making_to_its_end(void)
{
    struct memory *memory = memory_create(4 * SIZE);
    struct message *messages[8];
    struct cache cache;
    struct blob *blob;

    cache_init(&cache);
    cache.share.memory = memory;
    blob = blob_create_counted(&cache.share, SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(blob);
    memory_flush(&cache.share);
    CU_ASSERT_EQUAL(taken(memory), SIZE);
    for (int i = 0; i < 8; i++) {
        messages[i] = message_create_with_blob(&cache, NULL, blob);
        CU_ASSERT_PTR_NOT_NULL_FATAL(messages[i]);
    }
    CU_ASSERT_EQUAL(taken(memory), SIZE);
    blob->public.size = 1; /* a plugin may write to it */
    blob_unref(blob);
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(taken(memory), SIZE);
        message_destroy(&cache, messages[i]);
    }
    CU_ASSERT_EQUAL(taken(memory), 0);
    cache_finish(&cache);
    memory_unref(memory);
}

/* promise S10: never more than the cap, and room again when one is freed. */
static void test_blob_past_the_cap_is_refused(void)
{
    struct memory *memory = memory_create(4 * SIZE);
    struct cache cache;
    struct blob *blobs[5];

    cache_init(&cache);
    cache.share.memory = memory;
    for (int i = 0; i < 5; i++)
        blobs[i] = blob_create_counted(&cache.share, SIZE);
    CU_ASSERT_PTR_NOT_NULL(blobs[3]);
    CU_ASSERT_PTR_NULL(blobs[4]);
    CU_ASSERT_EQUAL(atomic_load(&memory->refused), 1);
    CU_ASSERT_PTR_NULL(blob_create_counted(&cache.share, SIZE_MAX - 100));
    CU_ASSERT_EQUAL(taken(memory), 4 * SIZE);
    blob_unref(blobs[3]);
    blobs[3] = blob_create_counted(&cache.share, SIZE);
    CU_ASSERT_PTR_NOT_NULL(blobs[3]);
    for (int i = 0; i < 4; i++)
        blob_unref(blobs[i]);
    memory_flush(&cache.share);
    CU_ASSERT_EQUAL(taken(memory), 0);
    cache_finish(&cache);
    memory_unref(memory);
}

/* A plugin holds it longer than the runtime lives: the cap lives as long. */
static void test_blob_may_outlive_what_it_counts_in(void)
{
    struct memory *memory = memory_create(4 * SIZE);
    struct cache cache;
    struct blob *blob;

    cache_init(&cache);
    cache.share.memory = memory;
    blob = blob_create_counted(&cache.share, 100);
    CU_ASSERT_PTR_NOT_NULL_FATAL(blob);
    cache_finish(&cache);
    CU_ASSERT_EQUAL(taken(memory), 128); /* whole lines */
    memory_unref(memory);
    blob_unref(blob);
}

/* --- through workers ------------------------------------------------------------------------- */

static int makes_too_large(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    (void)message;
    probe_note(probe, weir_blob_new(self, SIZE + 1) ? 5 : 6);
    return WEIR_DONE;
}

/* promise S10: a worker is within the cap of its host. */
static void test_worker_gets_no_blob_past_the_cap(void)
{
    struct probe *probe = probe_create();
    struct pool *pool;
    struct rig rig;

    rig_init(&rig, 1, 0);
    memory_init(rig.runtime->memory, SIZE);
    pool = rig_workers(&rig, probe, "pool", 1, 8);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = makes_too_large, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 6, 1));
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* Forwards its payload, shared, to the pool of the order. */
static int read_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_blob *blob = weir_message_blob(self, message);

    CU_ASSERT_PTR_EQUAL(blob, probe->context);
    CU_ASSERT_PTR_EQUAL(message->data, blob->data);
    return WEIR_DONE;
}

static int send_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const weir_pid to = probe_order(message)->argument;
    struct weir_blob *blob = weir_blob_new(self, sizeof(struct order));

    probe->context = blob;
    *(struct order *)blob->data = (struct order){ .act = read_it, .id = 2 };
    CU_ASSERT_PTR_NULL(weir_message_blob(self, message));
    for (int i = 0; i < 8; i++)
        CU_ASSERT_EQUAL(weir_send(self, to, weir_message_with_blob(self, NULL, blob)), 0);
    weir_blob_release(blob);
    return WEIR_DONE;
}

/* promise S12 */
static void test_blob_reaches_workers_as_it_is(void)
{
    struct probe *probe = probe_create();
    struct pool *from, *to;
    struct rig rig;

    rig_init(&rig, 2, 0);
    from = rig_workers(&rig, probe, "from", 1, 8);
    to = rig_workers(&rig, probe, "to", 2, 8);
    CU_ASSERT_EQUAL(
        rig_send(&rig, from->pid, (struct order){ .act = send_it, .id = 1, .argument = to->pid }),
        0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 2, 8));
    CU_ASSERT_TRUE(rig_end(&rig, from, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, to, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "copies", test_copies_share_the_blob_until_the_last_is_gone },
        { "text", test_text_replaces_the_blob_and_does_not_write_to_it },
        { "too large", test_blob_too_large_for_memory_is_refused },
        { "threads", test_any_thread_holds_and_releases },
        { "counted", test_blob_counts_once_from_its_making_to_its_end },
        { "cap", test_blob_past_the_cap_is_refused },
        { "outlives", test_blob_may_outlive_what_it_counts_in },
        { "worker", test_worker_gets_no_blob_past_the_cap },
        { "workers", test_blob_reaches_workers_as_it_is },
        CU_TEST_INFO_NULL,
    };

    return suite_run("blob", tests);
}
