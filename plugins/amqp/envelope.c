/* SPDX-License-Identifier: MIT */
#include "envelope.h"

#include <stdio.h>
#include <string.h>

#include <weir/plugin.h>

#include "amqp_headers.h"

#define DELIVERY_COUNT "x-delivery-count"
#define PERSISTENT 2
#define ADDED_MAX 4

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_named(const amqp_table_entry_t *entry, const char *name)
{
    return entry->key.len == strlen(name) && memcmp(entry->key.bytes, name, entry->key.len) == 0;
}

/* The value of an integer of any kind; 0 when it is none. */
static uint64_t integer_of(const amqp_field_value_t *value)
{
    switch (value->kind) {
    case AMQP_FIELD_KIND_I8:
        return (uint64_t)value->value.i8;
    case AMQP_FIELD_KIND_U8:
        return value->value.u8;
    case AMQP_FIELD_KIND_I16:
        return (uint64_t)value->value.i16;
    case AMQP_FIELD_KIND_U16:
        return value->value.u16;
    case AMQP_FIELD_KIND_I32:
        return (uint64_t)value->value.i32;
    case AMQP_FIELD_KIND_U32:
        return value->value.u32;
    case AMQP_FIELD_KIND_I64:
    case AMQP_FIELD_KIND_U64:
        return value->value.u64;
    default:
        return 0;
    }
}

/* Copies a text that fits and has no NUL; an empty text or another value leaves `out` as it is. */
static void copy_text(const amqp_field_value_t *value, char *out, size_t size)
{
    amqp_bytes_t text = value->value.bytes;

    if (value->kind != AMQP_FIELD_KIND_UTF8 || text.len == 0 || text.len >= size ||
        memchr(text.bytes, '\0', text.len))
        return;
    memcpy(out, text.bytes, text.len);
    out[text.len] = '\0';
}

/* An attempt is a small number; another program may have written anything. */
static uint32_t small(uint64_t number)
{
    return number < UINT16_MAX ? (uint32_t)number : UINT16_MAX;
}

void envelope_read(const amqp_basic_properties_t *properties, struct envelope *out)
{
    amqp_table_t headers = { 0, NULL };
    uint32_t base = 1, deliveries = 0;

    memset(out, 0, sizeof *out);
    memcpy(out->tag, AMQP_BYTES_TAG, sizeof AMQP_BYTES_TAG);
    if (properties->_flags & AMQP_BASIC_HEADERS_FLAG)
        headers = properties->headers;
    for (int i = 0; i < headers.num_entries; i++) {
        const amqp_table_entry_t *entry = &headers.entries[i];

        if (is_named(entry, AMQP_HEADER_TAG))
            copy_text(&entry->value, out->tag, sizeof out->tag);
        else if (is_named(entry, AMQP_HEADER_LAYOUT))
            copy_text(&entry->value, out->layout, sizeof out->layout);
        else if (is_named(entry, AMQP_HEADER_KEY))
            out->key = integer_of(&entry->value);
        else if (is_named(entry, AMQP_HEADER_ATTEMPT))
            base = small(integer_of(&entry->value));
        else if (is_named(entry, DELIVERY_COUNT))
            deliveries = small(integer_of(&entry->value));
    }
    out->attempt = small((uint64_t)(base > 0 ? base : 1) + deliveries);
    if (!(properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG))
        return;
    (void)snprintf(out->id, sizeof out->id, "%.*s", (int)properties->message_id.len,
                   (const char *)properties->message_id.bytes);
    if (out->key == 0)
        out->key = weir_key(properties->message_id.bytes, properties->message_id.len);
}

const char *envelope_mismatch(const struct envelope *envelope, const char *const *tags,
                              size_t tag_count, char *out, size_t size)
{
    size_t i = 0;

    if (envelope->layout[0] && strcmp(envelope->layout, AMQP_LAYOUT) != 0) {
        (void)snprintf(out, size, "layout %s, here %s", envelope->layout, AMQP_LAYOUT);
        return out;
    }
    while (i < tag_count && strcmp(envelope->tag, tags[i]) != 0)
        i++;
    if (tag_count == 0 || i < tag_count)
        return NULL;
    (void)snprintf(out, size, "tag %s is none of the option `tags`", envelope->tag);
    return out;
}

/* --- writing ---------------------------------------------------------------------------------- */

static amqp_table_entry_t text_entry(const char *name, const char *text)
{
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes(name) };

    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = amqp_cstring_bytes(text);
    return entry;
}

static amqp_table_entry_t number_entry(const char *name, uint64_t number)
{
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes(name) };

    entry.value.kind = AMQP_FIELD_KIND_I64;
    entry.value.value.u64 = number;
    return entry;
}

void envelope_write(struct envelope_sent *out, const char *tag, uint64_t key, uint32_t attempt,
                    const char *id)
{
    amqp_basic_properties_t *properties = &out->properties;
    int count = 0;

    memset(properties, 0, sizeof *properties);
    if (tag) {
        out->entries[count++] = text_entry(AMQP_HEADER_TAG, tag);
        out->entries[count++] = text_entry(AMQP_HEADER_LAYOUT, AMQP_LAYOUT);
    }
    if (key != 0)
        out->entries[count++] = number_entry(AMQP_HEADER_KEY, key);
    if (attempt > 1)
        out->entries[count++] = number_entry(AMQP_HEADER_ATTEMPT, attempt);
    properties->_flags = AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                         AMQP_BASIC_MESSAGE_ID_FLAG;
    properties->headers = (amqp_table_t){ count, out->entries };
    properties->delivery_mode = PERSISTENT;
    properties->message_id = amqp_cstring_bytes(id);
}

/* True for a header that a new publishing must not copy from the old one. */
static bool is_replaced(const amqp_table_entry_t *entry, const struct envelope_change *change)
{
    return is_named(entry, DELIVERY_COUNT) ||
           (change->attempt > 0 && is_named(entry, AMQP_HEADER_ATTEMPT)) ||
           (change->reason &&
            (is_named(entry, AMQP_HEADER_REASON) || is_named(entry, AMQP_HEADER_DETAIL) ||
             is_named(entry, AMQP_HEADER_HOST)));
}

static void add_change(amqp_table_t *headers, const struct envelope_change *change)
{
    if (change->attempt > 0)
        headers->entries[headers->num_entries++] = number_entry(AMQP_HEADER_ATTEMPT,
                                                                change->attempt);
    if (!change->reason)
        return;
    headers->entries[headers->num_entries++] = text_entry(AMQP_HEADER_REASON, change->reason);
    headers->entries[headers->num_entries++] = text_entry(AMQP_HEADER_DETAIL, change->detail);
    headers->entries[headers->num_entries++] = text_entry(AMQP_HEADER_HOST, change->host);
}

bool envelope_change(amqp_basic_properties_t *properties, const struct envelope_change *change,
                     amqp_pool_t *pool)
{
    amqp_table_t old = { 0, NULL }, headers = { 0, NULL };

    if (properties->_flags & AMQP_BASIC_HEADERS_FLAG)
        old = properties->headers;
    headers.entries = amqp_pool_alloc(pool, sizeof(amqp_table_entry_t) *
                                                ((size_t)old.num_entries + ADDED_MAX));
    if (!headers.entries)
        return false;
    for (int i = 0; i < old.num_entries; i++)
        if (!is_replaced(&old.entries[i], change))
            headers.entries[headers.num_entries++] = old.entries[i];
    add_change(&headers, change);
    properties->headers = headers;
    properties->delivery_mode = PERSISTENT;
    properties->_flags |= AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties->_flags &= ~(amqp_flags_t)AMQP_BASIC_EXPIRATION_FLAG;
    if (change->expiration) {
        properties->expiration = amqp_cstring_bytes(change->expiration);
        properties->_flags |= AMQP_BASIC_EXPIRATION_FLAG;
    }
    return true;
}
