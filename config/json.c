/* SPDX-License-Identifier: MIT */
#include "config/json.h"

#include <assert.h>
#include <inttypes.h>

#define DEPTH_MAX 64u /* the bits of a level mask */

void json_init(struct json *json, FILE *stream)
{
    *json = (struct json){ .stream = stream };
}

void json_finish(struct json *json)
{
    assert(json->depth == 0);
    (void)fputc('\n', json->stream);
}

static uint64_t level(const struct json *json)
{
    return UINT64_C(1) << (json->depth - 1);
}

static void put_string(const struct json *json, const char *text)
{
    (void)fputc('"', json->stream);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            (void)fprintf(json->stream, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            (void)fprintf(json->stream, "\\%c", c);
        else
            (void)fputc(c, json->stream);
    }
    (void)fputc('"', json->stream);
}

static void put_line(const struct json *json)
{
    (void)fprintf(json->stream, "\n%*s", (int)(2 * json->depth), "");
}

/* Writes what precedes a value: the comma after the value before, the indentation, the key. */
static void begin_value(struct json *json, const char *key)
{
    if (json->depth == 0)
        return;
    assert(!key == ((json->arrays & level(json)) != 0));
    if (json->filled & level(json))
        (void)fputc(',', json->stream);
    json->filled |= level(json);
    put_line(json);
    if (!key)
        return;
    put_string(json, key);
    (void)fputs(": ", json->stream);
}

static void begin(struct json *json, const char *key, bool array)
{
    begin_value(json, key);
    assert(json->depth < DEPTH_MAX);
    (void)fputc(array ? '[' : '{', json->stream);
    json->depth++;
    json->filled &= ~level(json);
    json->arrays &= ~level(json);
    json->arrays |= array ? level(json) : 0;
}

void json_begin_object(struct json *json, const char *key)
{
    begin(json, key, false);
}

void json_begin_array(struct json *json, const char *key)
{
    begin(json, key, true);
}

void json_end(struct json *json)
{
    bool array, filled;

    assert(json->depth > 0);
    array = (json->arrays & level(json)) != 0;
    filled = (json->filled & level(json)) != 0;
    json->depth--;
    if (filled)
        put_line(json);
    (void)fputc(array ? ']' : '}', json->stream);
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin_value(json, key);
    put_string(json, text);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin_value(json, key);
    (void)fputs(value ? "true" : "false", json->stream);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    (void)fprintf(json->stream, "%" PRIu64, value);
}

void json_number(struct json *json, const char *key, const char *digits)
{
    begin_value(json, key);
    (void)fputs(digits, json->stream);
}
