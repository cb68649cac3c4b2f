/* SPDX-License-Identifier: MIT */
/*
 * Goal: no owner can fill the file of dead letters: others find room, and each record ends in its
 * own stream.
 *
 * Method: owners that write as much as they may into a file of some size, without a disk. Shows
 * promise L11.
 */
#include <stdio.h>
#include <string.h>

#include "host/dead/dead_waiting.h"
#include "unit/host/suite.h"
#include "weir_core.h"

#define SIZE_MAX_OF_FILE 1000000u
#define BUFFER 50000u
#define TIME_US 1u

struct fixture {
    struct dead_output output; /* never written to */
    struct dead_waiting waiting;
    struct dead_place place;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .output.descriptor = -1 };
    f->place = (struct dead_place){ &f->output, SIZE_MAX_OF_FILE };
}

static void finish(struct fixture *f)
{
    dead_waiting_finish(&f->waiting);
    dead_shares_finish(&f->output.shares);
}

static uint64_t add(struct fixture *f, const char *path, bool is_awaited)
{
    static const char payload[400];
    const struct dead_record record = { .path = path,
                                        .to = "",
                                        .from = "",
                                        .reason = "",
                                        .detail = "",
                                        .tag = "",
                                        .payload = payload,
                                        .size = sizeof payload };

    return dead_waiting_add(&f->waiting, dead_waiting_owner(&f->waiting, path), &record, TIME_US,
                            is_awaited, &f->place, BUFFER);
}

/* As the thread of the file does, with a disk that never fails. */
static void write_all(struct fixture *f)
{
    CU_ASSERT_EQUAL(dead_waiting_gather(&f->waiting, &f->place), 0);
    f->output.size += f->waiting.text.size;
    for (size_t i = 0; i < f->waiting.owner_count; i++) {
        struct dead_owner *owner = &f->waiting.owners[i];

        CU_ASSERT_EQUAL(dead_shares_add(&f->output.shares, owner->name, owner->writing.size), 0);
        (void)dead_waiting_end_part(&f->waiting, i);
    }
    dead_waiting_end(&f->waiting);
}

/* Adds until nothing more goes into the file; returns what it has then. */
static uint64_t fill(struct fixture *f, const char *path, bool is_awaited)
{
    for (uint32_t i = 0; i < 4000; i++) {
        (void)add(f, path, is_awaited);
        if (i % 50 == 0)
            write_all(f);
    }
    write_all(f);
    return dead_shares_of(&f->output.shares, path);
}

/* promise L11 */
static void test_strangers_leave_room_for_positions(void)
{
    struct fixture f;
    uint64_t has;

    begin(&f);
    has = fill(&f, "open", false);
    /* A third, to within one record. */
    CU_ASSERT_TRUE(has > SIZE_MAX_OF_FILE / 3 - 1000 && has <= SIZE_MAX_OF_FILE / 3 + 1000);
    CU_ASSERT_EQUAL(add(&f, "open", false), 0);
    CU_ASSERT_NOT_EQUAL(add(&f, "open/nested", true), 0); /* an owner with its nested pools */
    CU_ASSERT_EQUAL(f.waiting.owner_count, 1);
    write_all(&f);
    CU_ASSERT_FALSE(dead_waiting_has_held(&f.waiting));
    CU_ASSERT_TRUE(dead_shares_of(&f.output.shares, "open") > has);
    finish(&f);
}

/* promise L11 */
static void test_full_owners_leave_room_for_one_more(void)
{
    struct fixture f;
    char name[16];

    begin(&f);
    for (uint32_t i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof name, "pool%u", i);
        CU_ASSERT_TRUE(fill(&f, name, i % 2 == 0) > 0);
        CU_ASSERT_TRUE(f.output.size <= SIZE_MAX_OF_FILE);
    }
    CU_ASSERT_TRUE(dead_waiting_has_held(&f.waiting));
    CU_ASSERT_NOT_EQUAL(add(&f, "new", true), 0);
    CU_ASSERT_TRUE(dead_waiting_is_busy(&f.waiting));
    write_all(&f);
    CU_ASSERT_TRUE(dead_shares_of(&f.output.shares, "new") > 0);
    finish(&f);
}

/* promise L11 */
static void test_held_records_keep_their_order_and_hold_up_no_other(void)
{
    struct fixture f;
    uint64_t first, other;

    begin(&f);
    (void)fill(&f, "full", true);
    CU_ASSERT_TRUE(dead_waiting_is_full(&f.waiting, "full", BUFFER));
    CU_ASSERT_FALSE(dead_waiting_is_full(&f.waiting, "other", BUFFER));
    first = add(&f, "full", true);
    other = add(&f, "other", true);
    CU_ASSERT_EQUAL(other >> DEAD_STORE_STREAM_SHIFT, 1);
    CU_ASSERT_EQUAL(dead_waiting_gather(&f.waiting, &f.place), 0);
    CU_ASSERT_EQUAL(f.waiting.writing_count, 1);
    CU_ASSERT_EQUAL(dead_waiting_end_part(&f.waiting, 1), other);
    dead_waiting_end(&f.waiting);
    f.place.size_max = 0; /* a reload: no bound */
    CU_ASSERT_EQUAL(dead_waiting_gather(&f.waiting, &f.place), 0);
    CU_ASSERT_EQUAL(dead_waiting_end_part(&f.waiting, 0), first);
    dead_waiting_end(&f.waiting);
    CU_ASSERT_EQUAL(f.waiting.count, 0);
    CU_ASSERT_EQUAL(f.waiting.size, 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "strangers", test_strangers_leave_room_for_positions },
        { "full owners", test_full_owners_leave_room_for_one_more },
        { "held", test_held_records_keep_their_order_and_hold_up_no_other },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host dead shares", tests);
}
