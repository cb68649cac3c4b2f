/* SPDX-License-Identifier: MIT */
/*
 * Goal: the bank makes a transfer once, under one lease, and returns the connection whatever
 * happens; the source sends again what was not made; a connection without a server gives the
 * reason. Method: <weir/testkit.h> stands in for the host and for the server.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <string.h>

#include <weir/testkit.h>

#include "pgpool.h"

#define POOL 7u
#define STATEMENTS 6u

extern const struct weir_plugin weir_plugin_v1;

static const struct weir_lease lease = { .pool = POOL, .member = 11, .token = 5 };

/* --- the bank --------------------------------------------------------------------------------- */

static struct weir_kit *open_bank(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "bank");

    weir_kit_name(kit, "db", POOL);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "connections: db"), 0);
    return kit;
}

static const struct weir_kit_sent *last(const struct weir_kit *kit)
{
    return weir_kit_sent(kit, weir_kit_sent_count(kit) - 1);
}

static void answer(struct weir_kit *kit, int status, uint64_t affected)
{
    const struct pgpool_result result = { .affected = affected };

    CU_ASSERT_EQUAL(weir_kit_answer(kit, last(kit)->reference, status, PGPOOL_RESULT_TAG, &result,
                                    sizeof result),
                    0);
}

/* A transfer whose connection has been taken. */
static struct weir_kit *begin(void)
{
    const struct pgpool_transfer transfer = { .id = 3, .amount = 50, .source = 1, .target = 2 };
    struct weir_kit *kit = open_bank();

    CU_ASSERT_EQUAL(weir_kit_handle(kit, PGPOOL_TRANSFER_TAG, &transfer, sizeof transfer),
                    WEIR_KEEP);
    CU_ASSERT_EQUAL(last(kit)->way, WEIR_KIT_TAKE);
    CU_ASSERT_EQUAL(last(kit)->to, POOL);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, last(kit)->reference, 0, "", &lease, sizeof lease), 0);
    return kit;
}

static void finish(struct weir_kit *kit, int how, enum weir_verdict verdict)
{
    CU_ASSERT_EQUAL(last(kit)->way, WEIR_KIT_RETURN);
    CU_ASSERT_EQUAL(last(kit)->token, lease.token);
    CU_ASSERT_EQUAL(last(kit)->how, how);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, verdict), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_transfer_is_one_transaction_of_one_lease(void)
{
    struct weir_kit *kit = begin();
    const char *texts[PGPOOL_PARAMETERS_MAX + 1];

    for (uint32_t i = 0; i < STATEMENTS; i++) {
        CU_ASSERT_EQUAL(last(kit)->way, WEIR_KIT_REQUEST);
        CU_ASSERT_EQUAL(last(kit)->to, lease.member);
        if (i == 3) {
            CU_ASSERT_EQUAL_FATAL(pgpool_unpack(last(kit)->message, texts), 3);
            CU_ASSERT_PTR_NOT_NULL(strstr(texts[0], "lease=5 */"));
            CU_ASSERT_STRING_EQUAL(texts[1], "50");
            CU_ASSERT_STRING_EQUAL(texts[2], "1");
        }
        answer(kit, 0, 1);
    }
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "made=1\n");
    finish(kit, WEIR_DONE, WEIR_DONE);
}

static void test_transfer_that_was_made_before_is_not_made_again(void)
{
    struct weir_kit *kit = begin();

    answer(kit, 0, 0); /* BEGIN */
    answer(kit, 0, 0); /* no row was inserted */
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "made=0\n");
    finish(kit, WEIR_DONE, WEIR_DONE);
}

static void test_statement_that_fails_returns_the_connection(void)
{
    struct weir_kit *kit = begin();

    answer(kit, WEIR_EREJECTED, 0);
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 100);
    finish(kit, WEIR_DONE, WEIR_RETRY);
}

static void test_statement_that_does_not_answer_fails_the_connection(void)
{
    struct weir_kit *kit = begin();

    weir_kit_advance(kit, 5000);
    finish(kit, WEIR_FAIL, WEIR_RETRY);
}

static void test_transfer_without_a_connection_is_tried_again(void)
{
    const struct pgpool_transfer transfer = { .id = 3, .amount = 50, .source = 1, .target = 2 };
    struct weir_kit *kit = open_bank();

    CU_ASSERT_EQUAL(weir_kit_handle(kit, PGPOOL_TRANSFER_TAG, &transfer, sizeof transfer),
                    WEIR_KEEP);
    weir_kit_advance(kit, 5000);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_RETRY), 1);
    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, PGPOOL_TRANSFER_TAG, &transfer, sizeof transfer),
                    WEIR_RETRY);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- the source ------------------------------------------------------------------------------- */

static struct weir_kit *open_orders(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "orders");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static void settle(struct weir_kit *kit, size_t index, enum weir_result result, const char *reason)
{
    const struct weir_outcome outcome = {
        .token = weir_kit_sent(kit, index)->token, .result = result, .attempt = 1, .reason = reason
    };

    CU_ASSERT_EQUAL(weir_kit_tell(kit, &outcome), 0);
}

static uint64_t id_of(const struct weir_kit *kit, size_t index)
{
    return ((const struct pgpool_transfer *)weir_kit_emitted(kit, 0, index)->data)->id;
}

static void test_transfer_is_sent_until_it_is_made_or_refused(void)
{
    struct weir_kit *kit = open_orders("count: 3\naccounts: 2");

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DONE, "");
    settle(kit, 1, WEIR_OUTCOME_DEAD, "crashed");
    settle(kit, 2, WEIR_OUTCOME_DEAD, "rejected");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT); /* it rests */
    weir_kit_advance(kit, 100);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    CU_ASSERT_EQUAL(id_of(kit, 3), id_of(kit, 1));
    settle(kit, 3, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_END);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "2 transfers made, 1 refused\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_next_source_sends_what_was_under_way(void)
{
    struct weir_kit *first = open_orders("count: 3\naccounts: 2");
    struct weir_kit *second = open_orders("count: 3\naccounts: 2\nseed: 2");
    const void *position;
    size_t size;

    CU_ASSERT_EQUAL(weir_kit_produce(first, 2), WEIR_MORE);
    settle(first, 0, WEIR_OUTCOME_DONE, "");
    weir_kit_close(first, WEIR_END_CRASH);
    position = weir_kit_left(first, &size);
    weir_kit_resume(second, position, size);
    CU_ASSERT_EQUAL(weir_kit_produce(second, 9), WEIR_WAIT);
    CU_ASSERT_EQUAL(id_of(second, 0), 1);
    CU_ASSERT_EQUAL(id_of(second, 1), 2);
    for (size_t i = 0; i < 2; i++)
        settle(second, i, WEIR_OUTCOME_DONE, "");
    CU_ASSERT_EQUAL(weir_kit_destroy(first), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
}

/* --- connections ------------------------------------------------------------------------------ */

static void test_connection_without_a_server_gives_the_reason(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "connection");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "conninfo: host=/nowhere"), WEIR_ECLOSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_reason(kit), "No such file"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_query_is_packed_and_unpacked(void)
{
    const char *const texts[] = { "SELECT $1", "", "b" };
    const char *found[PGPOOL_PARAMETERS_MAX + 1];
    char bytes[64];
    struct weir_message message = { .data = bytes };

    message.size = pgpool_pack(bytes, sizeof bytes, texts, 3);
    CU_ASSERT_EQUAL(message.size, 13);
    CU_ASSERT_EQUAL_FATAL(pgpool_unpack(&message, found), 3);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(found[i], texts[i]);
    message.size--; /* the last text has no end */
    CU_ASSERT_EQUAL(pgpool_unpack(&message, found), 0);
    memset(bytes, 0, sizeof bytes);
    message.size = PGPOOL_PARAMETERS_MAX + 2;
    CU_ASSERT_EQUAL(pgpool_unpack(&message, found), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one transaction", test_transfer_is_one_transaction_of_one_lease },
        { "made before", test_transfer_that_was_made_before_is_not_made_again },
        { "failure", test_statement_that_fails_returns_the_connection },
        { "time-out", test_statement_that_does_not_answer_fails_the_connection },
        { "no connection", test_transfer_without_a_connection_is_tried_again },
        { "again", test_transfer_is_sent_until_it_is_made_or_refused },
        { "successor", test_next_source_sends_what_was_under_way },
        { "no server", test_connection_without_a_server_gives_the_reason },
        { "query", test_query_is_packed_and_unpacked },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "pgpool", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
