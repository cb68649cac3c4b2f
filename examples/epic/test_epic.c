/* SPDX-License-Identifier: MIT */
/*
 * Goal: the master takes one Epic at a time, reads it in batches, replies when the last piece is
 * settled, and the next master goes on where this one was; a worker fails with its database only.
 * Method: <weir/testkit.h> stands in for the host and its pool; the database is a real file of
 * SQLite.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>

#include "database.h"
#include "epic.h"

#define ALL "all: SELECT id FROM documents"

extern const struct weir_plugin weir_plugin_v1;

static const char path[] = "test_epic.db"; /* in the folder where the test runs */

static void execute(const char *sql)
{
    sqlite3 *database;

    CU_ASSERT_TRUE_FATAL(database_open(&database, path, 1000));
    if (!database_execute(database, sql))
        CU_FAIL(database_error(database));
    database_close(database);
}

/* The number that a query gives. */
static int64_t query(const char *sql)
{
    sqlite3_stmt *statement;
    sqlite3 *database;
    int64_t result;

    CU_ASSERT_TRUE_FATAL(database_open(&database, path, 1000));
    statement = database_prepare(database, sql);
    CU_ASSERT_EQUAL(sqlite3_step(statement), SQLITE_ROW);
    result = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    database_close(database);
    return result;
}

/* Documents 10, 20, ... 50, and nothing else. */
static void reset(void)
{
    execute(
        "PRAGMA journal_mode = WAL;"
        "DROP TABLE IF EXISTS documents; DROP TABLE IF EXISTS fingerprints;"
        "DROP TABLE IF EXISTS epics; DROP TABLE IF EXISTS failures;"
        "CREATE TABLE documents (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
        "CREATE TABLE fingerprints (id INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL);"
        "INSERT INTO documents VALUES (10, 'a'), (20, 'a b a'), (30, ''), (40, 'd'), (50, 'e')");
}

/* --- the master ------------------------------------------------------------------------------- */

static struct weir_kit *open_master(uint32_t batch)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "master");

    weir_kit_pool(kit)->live = 4;
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "database: %s\nbatch: %u\nbusy: 1ms", path, batch), 0);
    return kit;
}

static int ask(struct weir_kit *kit, const char *epic)
{
    return weir_kit_request(kit, "", epic, strlen(epic));
}

static int64_t id_of(const struct weir_kit *kit, size_t index)
{
    const struct weir_message *message = weir_kit_emitted(kit, 0, index);

    return message ? ((const struct epic_piece *)message->data)->id : -1;
}

/* Settles the piece that was sent as number `index`. */
static void settle(struct weir_kit *kit, size_t index, enum weir_result result, const char *reason)
{
    struct weir_outcome outcome = { .result = result, .attempt = 1, .reason = reason };
    size_t emitted = 0;

    for (size_t i = 0; weir_kit_sent(kit, i); i++)
        if (weir_kit_sent(kit, i)->way == WEIR_KIT_EMIT && emitted++ == index)
            outcome.token = weir_kit_sent(kit, i)->token;
    CU_ASSERT_EQUAL(weir_kit_tell(kit, &outcome), 0);
}

static void expect_reply(const struct weir_kit *kit, size_t index, const char *text)
{
    const struct weir_message *reply = weir_kit_replied(kit, index);

    CU_ASSERT_PTR_NOT_NULL(reply);
    if (reply)
        CU_ASSERT_TRUE(reply->size == strlen(text) && memcmp(reply->data, text, reply->size) == 0);
}

static void test_reply_comes_when_the_last_piece_is_settled(void)
{
    struct weir_kit *kit = open_master(2);

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    CU_ASSERT_EQUAL(ask(kit, ALL), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    for (size_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(id_of(kit, i), 10 * (int64_t)(i + 1));
    settle(kit, 1, WEIR_OUTCOME_DONE, "");
    settle(kit, 0, WEIR_OUTCOME_DONE, "");
    settle(kit, 2, WEIR_OUTCOME_DEAD, "rejected");
    settle(kit, 4, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    CU_ASSERT_PTR_NULL(weir_kit_replied(kit, 0));
    settle(kit, 3, WEIR_OUTCOME_DONE, "");
    expect_reply(kit, 0, "all: 4 done, 1 failed");
    CU_ASSERT_EQUAL(query("SELECT id FROM failures WHERE epic = 'all'"), 30);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_epic_is_read_in_batches(void)
{
    struct weir_kit *kit = open_master(2);

    CU_ASSERT_EQUAL(ask(kit, ALL), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    execute("DELETE FROM documents WHERE id IN (20, 30)"); /* 20 was read with 10 */
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    CU_ASSERT_EQUAL(id_of(kit, 1), 20);
    CU_ASSERT_EQUAL(id_of(kit, 2), 40);
    for (size_t i = 0; i < 4; i++)
        settle(kit, i, WEIR_OUTCOME_DONE, "");
    expect_reply(kit, 0, "all: 4 done, 0 failed");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* The result of the last call: the host gives a credit of at most 256. */
static int produce_all(struct weir_kit *kit)
{
    int result;

    do
        result = weir_kit_produce(kit, 2000);
    while (result == WEIR_MORE);
    return result;
}

static void test_slow_piece_holds_back_no_more_than_the_window(void)
{
    struct weir_kit *kit = open_master(100);
    size_t sent = 0;

    execute("WITH RECURSIVE n (id) AS (SELECT 100 UNION ALL SELECT id + 1 FROM n WHERE id < 1294)"
            "INSERT INTO documents SELECT id, 'x' FROM n");
    CU_ASSERT_EQUAL(ask(kit, ALL), WEIR_KEEP);
    CU_ASSERT_EQUAL(produce_all(kit), WEIR_WAIT);
    while (weir_kit_emitted(kit, 0, sent))
        sent++;
    CU_ASSERT_EQUAL(sent, 1000); /* 1200 in all */
    for (size_t i = 1; i < sent; i++)
        settle(kit, i, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(produce_all(kit), WEIR_WAIT);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, sent));
    settle(kit, 0, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(produce_all(kit), WEIR_WAIT);
    CU_ASSERT_EQUAL(id_of(kit, 1199), 1294);
    for (size_t i = sent; i < 1200; i++)
        settle(kit, i, WEIR_OUTCOME_DONE, "");
    expect_reply(kit, 0, "all: 1200 done, 0 failed");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_second_epic_is_rejected_as_the_master_is_busy(void)
{
    struct weir_kit *kit = open_master(9);

    CU_ASSERT_EQUAL(ask(kit, "one: SELECT id FROM documents WHERE id = 10"), WEIR_KEEP);
    CU_ASSERT_EQUAL(ask(kit, "two: SELECT id FROM documents"), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), EPIC_CURRENTLY_BUSY " with one");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(ask(kit, "two: SELECT id FROM documents WHERE id > 50"), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    expect_reply(kit, 1, "two: 0 done, 0 failed");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_same_epic_is_waited_for_by_all_who_ask(void)
{
    struct weir_kit *kit = open_master(9);
    static const char one[] = "one: SELECT id FROM documents WHERE id = 10";

    CU_ASSERT_EQUAL(ask(kit, one), WEIR_KEEP);
    for (int i = 0; i < 14; i++)
        CU_ASSERT_EQUAL(ask(kit, one), WEIR_KEEP);
    CU_ASSERT_EQUAL(ask(kit, one), WEIR_REJECT); /* it produces as long as it may take another */
    CU_ASSERT_EQUAL(ask(kit, "one: SELECT id FROM documents"), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "another Epic has this name");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(ask(kit, one), WEIR_DONE); /* afterwards, too */
    for (size_t i = 0; i < 16; i++)
        expect_reply(kit, i, "one: 1 done, 0 failed");
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 1), NULL);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_epic_without_workers_is_refused(void)
{
    struct weir_kit *kit = open_master(9);

    weir_kit_pool(kit)->live = 0;
    CU_ASSERT_EQUAL(ask(kit, ALL), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), EPIC_NO_WORKERS);
    weir_kit_pool(kit)->starting = 1;
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "", ALL, strlen(ALL)), WEIR_DONE); /* without a reply */
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_what_is_no_epic_is_refused(void)
{
    static const char *const wrong[] = {
        "",
        ":",
        "SELECT id FROM documents",
        "x:",
        "x: SELECT",
        "x: DELETE FROM documents",
        "x: SELECT id FROM nowhere",
        "x: SELECT text FROM documents",
        "x: SELECT id FROM documents) ; DELETE FROM documents; --",
    };
    struct weir_kit *kit = open_master(9);

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CU_ASSERT_EQUAL(ask(kit, wrong[i]), WEIR_REJECT);
    CU_ASSERT_EQUAL(ask(kit, "x: SELECT id FROM documents -- with a remark"), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_END);
    CU_ASSERT_EQUAL(query("SELECT count(*) FROM documents"), 5);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_piece_that_was_lost_is_sent_again(void)
{
    struct weir_kit *kit = open_master(9);

    CU_ASSERT_EQUAL(ask(kit, "one: SELECT id FROM documents WHERE id < 30"), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DEAD, "crashed");
    settle(kit, 1, WEIR_OUTCOME_RETRY, "");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT); /* it rests */
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 2));
    weir_kit_advance(kit, 100);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    CU_ASSERT_EQUAL(id_of(kit, 2), 10);
    CU_ASSERT_EQUAL(id_of(kit, 3), 20);
    settle(kit, 2, WEIR_OUTCOME_DONE, "");
    settle(kit, 3, WEIR_OUTCOME_DONE, "");
    expect_reply(kit, 0, "one: 2 done, 0 failed");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_next_master_goes_on_at_the_mark(void)
{
    struct weir_kit *first = open_master(1), *second;

    CU_ASSERT_EQUAL(ask(first, ALL), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_produce(first, 4), WEIR_MORE);
    settle(first, 0, WEIR_OUTCOME_DONE, "");
    settle(first, 2, WEIR_OUTCOME_DONE, ""); /* behind one that is not settled */
    CU_ASSERT_EQUAL(weir_kit_produce(first, 0), WEIR_MORE);
    CU_ASSERT_EQUAL(query("SELECT mark FROM epics"), 10);
    CU_ASSERT_EQUAL(weir_kit_leave(first), WEIR_END); /* the requester gets a reply */
    CU_ASSERT_EQUAL(weir_kit_settled_count(first, WEIR_REJECT), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(first), 0);

    second = open_master(9);
    CU_ASSERT_EQUAL(ask(second, "other: SELECT 1 AS id"), WEIR_REJECT);
    CU_ASSERT_EQUAL(ask(second, ALL), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_produce(second, 9), WEIR_WAIT);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(id_of(second, i), 20 + 10 * (int64_t)i);
        settle(second, i, WEIR_OUTCOME_DONE, "");
    }
    expect_reply(second, 0, "all: 5 done, 0 failed");
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
}

static void test_master_whose_database_is_locked_fails(void)
{
    struct weir_kit *kit = open_master(1);
    sqlite3 *other;

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "", ALL, strlen(ALL)), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    settle(kit, 0, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_TRUE(database_open(&other, path, 1000));
    CU_ASSERT_TRUE(database_execute(other, "BEGIN IMMEDIATE"));
    CU_ASSERT_TRUE(weir_kit_produce(kit, 1) < 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "database is locked");
    database_close(other);
    weir_kit_close(kit, WEIR_END_CRASH); /* writes the settled pieces, since the lock is gone */
    CU_ASSERT_EQUAL(query("SELECT mark FROM epics"), 10);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- the worker ------------------------------------------------------------------------------- */

static int work(struct weir_kit *kit, int64_t id)
{
    const struct epic_piece piece = { id };

    return weir_kit_handle(kit, EPIC_PIECE_TAG, &piece, sizeof piece);
}

static void test_worker_writes_fingerprints(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "worker");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "database: %s", path), 0);
    CU_ASSERT_EQUAL(work(kit, 10), WEIR_DONE);
    CU_ASSERT_EQUAL(work(kit, 10), WEIR_DONE); /* twice is once */
    CU_ASSERT_EQUAL(work(kit, 20), WEIR_DONE);
    CU_ASSERT_EQUAL(work(kit, 30), WEIR_REJECT);
    CU_ASSERT_EQUAL(work(kit, 31), WEIR_REJECT);
    CU_ASSERT_EQUAL((uint64_t)query("SELECT fingerprint FROM fingerprints WHERE id = 10"),
                    weir_key("a", 1));
    CU_ASSERT_EQUAL(query("SELECT count(*) FROM fingerprints"), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_worker_whose_database_is_locked_fails(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "worker");
    sqlite3 *other;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "database: %s\nbusy: 1ms", path), 0);
    CU_ASSERT_TRUE(database_open(&other, path, 1000));
    CU_ASSERT_TRUE(database_execute(other, "BEGIN IMMEDIATE"));
    CU_ASSERT_EQUAL(work(kit, 10), WEIR_FAIL);
    database_close(other);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = weir_kit_create(&weir_plugin_v1, "worker");
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "database: /nowhere/at/all"), WEIR_ECLOSED);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "unable to open database file");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* The database, and the files that SQLite keeps beside it. */
static void remove_all(void)
{
    (void)remove(path);
    (void)remove("test_epic.db-wal");
    (void)remove("test_epic.db-shm");
}

static bool make_file(void)
{
    FILE *file = fopen(path, "w");

    return file && fclose(file) == 0;
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reply", test_reply_comes_when_the_last_piece_is_settled },
        { "batches", test_epic_is_read_in_batches },
        { "slow piece", test_slow_piece_holds_back_no_more_than_the_window },
        { "busy", test_second_epic_is_rejected_as_the_master_is_busy },
        { "same", test_same_epic_is_waited_for_by_all_who_ask },
        { "no workers", test_epic_without_workers_is_refused },
        { "no epic", test_what_is_no_epic_is_refused },
        { "again", test_piece_that_was_lost_is_sent_again },
        { "next master", test_next_master_goes_on_at_the_mark },
        { "locked master", test_master_whose_database_is_locked_fails },
        { "fingerprints", test_worker_writes_fingerprints },
        { "locked worker", test_worker_whose_database_is_locked_fails },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "epic", .pSetUpFunc = reset, .pTests = tests },
                              CU_SUITE_INFO_NULL };
    unsigned failures;

    remove_all();
    if (!make_file() || CU_initialize_registry() != CUE_SUCCESS ||
        CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    remove_all();
    return failures != 0;
}
