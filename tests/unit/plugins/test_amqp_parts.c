/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the parts of the plugin amqp that need no server: confirms end what they name, in order;
 *         an acknowledgement stands for settled pieces alone; headers travel and come back;
 *         deliveries of a lost connection become orphans; addresses and the server's complaints are
 *         understood.
 * Method: each part alone.
 */
#include <stdio.h>
#include <string.h>

#include <weir/plugin.h>

#include "../../../plugins/amqp/acks.h"
#include "../../../plugins/amqp/address.h"
#include "../../../plugins/amqp/amqp_headers.h"
#include "../../../plugins/amqp/confirms.h"
#include "../../../plugins/amqp/deliveries.h"
#include "../../../plugins/amqp/envelope.h"
#include "../../../plugins/amqp/link.h"
#include "../../../plugins/amqp/queue.h"
#include "../host/suite.h"

/* --- confirms --------------------------------------------------------------------------------- */

static void add(struct confirms *confirms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        confirms_add(confirms, 10 + i, true);
}

static void test_single_confirms_end_in_any_order(void)
{
    struct confirms confirms;
    uint32_t item = 0;

    CU_ASSERT_EQUAL(confirms_init(&confirms, 4), 0);
    add(&confirms, 3);
    CU_ASSERT_TRUE(confirms_take(&confirms, 2, false, &item));
    CU_ASSERT_EQUAL(item, 11);
    CU_ASSERT_FALSE(confirms_take(&confirms, 2, false, &item));
    CU_ASSERT_TRUE(confirms_take(&confirms, 1, false, &item));
    CU_ASSERT_EQUAL(item, 10);
    CU_ASSERT_FALSE(confirms_is_empty(&confirms));
    CU_ASSERT_TRUE(confirms_take(&confirms, 3, false, &item));
    CU_ASSERT_TRUE(confirms_is_empty(&confirms));
    CU_ASSERT_FALSE(confirms_take(&confirms, 4, false, &item));
    confirms_finish(&confirms);
}

static void test_multiple_confirms_end_all_up_to_a_number(void)
{
    struct confirms confirms;
    uint32_t item = 0;

    CU_ASSERT_EQUAL(confirms_init(&confirms, 8), 0);
    add(&confirms, 5);
    CU_ASSERT_TRUE(confirms_take(&confirms, 2, false, &item));
    CU_ASSERT_TRUE(confirms_take(&confirms, 3, true, &item));
    CU_ASSERT_EQUAL(item, 10);
    CU_ASSERT_TRUE(confirms_take(&confirms, 3, true, &item));
    CU_ASSERT_EQUAL(item, 12);
    CU_ASSERT_FALSE(confirms_take(&confirms, 3, true, &item));
    CU_ASSERT_TRUE(confirms_take(&confirms, 0, true, &item));
    CU_ASSERT_EQUAL(item, 13);
    CU_ASSERT_TRUE(confirms_take(&confirms, 0, true, &item));
    CU_ASSERT_FALSE(confirms_take(&confirms, 0, true, &item));
    confirms_finish(&confirms);
}

static void test_room_is_what_lies_between_the_first_and_the_next(void)
{
    struct confirms confirms;
    uint32_t item = 0;

    CU_ASSERT_EQUAL(confirms_init(&confirms, 3), 0);
    add(&confirms, 3);
    CU_ASSERT_FALSE(confirms_has_room(&confirms, true));
    CU_ASSERT_TRUE(confirms_take(&confirms, 2, false, &item));
    CU_ASSERT_FALSE(confirms_has_room(&confirms, true));
    CU_ASSERT_TRUE(confirms_take(&confirms, 1, false, &item));
    CU_ASSERT_TRUE(confirms_has_room(&confirms, true));
    confirms_reset(&confirms);
    CU_ASSERT_TRUE(confirms_is_empty(&confirms));
    confirms_finish(&confirms);
}

static void test_unproven_publishing_goes_alone(void)
{
    struct confirms confirms;
    uint32_t item = 0;

    CU_ASSERT_EQUAL(confirms_init(&confirms, 8), 0);
    add(&confirms, 2);
    CU_ASSERT_FALSE(confirms_has_room(&confirms, false));
    CU_ASSERT_TRUE(confirms_has_room(&confirms, true));
    CU_ASSERT_TRUE(confirms_take(&confirms, 1, false, &item));
    CU_ASSERT_TRUE(confirms_take(&confirms, 2, false, &item));
    CU_ASSERT_TRUE(confirms_has_room(&confirms, false));
    confirms_add(&confirms, 7, false);
    CU_ASSERT_FALSE(confirms_has_room(&confirms, true));
    CU_ASSERT_EQUAL(confirms_count(&confirms), 1);
    CU_ASSERT_TRUE(confirms_take(&confirms, 3, false, &item));
    CU_ASSERT_TRUE(confirms_has_room(&confirms, true));
    confirms_finish(&confirms);
}

static void test_suspects_go_alone_and_then_no_more(void)
{
    struct confirms confirms;
    uint32_t item = 0;

    CU_ASSERT_EQUAL(confirms_init(&confirms, 8), 0);
    add(&confirms, 3);
    confirms_suspect_all(&confirms);
    confirms_reset(&confirms);
    for (uint32_t number = 1; number <= 3; number++) {
        CU_ASSERT_TRUE(confirms_has_room(&confirms, true));
        confirms_add(&confirms, number, true);
        CU_ASSERT_FALSE(confirms_has_room(&confirms, true));
        CU_ASSERT_TRUE(confirms_take(&confirms, number, false, &item));
    }
    add(&confirms, 1);
    CU_ASSERT_TRUE(confirms_has_room(&confirms, true));
    confirms_finish(&confirms);
}

/* --- envelopes -------------------------------------------------------------------------------- */

/* The properties as a server passes them on. Allocates from the pool. */
static amqp_basic_properties_t *pass_on(const amqp_basic_properties_t *sent, amqp_pool_t *pool)
{
    static char bytes[2048];
    amqp_bytes_t encoded = { sizeof bytes, bytes };
    void *received = NULL;
    int size = amqp_encode_properties(AMQP_BASIC_CLASS, (void *)(uintptr_t)sent, encoded);

    CU_ASSERT_FATAL(size > 0);
    encoded.len = (size_t)size;
    CU_ASSERT_EQUAL_FATAL(amqp_decode_properties(AMQP_BASIC_CLASS, pool, encoded, &received), 0);
    return received;
}

static void test_tag_key_attempt_and_id_travel(void)
{
    struct envelope_sent sent;
    struct envelope got;
    amqp_pool_t pool;

    init_amqp_pool(&pool, 1024);
    envelope_write(&sent, "files.line/1", UINT64_MAX - 5, 3, "run:7");
    envelope_read(pass_on(&sent.properties, &pool), &got);
    CU_ASSERT_STRING_EQUAL(got.tag, "files.line/1");
    CU_ASSERT_STRING_EQUAL(got.layout, AMQP_LAYOUT);
    CU_ASSERT_STRING_EQUAL(got.id, "run:7");
    CU_ASSERT_EQUAL(got.key, UINT64_MAX - 5);
    CU_ASSERT_EQUAL(got.attempt, 3);
    empty_amqp_pool(&pool);
}

static void test_piece_without_a_key_has_that_of_its_id(void)
{
    struct envelope_sent sent;
    struct envelope got;
    amqp_pool_t pool;

    init_amqp_pool(&pool, 1024);
    envelope_write(&sent, NULL, 0, 1, "run:7");
    envelope_read(pass_on(&sent.properties, &pool), &got);
    CU_ASSERT_STRING_EQUAL(got.tag, AMQP_BYTES_TAG);
    CU_ASSERT_EQUAL(got.key, weir_key("run:7", 5));
    CU_ASSERT_EQUAL(got.attempt, 1);
    empty_amqp_pool(&pool);
}

static void test_deliveries_count_as_attempts(void)
{
    amqp_table_entry_t entries[2] = {
        { amqp_cstring_bytes("x-delivery-count"), { .kind = AMQP_FIELD_KIND_I64 } },
        { amqp_cstring_bytes(AMQP_HEADER_ATTEMPT), { .kind = AMQP_FIELD_KIND_I32 } },
    };
    amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_HEADERS_FLAG,
                                           .headers = { 2, entries } };
    struct envelope got;

    entries[0].value.value.i64 = 2;
    entries[1].value.value.i32 = 4;
    envelope_read(&properties, &got);
    CU_ASSERT_EQUAL(got.attempt, 6);
    entries[1].value.value.i32 = -1; /* of another program */
    envelope_read(&properties, &got);
    CU_ASSERT_EQUAL(got.attempt, UINT16_MAX);
}

static void test_other_layout_or_tag_is_a_mismatch(void)
{
    const char *const tags[] = { "a/1", "b/2" };
    struct envelope envelope = { .tag = "b/1", .layout = "big-64" };
    char out[200];

    CU_ASSERT_STRING_EQUAL(envelope_mismatch(&envelope, NULL, 0, out, sizeof out),
                           "layout big-64, here "
                           "little-64");
    (void)snprintf(envelope.layout, sizeof envelope.layout, "%s", AMQP_LAYOUT);
    CU_ASSERT_PTR_NULL(envelope_mismatch(&envelope, NULL, 0, out, sizeof out));
    CU_ASSERT_STRING_EQUAL(envelope_mismatch(&envelope, tags, 2, out, sizeof out),
                           "tag b/1 is none of the option `tags`");
    (void)snprintf(envelope.tag, sizeof envelope.tag, "b/2");
    CU_ASSERT_PTR_NULL(envelope_mismatch(&envelope, tags, 2, out, sizeof out));
}

static void test_retry_keeps_all_but_attempt_and_count(void)
{
    struct envelope_change change = { .attempt = 5, .expiration = "250" };
    amqp_basic_properties_t *properties;
    struct envelope_sent sent;
    struct envelope got;
    amqp_pool_t pool;

    init_amqp_pool(&pool, 1024);
    envelope_write(&sent, "a/1", 9, 2, "id");
    properties = pass_on(&sent.properties, &pool);
    CU_ASSERT_TRUE(envelope_change(properties, &change, &pool));
    envelope_read(properties, &got);
    CU_ASSERT_STRING_EQUAL(got.tag, "a/1");
    CU_ASSERT_STRING_EQUAL(got.id, "id");
    CU_ASSERT_EQUAL(got.key, 9);
    CU_ASSERT_EQUAL(got.attempt, 5);
    CU_ASSERT_EQUAL(properties->expiration.len, 3);
    change = (struct envelope_change){ .reason = "rejected", .detail = "bad", .host = "h" };
    CU_ASSERT_TRUE(envelope_change(properties, &change, &pool));
    CU_ASSERT_EQUAL(properties->headers.num_entries, 7);
    CU_ASSERT_FALSE(properties->_flags & AMQP_BASIC_EXPIRATION_FLAG);
    CU_ASSERT_TRUE(envelope_change(properties, &change, &pool));
    CU_ASSERT_EQUAL(properties->headers.num_entries, 7); /* each once */
    empty_amqp_pool(&pool);
}

/* --- deliveries ------------------------------------------------------------------------------- */

static void test_deliveries_of_a_lost_connection_become_orphans(void)
{
    struct delivery_line line = { DELIVERY_NONE, DELIVERY_NONE };
    struct deliveries deliveries;
    uint32_t sent, waiting;

    CU_ASSERT_EQUAL(deliveries_init(&deliveries, 2), 0);
    sent = deliveries_add(&deliveries, 1, 3, 5);
    waiting = deliveries_add(&deliveries, 2, 3, 0);
    CU_ASSERT_EQUAL(deliveries_add(&deliveries, 3, 0, 0), DELIVERY_NONE);
    delivery_line_append(&deliveries, &line, waiting);
    deliveries_move(&deliveries, sent, DELIVERY_SENT);
    CU_ASSERT_EQUAL(deliveries_unsettled(&deliveries), 2);
    deliveries_orphan(&deliveries);
    CU_ASSERT_EQUAL(deliveries_unsettled(&deliveries), 1);
    CU_ASSERT_EQUAL(deliveries.items[sent].number, 0);
    CU_ASSERT_EQUAL(deliveries_lowest(&deliveries), UINT64_MAX);
    CU_ASSERT_EQUAL(deliveries_add(&deliveries, 1, 0, 1), waiting);
    CU_ASSERT_EQUAL(deliveries_lowest(&deliveries), 1);
    deliveries_remove(&deliveries, sent);
    CU_ASSERT_EQUAL(deliveries_lowest(&deliveries), 1);
    deliveries_finish(&deliveries);
}

static void test_line_is_first_in_first_out(void)
{
    struct delivery_line line = { DELIVERY_NONE, DELIVERY_NONE };
    struct deliveries deliveries;
    uint32_t index[3];

    CU_ASSERT_EQUAL(deliveries_init(&deliveries, 3), 0);
    for (int i = 0; i < 3; i++) {
        index[i] = deliveries_add(&deliveries, (uint64_t)i + 1, 0, 1);
        delivery_line_append(&deliveries, &line, index[i]);
    }
    CU_ASSERT_EQUAL(delivery_line_take(&deliveries, &line), index[0]);
    delivery_line_prepend(&deliveries, &line, index[0]);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(delivery_line_take(&deliveries, &line), index[i]);
    CU_ASSERT_EQUAL(delivery_line_take(&deliveries, &line), DELIVERY_NONE);
    delivery_line_prepend(&deliveries, &line, index[1]);
    delivery_line_append(&deliveries, &line, index[2]);
    CU_ASSERT_EQUAL(delivery_line_take(&deliveries, &line), index[1]);
    CU_ASSERT_EQUAL(delivery_line_take(&deliveries, &line), index[2]);
    deliveries_finish(&deliveries);
}

/* --- acknowledgements ------------------------------------------------------------------------- */

static void test_acknowledgement_of_many_stops_below_the_first_that_is_not_settled(void)
{
    struct acks acks;
    uint64_t number = 0;

    CU_ASSERT_EQUAL(acks_init(&acks, 4), 0);
    acks_add(&acks, 7);
    acks_add(&acks, 2);
    acks_add(&acks, 5);
    CU_ASSERT_FALSE(acks_is_full(&acks));
    CU_ASSERT_EQUAL(acks_take_below(&acks, 2, &number), 0);
    CU_ASSERT_EQUAL(acks_take_below(&acks, 6, &number), 2);
    CU_ASSERT_EQUAL(number, 5);
    CU_ASSERT_TRUE(acks_take(&acks, &number));
    CU_ASSERT_EQUAL(number, 7);
    CU_ASSERT_FALSE(acks_take(&acks, &number));
    acks_add(&acks, 9);
    CU_ASSERT_EQUAL(acks_take_below(&acks, UINT64_MAX, &number), 1);
    CU_ASSERT_EQUAL(number, 9);
    acks_finish(&acks);
}

/* Pieces settle in an order of chance. No acknowledgement may stand for one that is not settled,
 * and at the end each has one. */
static void test_no_acknowledgement_stands_for_an_unsettled_piece(void)
{
    enum { COUNT = 200 };
    uint32_t order[COUNT], random = 12345;
    bool is_settled[COUNT + 1] = { false }, is_acknowledged[COUNT + 1] = { false };
    struct deliveries deliveries;
    struct acks acks;

    CU_ASSERT_EQUAL(deliveries_init(&deliveries, COUNT), 0);
    CU_ASSERT_EQUAL(acks_init(&acks, 7), 0);
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = deliveries_add(&deliveries, i + 1, 0, 1);
    for (uint32_t i = COUNT; i-- > 0;) {
        uint32_t place, index;
        uint64_t number = 0;

        random = random * 1664525 + 1013904223;
        place = (random >> 16) % (i + 1);
        index = order[place];
        order[place] = order[i];
        number = deliveries.items[index].number;
        is_settled[number] = true;
        deliveries_remove(&deliveries, index);
        acks_add(&acks, number);
        if (!acks_is_full(&acks) && i > 0)
            continue;
        if (acks_take_below(&acks, deliveries_lowest(&deliveries), &number) > 0)
            for (uint64_t n = 1; n <= number; n++) {
                CU_ASSERT_TRUE(is_settled[n]);
                is_acknowledged[n] = true;
            }
        while (acks_take(&acks, &number))
            is_acknowledged[number] = true;
    }
    for (uint32_t n = 1; n <= COUNT; n++)
        CU_ASSERT_TRUE(is_acknowledged[n]);
    acks_finish(&acks);
    deliveries_finish(&deliveries);
}

/* --- addresses and complaints ----------------------------------------------------------------- */

static void test_addresses_are_read(void)
{
    struct address address;

    CU_ASSERT_PTR_NULL(address_parse("amqp://a.example", &address));
    CU_ASSERT_STRING_EQUAL(address.host, "a.example");
    CU_ASSERT_EQUAL(address.port, 5672);
    CU_ASSERT_STRING_EQUAL(address.vhost, "/");
    CU_ASSERT_FALSE(address.is_tls);
    CU_ASSERT_PTR_NULL(address_parse("amqps://[::1]:7/v", &address));
    CU_ASSERT_STRING_EQUAL(address.host, "::1");
    CU_ASSERT_EQUAL(address.port, 7);
    CU_ASSERT_STRING_EQUAL(address.vhost, "v");
    CU_ASSERT_TRUE(address.is_tls);
    CU_ASSERT_PTR_NOT_NULL(address_parse("http://a", &address));
    CU_ASSERT_PTR_NOT_NULL(address_parse("amqp://", &address));
    CU_ASSERT_PTR_NOT_NULL(address_parse("amqp://a:port", &address));
    CU_ASSERT_PTR_NOT_NULL(address_parse("amqp://me:secret@a", &address));
}

static void test_complaint_about_an_argument_names_both_values(void)
{
    char out[200];

    CU_ASSERT_TRUE(queue_explain("PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue "
                                 "'q' in vhost '/': received the value '100' of type 'long' but "
                                 "current is the value '5000' of type 'long'",
                                 out, sizeof out));
    CU_ASSERT_STRING_EQUAL(out, "x-max-length: 100 here, 5000 at the server");
    CU_ASSERT_TRUE(queue_explain("PRECONDITION_FAILED - inequivalent arg 'x-overflow' for queue "
                                 "'q' in vhost '/': received the value 'reject-publish' of type "
                                 "'longstr' but current is none",
                                 out, sizeof out));
    CU_ASSERT_STRING_EQUAL(out, "x-overflow: reject-publish here, absent at the server");
    CU_ASSERT_FALSE(queue_explain("ACCESS_REFUSED", out, sizeof out));
}

static void test_waits_between_connections_grow_with_jitter(void)
{
    struct amqp_settings settings = { .backoff_max = 1000 };
    uint64_t first, last = 0;
    struct link link;

    link_init(&link, &settings);
    first = link_backoff_ms(&link);
    CU_ASSERT_TRUE(first >= 50 && first <= 100);
    for (int i = 0; i < 40; i++) {
        last = link_backoff_ms(&link);
        CU_ASSERT_TRUE(last <= 1000);
    }
    CU_ASSERT_TRUE(last >= 500);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "single", test_single_confirms_end_in_any_order },
        { "multiple", test_multiple_confirms_end_all_up_to_a_number },
        { "unproven", test_unproven_publishing_goes_alone },
        { "suspects", test_suspects_go_alone_and_then_no_more },
        { "room", test_room_is_what_lies_between_the_first_and_the_next },
        { "travel", test_tag_key_attempt_and_id_travel },
        { "key", test_piece_without_a_key_has_that_of_its_id },
        { "attempts", test_deliveries_count_as_attempts },
        { "mismatch", test_other_layout_or_tag_is_a_mismatch },
        { "retry", test_retry_keeps_all_but_attempt_and_count },
        { "orphans", test_deliveries_of_a_lost_connection_become_orphans },
        { "acknowledgement",
          test_acknowledgement_of_many_stops_below_the_first_that_is_not_settled },
        { "unsettled", test_no_acknowledgement_stands_for_an_unsettled_piece },
        { "line", test_line_is_first_in_first_out },
        { "addresses", test_addresses_are_read },
        { "complaints", test_complaint_about_an_argument_names_both_values },
        { "backoff", test_waits_between_connections_grow_with_jitter },
        CU_TEST_INFO_NULL,
    };

    return suite_run("amqp parts", tests);
}
