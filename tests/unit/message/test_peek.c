/* SPDX-License-Identifier: MIT */
/*
 * Goal: what a message says about itself can be read in a signal handler, and memory that a plugin
 * has overwritten, unmapped or passed on neither faults nor makes the handler name another message.
 *
 * Method: messages of each size with labels of each kind, and the same with damaged memory.
 */
#include "message/peek.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "message/cache.h"
#include "message/join.h"
#include "message/message.h"
#include "unit/host/suite.h"

static const struct weir_tag tag = { "test/1" };

static struct message *make(struct cache *cache, size_t size, const char *label)
{
    struct message *message = message_create(cache, &tag, size + message_label_room(label));

    message->public.attempt = 3;
    message_set_label(message, size, label, message_label_room(label));
    return message;
}

static void test_own_label_of_each_size(void)
{
    static const size_t sizes[] = { 0, 1, 40, 1000, 100000 };
    struct message_peek peek;
    struct cache cache;

    cache_init(&cache);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct message *message = make(&cache, sizes[i], "in box:12");

        CU_ASSERT_TRUE(message_peek(message, &tag, &peek));
        CU_ASSERT_STRING_EQUAL(peek.label, "in box:12");
        CU_ASSERT_EQUAL(peek.attempt, 3);
        if (message_set_identity(message, 9))
            CU_ASSERT_TRUE(message_peek(message, &tag, &peek));
        CU_ASSERT_STRING_EQUAL(peek.label, "in box:12");
        message_destroy(&cache, message);
    }
    cache_finish(&cache);
}

static void test_label_of_the_join(void)
{
    struct message_peek peek;
    struct cache cache;
    struct message *first, *second;

    cache_init(&cache);
    first = message_create(&cache, &tag, 8);
    second = message_create(&cache, &tag, 8);
    first->public.reserved |= MESSAGE_ORIGIN;
    CU_ASSERT_EQUAL_FATAL(join_begin(first, "app.log:7", 77), 0);
    join_add(second, first);
    CU_ASSERT_TRUE(message_peek(second, &tag, &peek));
    CU_ASSERT_STRING_EQUAL(peek.label, "app.log:7");
    CU_ASSERT_EQUAL(message_identity(second), 77);
    message_destroy(&cache, second);
    message_destroy(&cache, first);
    cache_finish(&cache);
}

static void test_message_without_a_label(void)
{
    struct message_peek peek;
    struct cache cache;
    struct message *message;

    cache_init(&cache);
    message = message_create(&cache, NULL, 8);
    CU_ASSERT_TRUE(message_peek(message, NULL, &peek));
    CU_ASSERT_STRING_EQUAL(peek.label, "");
    CU_ASSERT_EQUAL(peek.attempt, 1);
    message_destroy(&cache, message);
    cache_finish(&cache);
}

/* A text without an end, on the last bytes before a page without access. */
static void test_label_at_the_end_of_the_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct message message = { .public = { .tag = &tag, .reserved = MESSAGE_JOINED } };
    struct message_peek peek;
    size_t offset, rest;

    CU_ASSERT_FATAL(pages != MAP_FAILED);
    CU_ASSERT_EQUAL(mprotect(pages + page, page, PROT_NONE), 0);
    memset(pages, 'x', page);
    message.token = (uint64_t)(uintptr_t)pages;
    offset = (size_t)(join_label(&message) - pages);
    rest = 16 - offset % 8; /* so that the join is aligned */
    message.token += page - rest - offset;
    CU_ASSERT_TRUE(message_peek(&message, &tag, &peek));
    CU_ASSERT_EQUAL(strlen(peek.label), rest);
    (void)munmap(pages, 2 * page);
}

static void test_damaged_memory_gives_nothing(void)
{
    struct message message = { .public = { .tag = &tag, .reserved = MESSAGE_JOINED } };
    struct message_peek peek;
    void *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CU_ASSERT_EQUAL(munmap(gone, 4096), 0);
    CU_ASSERT_FALSE(message_peek(NULL, &tag, &peek));
    CU_ASSERT_FALSE(message_peek(gone, &tag, &peek));
    CU_ASSERT_FALSE(message_peek(&message, NULL, &peek)); /* another one is there now */
    message.token = (uint64_t)(uintptr_t)gone;
    CU_ASSERT_TRUE(message_peek(&message, &tag, &peek));
    CU_ASSERT_STRING_EQUAL(peek.label, "");
    memset(&message, 0xff, sizeof message);
    CU_ASSERT_FALSE(message_peek(&message, &tag, &peek));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "own label of each size", test_own_label_of_each_size },
        { "label of the join", test_label_of_the_join },
        { "message without a label", test_message_without_a_label },
        { "label at the end of the memory", test_label_at_the_end_of_the_memory },
        { "damaged memory gives nothing", test_damaged_memory_gives_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("peek", tests);
}
