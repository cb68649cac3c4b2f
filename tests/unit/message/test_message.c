/* SPDX-License-Identifier: MIT */
/*
 * Goal: a new message is clean, and a list of messages keeps its order and its count.
 *
 * Method: lists of a few messages, changed at the front, in the middle and at the end.
 */
#include "message/message.h"

#include <stdint.h>

#include "message/cache.h"
#include "unit/host/suite.h"

struct fixture {
    struct cache cache;
    struct message *messages[4];
    struct message_list list;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){ .list.count = 0 };
    cache_init(&fixture->cache);
    for (size_t i = 0; i < 4; i++)
        fixture->messages[i] = message_create(&fixture->cache, NULL, 8);
}

static void finish(struct fixture *fixture)
{
    for (size_t i = 0; i < 4; i++)
        message_destroy(&fixture->cache, fixture->messages[i]);
    cache_finish(&fixture->cache);
}

static void test_new_message_is_clean_and_aligned(void)
{
    static const struct weir_tag tag = { "test/1" };
    struct cache cache;
    struct message *message;

    cache_init(&cache);
    message = message_create(&cache, &tag, 40);
    CU_ASSERT_EQUAL((uintptr_t)message->public.data % 16, 0);
    CU_ASSERT_EQUAL(message->public.size, 40);
    CU_ASSERT_PTR_EQUAL(message->public.tag, &tag);
    CU_ASSERT_EQUAL(message->public.kind, WEIR_MESSAGE);
    CU_ASSERT_EQUAL(message->public.attempt, 1);
    CU_ASSERT_EQUAL(message->public.from, 0);
    for (size_t i = 0; i < 40; i++)
        CU_ASSERT_EQUAL(((char *)message->public.data)[i], 0);
    CU_ASSERT_PTR_EQUAL(message_of(&message->public), message);
    message_destroy(&cache, message);
    cache_finish(&cache);
}

static void test_message_without_payload_has_no_data(void)
{
    struct cache cache;
    struct message *message;

    cache_init(&cache);
    message = message_create(&cache, NULL, 0);
    CU_ASSERT_PTR_NULL(message->public.data);
    message_destroy(&cache, message);
    message_destroy(&cache, NULL);
    cache_finish(&cache);
}

/* A text for people fits in place of any payload; the identifying fields stay. */
static void test_text_longer_than_the_memory_moves_the_message(void)
{
    static const char text[] = "a text that is longer than a small message has room for";
    static const struct weir_tag tag = { "test/1" };
    struct cache cache;
    struct message *message;

    cache_init(&cache);
    message = message_create(&cache, &tag, 1);
    message->public.from = 7;
    message->public.key = 8;
    message->public.attempt = 3;
    message->public.reserved |= MESSAGE_ORIGIN | 5 * MESSAGE_FAILURE;
    message->token = 9;
    message->origin = 10;
    message->origin_life = 11;
    message = message_say(&cache, message, text);
    CU_ASSERT_STRING_EQUAL(message->public.data, text);
    CU_ASSERT_EQUAL(message->public.size, sizeof text);
    CU_ASSERT_PTR_EQUAL(message->public.tag, &tag);
    CU_ASSERT_EQUAL(message->public.from, 7);
    CU_ASSERT_EQUAL(message->public.key, 8);
    CU_ASSERT_EQUAL(message->public.attempt, 3);
    CU_ASSERT_TRUE(message->public.reserved & MESSAGE_ORIGIN);
    CU_ASSERT_EQUAL(message_failures(&message->public), 5);
    CU_ASSERT_EQUAL(message->token, 9);
    CU_ASSERT_EQUAL(message->origin, 10);
    CU_ASSERT_EQUAL(message->origin_life, 11);
    message = message_say(&cache, message, "");
    CU_ASSERT_EQUAL(message->public.size, 0);
    message_destroy(&cache, message);
    cache_finish(&cache);
}

static void test_appended_messages_come_in_order(void)
{
    struct fixture f;

    begin(&f);
    for (size_t i = 0; i < 4; i++)
        message_list_append(&f.list, f.messages[i]);
    CU_ASSERT_EQUAL(f.list.count, 4);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_PTR_EQUAL(message_list_take(&f.list), f.messages[i]);
    CU_ASSERT_PTR_NULL(message_list_take(&f.list));
    CU_ASSERT_EQUAL(f.list.count, 0);
    finish(&f);
}

static void test_queue_counts_what_is_in_it(void)
{
    struct message_queue queue = { 0 };
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(message_queue_count(&queue), 0);
    for (uint32_t i = 0; i < 3; i++) {
        message_queue_append(&queue, f.messages[i]);
        CU_ASSERT_EQUAL(message_queue_count(&queue), i + 1);
    }
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_EQUAL(message_queue_take(&queue), f.messages[i]);
    CU_ASSERT_TRUE(message_queue_is_empty(&queue));
    CU_ASSERT_PTR_NULL(message_queue_take(&queue));
    finish(&f);
}

static void test_find_compares_addresses(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_PTR_NULL(message_list_find(&f.list, (uint64_t)(uintptr_t)f.messages[0]));
    for (size_t i = 0; i < 3; i++)
        message_list_append(&f.list, f.messages[i]);
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_EQUAL(message_list_find(&f.list, (uint64_t)(uintptr_t)f.messages[i]),
                            f.messages[i]);
    CU_ASSERT_PTR_NULL(message_list_find(&f.list, (uint64_t)(uintptr_t)f.messages[3]));
    finish(&f);
}

static void test_prepended_message_comes_first(void)
{
    struct fixture f;

    begin(&f);
    message_list_prepend(&f.list, f.messages[1]);
    message_list_prepend(&f.list, f.messages[0]);
    message_list_append(&f.list, f.messages[2]);
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_EQUAL(message_list_take(&f.list), f.messages[i]);
    CU_ASSERT_EQUAL(f.list.count, 0);
    CU_ASSERT_TRUE(message_queue_is_empty(&f.list.queue));
    finish(&f);
}

static void test_removed_message_leaves_the_rest_in_order(void)
{
    struct fixture f;

    begin(&f);
    for (size_t i = 0; i < 3; i++)
        message_list_append(&f.list, f.messages[i]);
    CU_ASSERT_FALSE(message_list_remove(&f.list, f.messages[3]));
    CU_ASSERT_TRUE(message_list_remove(&f.list, f.messages[1]));
    CU_ASSERT_EQUAL(f.list.count, 2);
    CU_ASSERT_TRUE(message_list_remove(&f.list, f.messages[2]));
    message_list_append(&f.list, f.messages[3]);
    CU_ASSERT_PTR_EQUAL(message_list_take(&f.list), f.messages[0]);
    CU_ASSERT_PTR_EQUAL(message_list_take(&f.list), f.messages[3]);
    finish(&f);
}

/* --- labels ---------------------------------------------------------------------------------- */

static void test_label_does_not_touch_the_payload(void)
{
    static const size_t sizes[] = { 1, 66, 67, 5000 };
    struct cache cache;

    cache_init(&cache);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct message *message = message_create(&cache, NULL,
                                                 sizes[i] + message_label_room("piece 7"));

        message_set_label(message, sizes[i], "piece 7", message_label_room("piece 7"));
        CU_ASSERT_EQUAL(message->public.size, sizes[i]);
        memset(message->public.data, 'x', sizes[i]);
        CU_ASSERT_STRING_EQUAL(message_label(message), "piece 7");
        message_destroy(&cache, message);
    }
    cache_finish(&cache);
}

/* With and without a payload. */
static void test_copy_has_the_label(void)
{
    struct cache cache;

    cache_init(&cache);
    for (size_t size = 0; size < 200; size++) {
        struct message *message = message_create(&cache, NULL,
                                                 size + message_label_room("piece 7"));
        struct message *copy;

        message_set_label(message, size, "piece 7", message_label_room("piece 7"));
        if (size > 0)
            memset(message->public.data, 'x', size);
        copy = message_copy(&cache, message);
        message_destroy(&cache, message);
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        CU_ASSERT_EQUAL(copy->public.size, size);
        CU_ASSERT_TRUE(size == 0 || ((const char *)copy->public.data)[size - 1] == 'x');
        CU_ASSERT_STRING_EQUAL(message_label(copy), "piece 7");
        message_destroy(&cache, copy);
    }
    cache_finish(&cache);
}

/* Beside the payload and the label, of each size; copies have it, a notice has not. */
static void test_identity_is_behind_the_label(void)
{
    const size_t room = message_label_room("piece 7") + MESSAGE_IDENTITY_ROOM;
    struct cache cache;

    cache_init(&cache);
    for (size_t size = 0; size < 400; size++) {
        struct message *message = message_create(&cache, NULL, size + room), *copy;

        CU_ASSERT_FALSE(message_set_identity(message, 5)); /* without a label */
        message_set_label(message, size, "piece 7", message_label_room("piece 7"));
        CU_ASSERT_EQUAL(message_identity(message), 0);
        if (size > 0)
            memset(message->public.data, 'x', size);
        CU_ASSERT_TRUE(message_set_identity(message, 5));
        CU_ASSERT_TRUE(message_set_identity(message, UINT64_C(1) << 63));
        copy = message_twin(&cache, message);
        message_destroy(&cache, message);
        CU_ASSERT_EQUAL(message_identity(copy), UINT64_C(1) << 63);
        CU_ASSERT_STRING_EQUAL(message_label(copy), "piece 7");
        for (size_t i = 0; i < size; i++)
            CU_ASSERT_EQUAL(((const char *)copy->public.data)[i], 'x');
        copy = message_say(&cache, copy, "why");
        CU_ASSERT_EQUAL(message_identity(copy), 0);
        message_destroy(&cache, copy);
    }
    cache_finish(&cache);
}

static void test_long_label_is_cut(void)
{
    struct cache cache;
    struct message *message;
    char text[300];

    cache_init(&cache);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    message = message_create(&cache, NULL, message_label_room(text));
    message_set_label(message, 0, text, message_label_room(text));
    CU_ASSERT_PTR_NULL(message->public.data);
    CU_ASSERT_EQUAL(strlen(message_label(message)), MESSAGE_LABEL_MAX - 1);
    message_destroy(&cache, message);
    cache_finish(&cache);
}

/* Whether the notice stays in the memory of the message or moves. */
static void test_notice_has_no_label(void)
{
    struct cache cache;
    char text[400];

    cache_init(&cache);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    for (size_t length = 1; length < sizeof text; length++) {
        struct message *message = message_create(&cache, NULL, 1 + message_label_room("piece 7"));

        message_set_label(message, 1, "piece 7", message_label_room("piece 7"));
        message = message_say(&cache, message, text + sizeof text - 1 - length);
        CU_ASSERT_EQUAL(strlen(message->public.data), length);
        CU_ASSERT_STRING_EQUAL(message_label(message), "");
        message_destroy(&cache, message);
    }
    cache_finish(&cache);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "clean", test_new_message_is_clean_and_aligned },
        { "no payload", test_message_without_payload_has_no_data },
        { "text", test_text_longer_than_the_memory_moves_the_message },
        { "append", test_appended_messages_come_in_order },
        { "count", test_queue_counts_what_is_in_it },
        { "find", test_find_compares_addresses },
        { "prepend", test_prepended_message_comes_first },
        { "remove", test_removed_message_leaves_the_rest_in_order },
        { "label", test_label_does_not_touch_the_payload },
        { "copied label", test_copy_has_the_label },
        { "identity", test_identity_is_behind_the_label },
        { "long label", test_long_label_is_cut },
        { "notice", test_notice_has_no_label },
        CU_TEST_INFO_NULL,
    };

    return suite_run("message", tests);
}
