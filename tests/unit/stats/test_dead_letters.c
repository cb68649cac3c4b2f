/* SPDX-License-Identifier: MIT */
/*
 * Goal: every dead letter is counted by its reason, and the last ones are kept, oldest first, with
 * their payload, within the bounds of count and bytes.
 *
 * Method: stores of a few dead letters, filled past each bound; stores that keep none; dead letters
 * taken out and put back.
 */
#include "stats/dead_letters.h"

#include <stdlib.h>
#include <string.h>

#include "message/cache.h"
#include "unit/host/suite.h"

struct fixture {
    struct cache cache;
    struct message *message;
    struct dead_letters letters;
};

static void begin_bounded(struct fixture *fixture, uint32_t count, uint64_t bytes)
{
    struct dead_letters_bounds bounds = { count, bytes };

    cache_init(&fixture->cache);
    fixture->message = message_create(&fixture->cache, NULL, 24);
    fixture->message->public.from = 5;
    memcpy(fixture->message->public.data, "twenty-four bytes of it", 24);
    dead_letters_init(&fixture->letters, &bounds);
}

static void begin(struct fixture *fixture, uint32_t count)
{
    begin_bounded(fixture, count, 1000);
}

static void add(struct fixture *fixture, uint64_t when_ns)
{
    dead_letters_add(&fixture->letters, fixture->message, NULL, DEAD_REJECTED, "", 0, when_ns);
}

static struct dead_letters_figures figures_of(struct fixture *fixture)
{
    struct dead_letters_figures figures = { 0 };

    dead_letters_figures(&fixture->letters, &figures);
    return figures;
}

static void finish(struct fixture *fixture)
{
    dead_letters_finish(&fixture->letters);
    message_destroy(&fixture->cache, fixture->message);
    cache_finish(&fixture->cache);
}

static void test_record_names_sender_and_reason(void)
{
    struct fixture f;
    struct dead_letter record;

    begin(&f, 4);
    f.message->public.attempt = 3;
    dead_letters_add(&f.letters, f.message, NULL, DEAD_RETRIES, "tired", 0, 99);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, &record, 1), 1);
    CU_ASSERT_EQUAL(record.reason, DEAD_RETRIES);
    CU_ASSERT_EQUAL(record.size, 24);
    CU_ASSERT_EQUAL(record.from, 5);
    CU_ASSERT_EQUAL(record.attempt, 3);
    CU_ASSERT_EQUAL(record.when_ns, 99);
    CU_ASSERT_STRING_EQUAL(record.detail, "tired");
    CU_ASSERT_EQUAL(record.number, 1);
    CU_ASSERT_EQUAL(record.way.to, 0);
    CU_ASSERT_EQUAL(record.way.output, DEAD_LETTER_DIRECT);
    CU_ASSERT_TRUE(record.whole);
    CU_ASSERT_EQUAL(memcmp(record.head, "twenty-four bytes of it", 24), 0);
    finish(&f);
}

static void test_full_store_keeps_the_last_and_counts_all(void)
{
    struct fixture f;
    struct dead_letter records[4];
    uint64_t counts[DEAD_REASONS];

    begin(&f, 3);
    for (uint64_t i = 0; i < 8; i++)
        dead_letters_add(&f.letters, f.message, NULL, i % 2 ? DEAD_FULL : DEAD_CRASHED, "", 0, i);
    CU_ASSERT_EQUAL(figures_of(&f).evicted, 5);
    CU_ASSERT_EQUAL(figures_of(&f).kept, 3);
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
    char detail[300];

    begin(&f, 1);
    memset(detail, 'x', sizeof detail);
    detail[299] = '\0';
    dead_letters_add(&f.letters, f.message, NULL, DEAD_REJECTED, detail, 0, 0);
    (void)dead_letters_read(&f.letters, &record, 1);
    CU_ASSERT_EQUAL(strlen(record.detail), sizeof record.detail - 1);
    dead_letters_add(&f.letters, f.message, NULL, DEAD_REJECTED, NULL, 0, 0);
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
    dead_letters_add(&f.letters, f.message, NULL, DEAD_EXPIRED, "", 0, 0);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, &record, 1), 0);
    dead_letters_counts(&f.letters, counts);
    CU_ASSERT_EQUAL(counts[DEAD_EXPIRED], 1);
    finish(&f);
}

static uint32_t length_of(const struct dead_message *dead)
{
    uint32_t length = 0;

    for (; dead; dead = dead->next)
        length++;
    return length;
}

/* promise L3 */
static void test_bytes_bound_lets_the_oldest_make_room(void)
{
    struct fixture f;
    struct dead_letter records[4];

    begin_bounded(&f, 100, 50);
    for (uint64_t i = 0; i < 5; i++)
        add(&f, i);
    CU_ASSERT_EQUAL(figures_of(&f).kept, 2);
    CU_ASSERT_EQUAL(figures_of(&f).kept_bytes, 48);
    CU_ASSERT_EQUAL(figures_of(&f).evicted, 3);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 4), 2);
    CU_ASSERT_EQUAL(records[0].when_ns, 3);
    CU_ASSERT_EQUAL(records[1].number, 5);
    finish(&f);
}

static void test_payload_larger_than_all_is_not_kept_but_its_letter_is(void)
{
    struct fixture f;
    struct dead_letter record;

    begin_bounded(&f, 10, 23);
    add(&f, 1);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, &record, 1), 1);
    CU_ASSERT_FALSE(record.whole);
    CU_ASSERT_EQUAL(record.size, 24);
    CU_ASSERT_EQUAL(record.head[0], 0);
    CU_ASSERT_EQUAL(figures_of(&f).kept_bytes, 0);
    CU_ASSERT_EQUAL(figures_of(&f).evicted, 0);
    finish(&f);
}

static void test_no_bytes_keeps_letters_without_payload(void)
{
    struct fixture f;
    struct dead_letter record;

    begin_bounded(&f, 10, 0);
    add(&f, 1);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, &record, 1), 1);
    CU_ASSERT_FALSE(record.whole);
    CU_ASSERT_EQUAL(record.head[0], 0);
    finish(&f);
}

static void test_smaller_bounds_take_effect_at_once(void)
{
    struct fixture f;

    begin(&f, 10);
    for (uint64_t i = 0; i < 4; i++)
        add(&f, i);
    dead_letters_set_bounds(&f.letters, &(struct dead_letters_bounds){ 1, 1000 });
    CU_ASSERT_EQUAL(figures_of(&f).kept, 1);
    CU_ASSERT_EQUAL(figures_of(&f).evicted, 3);
    finish(&f);
}

static void test_what_is_put_back_is_older_than_what_came_since(void)
{
    struct fixture f;
    struct dead_letter records[4];
    struct dead_message *taken;

    begin(&f, 3);
    add(&f, 1);
    add(&f, 2);
    taken = dead_letters_take(&f.letters);
    CU_ASSERT_EQUAL(length_of(taken), 2);
    CU_ASSERT_EQUAL(memcmp(taken->payload, "twenty-four bytes of it", 24), 0);
    CU_ASSERT_EQUAL(figures_of(&f).kept_bytes, 0);
    add(&f, 3);
    add(&f, 4);
    dead_letters_put_back(&f.letters, taken);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 4), 3);
    for (uint64_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(records[i].when_ns, 2 + i);
    CU_ASSERT_EQUAL(figures_of(&f).evicted, 1);
    CU_ASSERT_EQUAL(figures_of(&f).kept_bytes, 72);
    add(&f, 5);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 4), 3);
    CU_ASSERT_EQUAL(records[2].when_ns, 5);
    finish(&f);
}

static void test_counts_of_a_store_that_goes_are_absorbed(void)
{
    struct fixture f;
    struct dead_letters_figures gone;

    begin(&f, 10);
    add(&f, 1);
    gone = figures_of(&f);
    dead_letters_absorb(&f.letters, &gone);
    CU_ASSERT_EQUAL(figures_of(&f).counts[DEAD_REJECTED], 2);
    CU_ASSERT_EQUAL(figures_of(&f).evicted, 1);
    CU_ASSERT_EQUAL(figures_of(&f).kept, 1);
    finish(&f);
}

static void test_deleted_letters_are_gone_and_counted(void)
{
    struct fixture f;
    struct dead_letter records[4];

    begin(&f, 10);
    for (uint64_t i = 1; i <= 4; i++)
        add(&f, i);
    CU_ASSERT_TRUE(dead_letters_delete(&f.letters, 2));
    CU_ASSERT_FALSE(dead_letters_delete(&f.letters, 2));
    CU_ASSERT_TRUE(dead_letters_delete(&f.letters, 4));
    add(&f, 5);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 4), 3);
    CU_ASSERT_EQUAL(records[0].number, 1);
    CU_ASSERT_EQUAL(records[1].number, 3);
    CU_ASSERT_EQUAL(records[2].number, 5);
    CU_ASSERT_EQUAL(dead_letters_read_after(&f.letters, 1, records, 4), 2);
    CU_ASSERT_EQUAL(records[0].number, 3);
    CU_ASSERT_EQUAL(figures_of(&f).deleted, 2);
    CU_ASSERT_EQUAL(figures_of(&f).kept_bytes, 72);
    CU_ASSERT_EQUAL(dead_letters_delete_all(&f.letters), 3);
    CU_ASSERT_EQUAL(figures_of(&f).deleted, 5);
    CU_ASSERT_EQUAL(figures_of(&f).kept, 0);
    CU_ASSERT_EQUAL(figures_of(&f).counts[DEAD_REJECTED], 5);
    add(&f, 6);
    CU_ASSERT_EQUAL(dead_letters_read(&f.letters, records, 4), 1);
    finish(&f);
}

static void test_payload_of_one_letter_is_copied(void)
{
    struct fixture f;
    unsigned char *payload = NULL;
    size_t size = 0;

    begin(&f, 10);
    add(&f, 1);
    CU_ASSERT_EQUAL(dead_letters_payload(&f.letters, 2, &payload, &size), WEIR_EUNKNOWN);
    CU_ASSERT_PTR_NULL(payload);
    CU_ASSERT_EQUAL(dead_letters_payload(&f.letters, 1, &payload, &size), 0);
    CU_ASSERT_EQUAL(size, 24);
    CU_ASSERT_EQUAL(memcmp(payload, "twenty-four bytes of it", 24), 0);
    free(payload);
    finish(&f);
    begin_bounded(&f, 10, 0);
    add(&f, 1);
    CU_ASSERT_EQUAL(dead_letters_payload(&f.letters, 1, &payload, &size), WEIR_EUNSUPPORTED);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "record", test_record_names_sender_and_reason },
        { "full store", test_full_store_keeps_the_last_and_counts_all },
        { "long detail", test_long_detail_is_cut },
        { "no capacity", test_no_capacity_counts_only },
        { "bytes bound", test_bytes_bound_lets_the_oldest_make_room },
        { "too large", test_payload_larger_than_all_is_not_kept_but_its_letter_is },
        { "no bytes", test_no_bytes_keeps_letters_without_payload },
        { "smaller bounds", test_smaller_bounds_take_effect_at_once },
        { "put back", test_what_is_put_back_is_older_than_what_came_since },
        { "deleted", test_deleted_letters_are_gone_and_counted },
        { "payload", test_payload_of_one_letter_is_copied },
        { "absorbed", test_counts_of_a_store_that_goes_are_absorbed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("dead letters", tests);
}
