/*
 * Goal: every dead letter is counted by its reason, and the last ones are kept, oldest first.
 *
 * Method: a store of a few records, filled past its capacity; one of no records.
 */
#include "stats/dead_letters.h"

#include <string.h>

#include "message/cache.h"
#include "unit/host/suite.h"

struct fixture {
    struct cache cache;
    struct message *message;
    struct dead_letters letters;
};

static void begin(struct fixture *fixture, uint32_t capacity)
{
    cache_init(&fixture->cache);
    fixture->message = message_create(&fixture->cache, NULL, 24);
    fixture->message->public.from = 5;
    dead_letters_init(&fixture->letters, capacity);
}

static void finish(struct fixture *fixture)
{
    dead_letters_finish(&fixture->letters);
    message_destroy(&fixture->cache, fixture->message);
    cache_finish(&fixture->cache);
}

static void test_record_tells_who_and_why(void)
{
    struct fixture f;
    struct dead_letter record;

    begin(&f, 4);
    f.message->public.attempt = 3;
    dead_letters_add(&f.letters, f.message, DEAD_RETRIES, "tired", 99);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, &record, 1), 1);
    CU_ASSERT_EQUAL(record.reason, DEAD_RETRIES);
    CU_ASSERT_EQUAL(record.size, 24);
    CU_ASSERT_EQUAL(record.from, 5);
    CU_ASSERT_EQUAL(record.attempt, 3);
    CU_ASSERT_EQUAL(record.when_ns, 99);
    CU_ASSERT_STRING_EQUAL(record.detail, "tired");
    finish(&f);
}

static void test_full_store_keeps_the_last_and_counts_all(void)
{
    struct fixture f;
    struct dead_letter records[4];
    uint64_t counts[DEAD_REASONS];

    begin(&f, 3);
    for (uint64_t i = 0; i < 8; i++)
        dead_letters_add(&f.letters, f.message, i % 2 ? DEAD_FULL : DEAD_CRASHED, "", i);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 4), 3);
    for (uint64_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(records[i].when_ns, 5 + i);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 2), 2);
    CU_ASSERT_EQUAL(records[0].when_ns, 5);
    dead_letters_counts(&f.letters, counts);
    CU_ASSERT_EQUAL(counts[DEAD_FULL], 4);
    CU_ASSERT_EQUAL(counts[DEAD_CRASHED], 4);
    finish(&f);
}

static void test_long_detail_is_cut(void)
{
    struct fixture f;
    struct dead_letter record;
    char detail[100];

    begin(&f, 1);
    memset(detail, 'x', sizeof detail);
    detail[99] = '\0';
    dead_letters_add(&f.letters, f.message, DEAD_REJECTED, detail, 0);
    (void)dead_letters_read(&f.letters, &record, 1);
    CU_ASSERT_EQUAL(strlen(record.detail), sizeof record.detail - 1);
    dead_letters_add(&f.letters, f.message, DEAD_REJECTED, NULL, 0);
    (void)dead_letters_read(&f.letters, &record, 1);
    CU_ASSERT_STRING_EQUAL(record.detail, "");
    finish(&f);
}

static void test_no_capacity_counts_only(void)
{
    struct fixture f;
    struct dead_letter record;
    uint64_t counts[DEAD_REASONS];

    begin(&f, 0);
    dead_letters_add(&f.letters, f.message, DEAD_EXPIRED, "", 0);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, &record, 1), 0);
    dead_letters_counts(&f.letters, counts);
    CU_ASSERT_EQUAL(counts[DEAD_EXPIRED], 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "record", test_record_tells_who_and_why },
        { "full store", test_full_store_keeps_the_last_and_counts_all },
        { "long detail", test_long_detail_is_cut },
        { "no capacity", test_no_capacity_counts_only },
        CU_TEST_INFO_NULL,
    };

    return suite_run("dead letters", tests);
}
