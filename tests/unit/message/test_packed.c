/* SPDX-License-Identifier: MIT */
/*
 * Goal: a task that was packed is the same message when it is opened; a message with anything that
 * a packed task has no place for has no packed form; chunks are freed with their last task.
 *
 * Method: messages made by hand, more than a chunk holds; AddressSanitizer reports leaks.
 */
#include <string.h>

#include "message/cache.h"
#include "message/message.h"
#include "unit/host/suite.h"

#define MANY 2000u /* several chunks */

static const struct weir_tag tag = { "task" };

static struct message *make_task(struct cache *cache, uint64_t number)
{
    struct message *task = message_create(cache, &tag, 16);
    const uint64_t payload[2] = { number, ~number };

    CU_ASSERT_PTR_NOT_NULL_FATAL(task);
    memcpy(task->public.data, payload, sizeof payload);
    task->public.reserved |= MESSAGE_TASK;
    return task;
}

static struct message *pack(struct cache *cache, uint64_t number)
{
    struct message *task = make_task(cache, number);
    struct message *packed;

    task->public.reserved |= MESSAGE_ORIGIN;
    task->origin = 0;
    task->token = number + 7;
    packed = packed_make(&cache->packing, task);
    CU_ASSERT_PTR_NOT_NULL_FATAL(packed);
    CU_ASSERT_TRUE(packed_is(packed));
    CU_ASSERT_EQUAL(packed->public.size, 16);
    message_destroy(cache, task);
    return packed;
}

static void open_and_check(struct cache *cache, struct message *packed, uint64_t number)
{
    struct message *task = message_create(cache, &tag, PACKED_PAYLOAD);
    uint64_t payload[2];

    CU_ASSERT_PTR_NOT_NULL_FATAL(task);
    packed_open(packed, task);
    CU_ASSERT_FALSE(packed_is(task));
    CU_ASSERT_TRUE(task->public.reserved & MESSAGE_ORIGIN);
    CU_ASSERT_EQUAL(task->origin, 0);
    CU_ASSERT_EQUAL(task->token, number + 7);
    CU_ASSERT_PTR_EQUAL(task->public.tag, &tag);
    CU_ASSERT_EQUAL(task->public.attempt, 1);
    CU_ASSERT_EQUAL(task->public.kind, WEIR_MESSAGE);
    memcpy(payload, task->public.data, sizeof payload);
    CU_ASSERT_EQUAL(payload[0], number);
    CU_ASSERT_EQUAL(payload[1], ~number);
    message_destroy(cache, task);
}

static void test_opened_task_is_the_same(void)
{
    static struct message *packed[MANY];
    struct cache sender, worker;

    cache_init(&sender);
    cache_init(&worker);
    for (uint64_t i = 0; i < MANY; i++)
        packed[i] = pack(&sender, i);
    for (uint64_t i = 0; i < MANY; i += 2)
        open_and_check(&worker, packed[i], i);
    cache_finish(&sender); /* the others outlive it */
    for (uint64_t i = 1; i < MANY; i += 4)
        open_and_check(&worker, packed[i], i);
    for (uint64_t i = 3; i < MANY; i += 4)
        packed_drop(packed[i]);
    cache_finish(&worker);
}

static void expect_no_packed_form(struct cache *cache, struct message *task)
{
    CU_ASSERT_PTR_NULL(packed_make(&cache->packing, task));
    message_destroy(cache, task);
}

static void test_what_has_no_place_is_not_packed(void)
{
    static const uint32_t flags[] = { MESSAGE_EXPIRES, MESSAGE_COUNTED, MESSAGE_LEASED,
                                      MESSAGE_OUTSIDE_LEDGER, MESSAGE_FAILURE };
    struct message *task;
    struct cache cache;

    cache_init(&cache);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        task = make_task(&cache, i);
        task->public.reserved |= flags[i];
        CU_ASSERT_PTR_NULL(packed_make(&cache.packing, task));
        task->public.reserved &= ~flags[i];
        message_destroy(&cache, task);
    }
    task = make_task(&cache, 0);
    task->public.key = 1;
    expect_no_packed_form(&cache, task);
    task = make_task(&cache, 0);
    task->public.from = 1;
    expect_no_packed_form(&cache, task);
    task = make_task(&cache, 0);
    task->public.kind = WEIR_REQUEST;
    expect_no_packed_form(&cache, task);
    task = make_task(&cache, 0);
    task->public.attempt = 2;
    expect_no_packed_form(&cache, task);
    task = make_task(&cache, 0);
    task->public.reserved |= MESSAGE_ORIGIN;
    task->origin = 5; /* an actor */
    expect_no_packed_form(&cache, task);
    expect_no_packed_form(&cache, message_create(&cache, &tag, 24));
    cache_finish(&cache);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        { "an opened task is the same", test_opened_task_is_the_same },
        { "what has no place in it is not packed", test_what_has_no_place_is_not_packed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("packed", tests);
}
