/* SPDX-License-Identifier: MIT */
/*
 * Goal: messages in an index keep their order, and it finds each of them and no other.
 *
 * Method: messages are appended and removed at random, by a seed that is printed first; a plain
 * array has the same order and is compared with the index.
 */
#include "message/message_index.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "message/cache.h"
#include "unit/host/suite.h"

#define MESSAGES 3000u
#define STEPS 20000u

struct fixture {
    struct cache cache;
    struct message *out[MESSAGES]; /* not in the list */
    struct message *in[MESSAGES];  /* in its order */
    uint32_t outside;
    uint32_t inside;
    struct message_queue queue;
    struct message_index *index;
    uint64_t random;
};

static uint32_t below(struct fixture *f, uint32_t bound)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return (uint32_t)(f->random % bound);
}

static void begin(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->random = (uint64_t)time(NULL) | 1;
    printf("seed %llu\n", (unsigned long long)f->random);
    cache_init(&f->cache);
    for (f->outside = 0; f->outside < MESSAGES; f->outside++)
        f->out[f->outside] = message_create(&f->cache, NULL, 8);
}

static void finish(struct fixture *f)
{
    message_index_destroy(f->index, &f->queue);
    for (uint32_t i = 0; i < f->inside; i++)
        CU_ASSERT_PTR_EQUAL(message_queue_take(&f->queue), f->in[i]);
    CU_ASSERT_TRUE(message_queue_is_empty(&f->queue));
    for (uint32_t i = 0; i < f->outside; i++)
        message_destroy(&f->cache, f->out[i]);
    for (uint32_t i = 0; i < f->inside; i++)
        message_destroy(&f->cache, f->in[i]);
    cache_finish(&f->cache);
}

static void append(struct fixture *f)
{
    uint32_t at = below(f, f->outside);

    f->in[f->inside] = f->out[at];
    f->out[at] = f->out[--f->outside];
    CU_ASSERT_TRUE_FATAL(message_index_append(f->index, f->in[f->inside++]));
}

static void remove_at(struct fixture *f, uint32_t at)
{
    struct message *message = f->in[at];

    message_index_remove(f->index, message);
    memmove(&f->in[at], &f->in[at + 1], (f->inside - at - 1) * sizeof f->in[0]);
    f->inside--;
    f->out[f->outside++] = message;
}

static bool finds(const struct fixture *f, const struct message *message)
{
    return message_index_find(f->index, (uint64_t)(uintptr_t)message) == message;
}

/* The list is the array, and the index has nothing else. */
static void check(const struct fixture *f)
{
    const struct message *message = message_index_first(f->index);

    for (uint32_t i = 0; i < f->inside; i++) {
        CU_ASSERT_PTR_EQUAL_FATAL(message, f->in[i]);
        CU_ASSERT_TRUE_FATAL(finds(f, message));
        message = message_index_next(f->index, message);
    }
    CU_ASSERT_PTR_NULL(message);
    for (uint32_t i = 0; i < f->outside; i++)
        CU_ASSERT_PTR_NULL_FATAL(message_index_find(f->index, (uint64_t)(uintptr_t)f->out[i]));
}

static void test_changes_at_random_keep_the_order(void)
{
    struct fixture f;

    begin(&f);
    f.index = message_index_create(&f.queue, f.inside);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.index);
    for (uint32_t i = 0; i < STEPS; i++) {
        /* In the first half the list grows on the whole, in the second it shrinks. */
        bool grows = below(&f, 8) < (i < STEPS / 2 ? 5u : 3u);

        if (f.outside > 0 && (grows || f.inside == 0))
            append(&f);
        else
            remove_at(&f, below(&f, f.inside));
        if (i % 500 == 0)
            check(&f);
    }
    while (f.inside > 0)
        remove_at(&f, below(&f, 4) ? below(&f, f.inside) : 0);
    check(&f);
    finish(&f);
}

static void test_index_of_a_list_that_has_messages_already(void)
{
    struct fixture f;

    begin(&f);
    for (f.inside = 0; f.inside < 1000; f.inside++) {
        f.in[f.inside] = f.out[--f.outside];
        message_queue_append(&f.queue, f.in[f.inside]);
    }
    f.index = message_index_create(&f.queue, f.inside);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.index);
    check(&f);
    remove_at(&f, 0);
    remove_at(&f, 998);
    remove_at(&f, 500);
    check(&f);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "random", test_changes_at_random_keep_the_order },
        { "late", test_index_of_a_list_that_has_messages_already },
        CU_TEST_INFO_NULL,
    };

    return suite_run("message_index", tests);
}
