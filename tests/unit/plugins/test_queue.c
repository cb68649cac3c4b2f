/* SPDX-License-Identifier: MIT */
/*
 * Goal:   queue.put is done with a message when it is in the file, keeps what has no room, and
 *         rejects what is too large; queue.take gives pieces in their order, as many as its window
 *         has room for, and writes what became of them: removed, later, dead, or ready again. The
 *         file is small again when it is idle. Shows promises B84, B88, B89 and B154.
 * Method: both behaviours in the test kit, with the real thread and the real file. Another process
 *         looks at the file.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../host/suite.h"
#include "queue_fixture.h"

#define PIECES "SELECT count(*) FROM piece"

static bool is_mistake(const char *behaviour, const char *args, const char *what)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);
    bool is = weir_kit_open_args(kit, args) == WEIR_EINVALID &&
              strstr(weir_kit_mistakes(kit), what) != NULL;

    if (!is)
        (void)fprintf(stderr, "%s: %s\n", args, weir_kit_mistakes(kit));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    return is;
}

static void test_wrong_options_are_reported(void)
{
    CU_ASSERT_TRUE(is_mistake("put", "queue: q", "file"));
    CU_ASSERT_TRUE(is_mistake("take", "file: /x", "queue"));
    CU_ASSERT_TRUE(is_mistake("put", "file: ''\nqueue: q", "must not be empty"));
    CU_ASSERT_TRUE(is_mistake("put", "file: /x\nqueue: ''", "1 to 128 bytes"));
    CU_ASSERT_TRUE(is_mistake("put", "file: /x\nqueue: q\nbytes: 1KiB", "at most `bytes`"));
    CU_ASSERT_TRUE(is_mistake("put", "file: /x\nqueue: q\nwindow: 1001", "window"));
    CU_ASSERT_TRUE(is_mistake("put", "file: /x\nqueue: q\nunique: 1s", "id: content"));
    CU_ASSERT_TRUE(is_mistake("put", "file: /x\nqueue: q\npriority: 1001", "priority"));
    CU_ASSERT_TRUE(is_mistake("take", "file: /x\nqueue: q\nbackoff: 2h", "at least `backoff`"));
    CU_ASSERT_TRUE(is_mistake("take", "file: /x\nqueue: q\npriority: 1", "priority"));
}

/* --- put -------------------------------------------------------------------------------------- */

static void test_done_message_is_in_the_file(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(&f, "one"), WEIR_KEEP);
    CU_ASSERT_EQUAL(fixture_put(&f, "two"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    CU_ASSERT_STRING_EQUAL(
        fixture_ask(&f, "SELECT state, attempt, CAST(payload AS TEXT) FROM piece ORDER BY id"),
        "0 1 one 0 1 two");
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.put, NULL), "queue_length=2\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.put, NULL), "store=well\n"));
    fixture_finish(&f);
}

static void test_too_large_message_is_rejected(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0\npiece_max: 4");
    CU_ASSERT_EQUAL(fixture_put(&f, "12345"), WEIR_REJECT);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_reason(f.put), "too_large"));
    CU_ASSERT_EQUAL(fixture_put(&f, "1234"), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    fixture_finish(&f);
}

static void test_full_queue_keeps_messages_until_there_is_room(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0\nlimit: 2");
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(fixture_put(&f, "text"), WEIR_KEEP);
    while (!strstr(weir_kit_inspect(f.put, NULL), "store=full\n"))
        fixture_turn(&f);
    fixture_wait_stored(&f, 2);
    CU_ASSERT_FALSE(weir_kit_has_logged(f.put, WEIR_LOG_ERROR, "cannot be stored"));
    fixture_open_take(&f, "");
    (void)fixture_wait_taken(&f, 2);
    CU_ASSERT_EQUAL(weir_kit_settled_count(f.put, WEIR_DONE), 2);
    fixture_tell_done(&f, 0);
    fixture_wait_stored(&f, 3);
    fixture_tell_done(&f, 1);
    (void)fixture_wait_taken(&f, 3);
    fixture_tell_done(&f, 2);
    fixture_wait_answer(&f, PIECES, "0");
    fixture_finish(&f);
}

static void test_piece_that_a_reload_leaves_no_room_for_is_rejected(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0\nlimit: 1");
    CU_ASSERT_EQUAL(fixture_put(&f, "1"), WEIR_KEEP);
    CU_ASSERT_EQUAL(fixture_put(&f, "a large piece"), WEIR_KEEP);
    CU_ASSERT_EQUAL(fixture_put(&f, "3"), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    fixture_reconfigure_put(&f, "min_free: 0\nbytes: 4\npiece_max: 4");
    while (weir_kit_settled_count(f.put, WEIR_REJECT) == 0)
        fixture_turn(&f);
    fixture_wait_stored(&f, 2);
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, "SELECT CAST(payload AS TEXT) FROM piece"), "1 3");
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.put, NULL), "unstored=0\n"));
    fixture_finish(&f);
}

static void test_disk_down_to_min_free_is_logged(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 1024TiB");
    CU_ASSERT_EQUAL(fixture_put(&f, "text"), WEIR_KEEP);
    while (!weir_kit_has_logged(f.put, WEIR_LOG_ERROR, "no room above `min_free`"))
        fixture_turn(&f);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.put, NULL), "store=trouble\n"));
    CU_ASSERT_EQUAL(weir_kit_settled_count(f.put, WEIR_DONE), 0);
    fixture_reconfigure_put(&f, "min_free: 0");
    fixture_wait_stored(&f, 1);
    while (!weir_kit_has_logged(f.put, WEIR_LOG_INFO, "pieces are stored again"))
        fixture_turn(&f);
    fixture_finish(&f);
}

static void test_copies_that_wait_are_limited(void)
{
    static char large[3 << 20];
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0\nwindow: 7\nsync: full");
    CU_ASSERT_EQUAL(weir_kit_demand(f.put), 7);
    lost_writes_fail(1, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(weir_kit_handle(f.put, NULL, large, sizeof large), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_demand(f.put), 0);
    lost_writes_fail(0, 0);
    fixture_wait_stored(&f, 3);
    CU_ASSERT_EQUAL(weir_kit_demand(f.put), 7);
    fixture_finish(&f);
}

static void test_leaving_put_waits_until_all_is_stored(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    lost_writes_fail(1, UINT32_MAX);
    CU_ASSERT_EQUAL(fixture_put(&f, "text"), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_leave(f.put), WEIR_WAIT);
    lost_writes_fail(0, 0);
    fixture_wait_stored(&f, 1);
    CU_ASSERT_EQUAL(weir_kit_leave(f.put), WEIR_END);
    fixture_finish(&f);
}

/* --- take ------------------------------------------------------------------------------------- */

static void put_all(struct fixture *f, size_t count)
{
    char text[24];

    fixture_open_put(f, "min_free: 0");
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "%zu", i);
        CU_ASSERT_EQUAL(fixture_put(f, text), WEIR_KEEP);
    }
    fixture_wait_stored(f, count);
}

static void test_piece_is_the_message_that_was_put(void)
{
    static const char text[] = "payload";
    struct weir_message like = { .tag = NULL };
    const struct weir_message *message;
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    like.tag = weir_kit_tag(f.put, "queue.test/1");
    like.key = 0xfedcba9876543210;
    like.data = (void *)(uintptr_t)text;
    like.size = sizeof text;
    CU_ASSERT_EQUAL(weir_kit_deliver(f.put, &like), WEIR_KEEP);
    CU_ASSERT_EQUAL(fixture_put(&f, ""), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    fixture_open_take(&f, "");
    message = fixture_wait_taken(&f, 1);
    CU_ASSERT_PTR_EQUAL(message->tag, like.tag);
    CU_ASSERT_EQUAL(message->key, like.key);
    CU_ASSERT_EQUAL(message->attempt, 1);
    CU_ASSERT_EQUAL(message->size, sizeof text);
    CU_ASSERT_EQUAL(memcmp(message->data, text, sizeof text), 0);
    message = fixture_wait_taken(&f, 2);
    CU_ASSERT_PTR_NULL(message->tag);
    CU_ASSERT_NOT_EQUAL(message->key, 0);
    CU_ASSERT_EQUAL(message->size, 0);
    fixture_finish(&f);
}

static void test_window_limits_what_is_not_settled(void)
{
    struct fixture f;

    fixture_init(&f);
    put_all(&f, 5);
    fixture_open_take(&f, "window: 2");
    (void)fixture_wait_taken(&f, 2);
    CU_ASSERT_EQUAL(fixture_put(&f, "later"), WEIR_KEEP);
    fixture_wait_stored(&f, 6); /* a commit, after which the hub feeds takes */
    CU_ASSERT_PTR_NULL(weir_kit_emitted(f.take, 0, 2));
    for (size_t i = 0; i < 6; i++) {
        (void)fixture_wait_taken(&f, i + 1);
        fixture_tell_done(&f, i);
    }
    for (size_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(*(const char *)weir_kit_emitted(f.take, 0, i)->data, '0' + (int)i);
    fixture_wait_answer(&f, PIECES, "0");
    fixture_finish(&f);
}

static void test_second_take_of_a_queue_is_refused(void)
{
    struct weir_kit *second = weir_kit_create(&weir_plugin_v1, "take");
    struct fixture f;

    fixture_init(&f);
    fixture_open_take(&f, "");
    CU_ASSERT_EQUAL(weir_kit_open_format(second, "file: '%s'\nqueue: q", f.path), WEIR_EEXISTS);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_reason(second), "a queue.take has it already: queue q"));
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
    second = weir_kit_create(&weir_plugin_v1, "take");
    CU_ASSERT_EQUAL(weir_kit_open_format(second, "file: '%s'\nqueue: other", f.path), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
    fixture_finish(&f);
}

/* Others have the memory for a minute. */
static void test_shortage_of_memory_is_no_property_of_a_piece(void)
{
    struct fixture f;

    fixture_init(&f);
    put_all(&f, 2);
    fixture_open_take(&f, "");
    weir_kit_fail_allocations(f.take, 1, UINT32_MAX);
    while (!strstr(weir_kit_inspect(f.take, NULL), "waiting=2\n"))
        fixture_turn(&f);
    for (int i = 0; i < 60; i++) {
        weir_kit_advance(f.take, 1000);
        fixture_turn(&f);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.take, NULL), "buried=0\n"));
    weir_kit_fail_allocations(f.take, 0, 0);
    weir_kit_advance(f.take, 1000);
    fixture_expect_taken(&f, 0, "0");
    fixture_expect_taken(&f, 1, "1");
    fixture_finish(&f);
}

static void test_piece_larger_than_the_memory_is_dead(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(&f, "a large piece"), WEIR_KEEP);
    CU_ASSERT_EQUAL(fixture_put(&f, "small"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    fixture_open_take(&f, "");
    weir_kit_limit_memory(f.take, 5);
    fixture_wait_answer(&f, "SELECT state, reason, detail FROM piece WHERE id=1",
                        "2 too_large larger than host.memory");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.take, WEIR_LOG_ERROR, "piece is dead"));
    fixture_expect_taken(&f, 0, "small");
    fixture_finish(&f);
}

/* The pool is stopped: without a rest the source would write and read the piece in a loop. */
static void expect_rest(struct fixture *f, size_t index, uint64_t rest_ms)
{
    struct weir_outcome stopped = { .result = WEIR_OUTCOME_DEAD, .reason = "stopped" };

    fixture_tell(f, index, &stopped);
    while (!strstr(weir_kit_inspect(f->take, NULL), "waiting=1\n") &&
           !weir_kit_emitted(f->take, 0, index + 1)) {
        (void)weir_kit_poll(f->take);
        (void)weir_kit_produce(f->take, 100);
    }
    weir_kit_advance(f->take, rest_ms - 1);
    (void)weir_kit_produce(f->take, 100);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(f->take, 0, index + 1));
    weir_kit_advance(f->take, 1);
    fixture_expect_taken(f, index + 1, "0");
    CU_ASSERT_EQUAL(weir_kit_emitted(f->take, 0, index + 1)->attempt, 1);
}

static void test_source_rests_after_a_piece_that_no_worker_had(void)
{
    struct fixture f;

    fixture_init(&f);
    put_all(&f, 1);
    fixture_open_take(&f, "");
    fixture_expect_taken(&f, 0, "0");
    expect_rest(&f, 0, 100);
    CU_ASSERT_FALSE(weir_kit_has_logged(f.take, WEIR_LOG_WARNING, "pieces come back"));
    for (size_t i = 1; i < 9; i++)
        expect_rest(&f, i, i < 7 ? 100U << i : 6400);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.take, WEIR_LOG_WARNING, "pieces come back"));
    fixture_tell_done(&f, 9);
    fixture_wait_answer(&f, PIECES, "0");
    fixture_finish(&f);
}

static void test_dead_piece_stays_with_its_reason(void)
{
    struct weir_outcome rejected = { .result = WEIR_OUTCOME_DEAD,
                                     .reason = "rejected",
                                     .detail = "no picture" };
    struct weir_outcome removed = { .result = WEIR_OUTCOME_DEAD, .reason = "removed" };
    struct fixture f;

    fixture_init(&f);
    put_all(&f, 2);
    fixture_open_take(&f, "");
    (void)fixture_wait_taken(&f, 2);
    fixture_tell(&f, 0, &rejected);
    fixture_tell(&f, 1, &removed); /* no worker had it */
    fixture_wait_answer(&f, "SELECT state, attempt, reason, detail FROM piece WHERE id=1",
                        "2 1 rejected no picture");
    fixture_expect_taken(&f, 2, "1");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.take, 0, 2)->attempt, 1);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.take, WEIR_LOG_WARNING, "piece is dead"));
    fixture_tell_done(&f, 2);
    fixture_wait_answer(&f, PIECES, "1");
    fixture_finish(&f);
}

static void test_leaving_take_gives_back_what_it_has_not_emitted(void)
{
    struct fixture f;

    fixture_init(&f);
    put_all(&f, 5);
    fixture_open_take(&f, "");
    (void)weir_kit_poll(f.take);
    while (weir_kit_produce(f.take, 2) != WEIR_MORE) /* the others stay with it */
        (void)weir_kit_poll(f.take);
    CU_ASSERT_EQUAL(weir_kit_leave(f.take), WEIR_END);
    fixture_tell_done(&f, 0);
    fixture_close_take(&f);
    fixture_open_take(&f, "");
    for (size_t i = 0; i < 4; i++) {
        (void)fixture_wait_taken(&f, i + 1);
        CU_ASSERT_EQUAL(weir_kit_emitted(f.take, 0, i)->attempt, 1);
        CU_ASSERT_EQUAL(*(const char *)weir_kit_emitted(f.take, 0, i)->data, '1' + (int)i);
        fixture_tell_done(&f, i);
    }
    fixture_wait_answer(&f, PIECES, "0");
    fixture_finish(&f);
}

/* No other commit comes after it. */
static void test_piece_of_another_machine_is_dead(void)
{
    struct weir_message like = { .data = (void *)(uintptr_t) "text", .size = 4 };
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    like.tag = weir_kit_tag(f.put, "queue.test/1");
    CU_ASSERT_EQUAL(weir_kit_deliver(f.put, &like), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    fixture_close_put(&f);
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, "UPDATE piece SET layout=layout+1"), "");
    fixture_open_take(&f, "");
    fixture_wait_answer(&f, "SELECT state, reason FROM piece", "2 mismatch");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.take, WEIR_LOG_ERROR, "piece is dead"));
    CU_ASSERT_PTR_NULL(weir_kit_emitted(f.take, 0, 0));
    fixture_finish(&f);
}

/* --- room that is given back ------------------------------------------------------------------ */

#define LARGE ((size_t)15 << 20)
#define LARGES 3u
#define FILE_AFTER ((off_t)2 << 20)

static off_t file_size(const struct fixture *f)
{
    struct stat about = { .st_size = -1 };

    CU_ASSERT_EQUAL(stat(f->path, &about), 0);
    return about.st_size;
}

/* With one step of 1 MiB in a second it would take longer than the test waits. */
static void test_file_of_an_idle_queue_is_small_soon(void)
{
    static char text[LARGE];
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    for (uint32_t i = 0; i < LARGES; i++) {
        CU_ASSERT_EQUAL(weir_kit_handle(f.put, NULL, text, sizeof text), WEIR_KEEP);
        fixture_wait_stored(&f, i + 1);
    }
    CU_ASSERT_TRUE(file_size(&f) > (off_t)(LARGES * LARGE) * 3 / 4);
    fixture_open_take(&f, "");
    for (uint32_t i = 0; i < LARGES; i++) {
        (void)fixture_wait_taken(&f, i + 1);
        fixture_tell_done(&f, i);
    }
    fixture_wait_answer(&f, PIECES, "0");
    fixture_begin_wait(&f);
    while (file_size(&f) > FILE_AFTER)
        fixture_turn(&f);
    fixture_finish(&f);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        { "wrong options are reported", test_wrong_options_are_reported },
        { "done message is in the file", test_done_message_is_in_the_file },
        { "too large message is rejected", test_too_large_message_is_rejected },
        { "full queue keeps messages until there is room",
          test_full_queue_keeps_messages_until_there_is_room },
        { "piece that a reload leaves no room for is rejected",
          test_piece_that_a_reload_leaves_no_room_for_is_rejected },
        { "disk down to min_free is logged", test_disk_down_to_min_free_is_logged },
        { "copies that wait are limited", test_copies_that_wait_are_limited },
        { "leaving put waits until all is stored", test_leaving_put_waits_until_all_is_stored },
        { "piece is the message that was put", test_piece_is_the_message_that_was_put },
        { "window limits what is not settled", test_window_limits_what_is_not_settled },
        { "second take of a queue is refused", test_second_take_of_a_queue_is_refused },
        { "shortage of memory is no property of a piece",
          test_shortage_of_memory_is_no_property_of_a_piece },
        { "piece larger than the memory is dead", test_piece_larger_than_the_memory_is_dead },
        { "source rests after a piece that no worker had",
          test_source_rests_after_a_piece_that_no_worker_had },
        { "dead piece stays with its reason", test_dead_piece_stays_with_its_reason },
        { "leaving take gives back what it has not emitted",
          test_leaving_take_gives_back_what_it_has_not_emitted },
        { "piece of another machine is dead", test_piece_of_another_machine_is_dead },
        { "file of an idle queue is small soon", test_file_of_an_idle_queue_is_small_soon },
        CU_TEST_INFO_NULL,
    };

    return fixture_is_asked(argc, argv) ? 0 : suite_run("queue", tests);
}
