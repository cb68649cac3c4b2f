/* SPDX-License-Identifier: MIT */
/*
 * Goal:   no properties of a delivery harm amqp.consume: what it reads of them is within bounds,
 *         and a piece that it puts into another queue has the same properties there, but for those
 *         that it changes; what amqp.publish writes is read again as it was.
 * Method: the input as the bytes of the properties, decoded as the plugin decodes them; then as
 *         tag, id, key and attempt of a piece that is published.
 */
#include <amqp.h>
#include <amqp_framing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

#include "fuzz.h"
#include "plugins/amqp/amqp_headers.h"
#include "plugins/amqp/envelope.h"
#include "trial.h"

#define POOL_PAGE 4096u
#define ENCODED_MAX 65536u
#define ADDED 2048u /* bytes of the headers that a change adds */

static const char *const tags[] = { "text/1", "files.line/1" };

/* --- what was read ---------------------------------------------------------------------------- */

static void check(const struct envelope *envelope)
{
    char reason[64];
    const char *why = envelope_mismatch(envelope, tags, 2, reason, sizeof reason);

    trial_must(envelope->tag[0] && strnlen(envelope->tag, sizeof envelope->tag) <= ENVELOPE_TAG_MAX,
               "no tag, or one without an end");
    trial_must(strnlen(envelope->layout, sizeof envelope->layout) < sizeof envelope->layout &&
                   strnlen(envelope->id, sizeof envelope->id) < sizeof envelope->id,
               "a text without an end");
    trial_must(envelope->attempt >= 1 && envelope->attempt <= UINT16_MAX,
               "an attempt that a message cannot have");
    trial_must(!why || (why == reason && why[0] && strlen(why) < sizeof reason),
               "a mismatch without a reason");
    if (!why)
        trial_must(strcmp(envelope->tag, tags[0]) == 0 || strcmp(envelope->tag, tags[1]) == 0,
                   "another tag is taken");
}

/* The properties on their way to a queue and back; from the pool. NULL: they cannot be sent. */
static amqp_basic_properties_t *send(amqp_basic_properties_t *properties, amqp_pool_t *pool)
{
    amqp_bytes_t room = { ENCODED_MAX, amqp_pool_alloc(pool, ENCODED_MAX) };
    int size = amqp_encode_properties(AMQP_BASIC_CLASS, properties, room);
    void *decoded = NULL;

    if (size < 0)
        return NULL;
    room.len = (size_t)size;
    trial_must(amqp_decode_properties(AMQP_BASIC_CLASS, pool, room, &decoded) >= 0,
               "properties that were sent cannot be read");
    return decoded;
}

static void compare(const struct envelope *left, const struct envelope *right)
{
    trial_must(strcmp(left->tag, right->tag) == 0, "the tag has changed");
    trial_must(strcmp(left->layout, right->layout) == 0, "the layout has changed");
    trial_must(strcmp(left->id, right->id) == 0, "the id has changed");
    trial_must(left->key == right->key, "the key has changed");
}

/* --- a delivery that is published again ------------------------------------------------------- */

static amqp_basic_properties_t *decode(const char *bytes, size_t size, amqp_pool_t *pool)
{
    const amqp_bytes_t raw = { size, (void *)bytes };
    void *decoded = NULL;

    return amqp_decode_properties(AMQP_BASIC_CLASS, pool, raw, &decoded) >= 0 ? decoded : NULL;
}

static void change(const char *bytes, size_t size, const struct envelope_change *how,
                   const struct envelope *before)
{
    amqp_basic_properties_t *properties, *sent;
    struct envelope after;
    amqp_pool_t pool;

    init_amqp_pool(&pool, POOL_PAGE);
    properties = decode(bytes, size, &pool);
    trial_must(properties && envelope_change(properties, how, &pool), "memory is out");
    sent = send(properties, &pool);
    trial_must(sent, "a piece cannot be put into another queue");
    envelope_read(sent, &after);
    check(&after);
    compare(&after, before);
    if (how->attempt > 0)
        trial_must(after.attempt == how->attempt, "the attempt is another");
    trial_must(sent->delivery_mode == 2, "the piece would not outlive the server");
    trial_must(!(sent->_flags & AMQP_BASIC_EXPIRATION_FLAG) == !how->expiration,
               "the piece would expire, or would not");
    empty_amqp_pool(&pool);
}

static void read_and_change(const uint8_t *data, size_t size)
{
    const struct envelope_change retried = { .attempt = 3, .expiration = "1000" };
    const struct envelope_change returned = { .attempt = 65535 };
    const struct envelope_change buried = { .reason = "rejected", .detail = "why", .host = "a" };
    char *bytes = trial_copy(data, size);
    amqp_basic_properties_t *properties;
    struct envelope envelope;
    amqp_pool_t pool;

    init_amqp_pool(&pool, POOL_PAGE);
    properties = decode(bytes, size, &pool);
    if (properties) {
        envelope_read(properties, &envelope);
        check(&envelope);
        change(bytes, size, &retried, &envelope);
        change(bytes, size, &returned, &envelope);
        change(bytes, size, &buried, &envelope);
    }
    empty_amqp_pool(&pool);
    free(bytes);
}

/* --- a piece that is published ---------------------------------------------------------------- */

/* The first bytes are key and attempt, then a tag that ends with NUL, then the id. */
static void write_and_read(const uint8_t *data, size_t size)
{
    char tag[ENVELOPE_TAG_MAX + 1] = "", id[ENVELOPE_ID_MAX + 1] = "";
    struct envelope_sent sent;
    struct envelope envelope, expected = { .attempt = 0 };
    amqp_basic_properties_t *properties;
    amqp_pool_t pool;
    size_t length;

    if (size < 12)
        return;
    length = strnlen((const char *)data + 10, size - 10);
    memcpy(tag, data + 10, length < ENVELOPE_TAG_MAX ? length : ENVELOPE_TAG_MAX);
    length = strnlen((const char *)data + size - 2, 2);
    memcpy(id, data + size - 2, length);
    memcpy(&expected.key, data, 8);
    expected.attempt = data[8] + 1u;
    (void)snprintf(expected.tag, sizeof expected.tag, "%s", tag[0] ? tag : AMQP_BYTES_TAG);
    (void)snprintf(expected.id, sizeof expected.id, "%s", id);
    init_amqp_pool(&pool, POOL_PAGE);
    envelope_write(&sent, tag[0] ? tag : NULL, expected.key, expected.attempt, id);
    if (tag[0])
        memcpy(expected.layout, AMQP_LAYOUT, strlen(AMQP_LAYOUT));
    if (expected.key == 0)
        expected.key = weir_key(id, strlen(id));
    properties = send(&sent.properties, &pool);
    trial_must(properties, "a piece cannot be published");
    envelope_read(properties, &envelope);
    check(&envelope);
    compare(&envelope, &expected);
    trial_must(envelope.attempt == expected.attempt, "the attempt is another");
    empty_amqp_pool(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > ENCODED_MAX / 2 - ADDED)
        return 0;
    read_and_change(data, size);
    write_and_read(data, size);
    return 0;
}
