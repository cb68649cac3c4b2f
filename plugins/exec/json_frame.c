/* SPDX-License-Identifier: MIT */
#include "json_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json_text.h"

/* Bytes of a frame to the child beside its tag and its payload: names and three numbers. */
#define REST_MAX 192u

struct text {
    char *at; /* NULL = not given */
    size_t size;
};

/* The members of an object. */
struct members {
    struct text frame, data, base64, fields[FRAME_FIELDS];
};

/* --- reading ---------------------------------------------------------------------------------- */

static void skip_blanks(char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
}

static bool take(char **at, const char *end, char c)
{
    skip_blanks(at, end);
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

static bool is(const struct text *text, const char *word)
{
    return text->size == strlen(word) && memcmp(text->at, word, text->size) == 0;
}

static struct text *find_member(struct members *members, const struct text *name)
{
    struct {
        const char *name;
        struct text *member;
    } const rows[] = {
        { "frame", &members->frame },
        { "data", &members->data },
        { "base64", &members->base64 },
        { "key", &members->fields[FRAME_KEY] },
        { "id", &members->fields[FRAME_ID] },
        { "ms", &members->fields[FRAME_MS] },
        { "count", &members->fields[FRAME_COUNT] },
        { "revision", &members->fields[FRAME_REVISION] },
        { "batch", &members->fields[FRAME_BATCH_SIZE] },
        { "level", &members->fields[FRAME_LEVEL] },
        { "verdict", &members->fields[FRAME_VERDICT] },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (is(name, rows[i].name))
            return rows[i].member->at ? NULL : rows[i].member;
    }
    return NULL;
}

/* A text, or a number, whose digits stay where they are. */
static bool read_value(char **at, const char *end, struct text *out)
{
    if (take(at, end, '"'))
        return json_text_read(at, end, &out->at, &out->size);
    out->at = *at;
    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    out->size = (size_t)(*at - out->at);
    return out->size > 0;
}

static bool read_member(char **at, const char *end, struct members *members)
{
    struct text name, *member;

    if (!take(at, end, '"') || !json_text_read(at, end, &name.at, &name.size) ||
        !take(at, end, ':'))
        return false;
    member = find_member(members, &name);
    return member && read_value(at, end, member);
}

static bool read_members(char *at, const char *end, struct members *members)
{
    if (!take(&at, end, '{'))
        return false;
    do {
        if (!read_member(&at, end, members))
            return false;
    } while (take(&at, end, ','));
    if (!take(&at, end, '}'))
        return false;
    skip_blanks(&at, end);
    return at == end;
}

bool json_frame_read(char *line, size_t size, struct frame *out_frame, const char **out_bytes)
{
    struct members members = { .frame = { NULL, 0 } };
    struct frame_word word, fields[FRAME_FIELDS];
    struct text *bytes = &members.data;

    if (!read_members(line, line + size, &members) || !members.frame.at ||
        (members.data.at && members.base64.at))
        return false;
    if (members.base64.at)
        bytes = &members.base64;
    if (members.base64.at && !base64_read(bytes->at, bytes->size, &bytes->size))
        return false;
    word = (struct frame_word){ members.frame.at, members.frame.size };
    for (size_t i = 0; i < FRAME_FIELDS; i++)
        fields[i] = (struct frame_word){ members.fields[i].at, members.fields[i].size };
    *out_bytes = bytes->at;
    return frame_make(&word, bytes->size, fields, out_frame);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Writes what comes before the payload. Returns its size. */
static size_t write_head(char *to, size_t room, const struct weir_message *message, uint64_t id,
                         const char *payload_name)
{
    const char *tag = message->tag ? message->tag->name : "";
    size_t size = (size_t)snprintf(to, room, "{\"frame\":\"%s\",",
                                   message->kind == WEIR_REQUEST ? "request" : "message");

    if (id)
        size += (size_t)snprintf(to + size, room - size, "\"id\":\"%" PRIu64 "\",", id);
    size += (size_t)snprintf(to + size, room - size,
                             "\"attempt\":%u,\"key\":\"%" PRIu64 "\",\"tag\":\"", message->attempt,
                             message->key);

    json_text_write(to + size, tag, strlen(tag));
    size += json_text_size(tag, strlen(tag));
    return size + (size_t)snprintf(to + size, room - size, "\",\"%s\":\"", payload_name);
}

char *json_frame_write(const struct weir_message *message, uint64_t id, const char *payload,
                       size_t size, size_t *out_size)
{
    const char *tag = message->tag ? message->tag->name : "";
    bool is_text = json_text_is_utf8(payload, size);
    size_t payload_size = is_text ? json_text_size(payload, size) : base64_size(size);
    size_t room = REST_MAX + json_text_size(tag, strlen(tag)) + payload_size;
    char *line = malloc(room), *at = line;

    if (!line)
        return NULL;
    at += write_head(line, room, message, id, is_text ? "data" : "base64");
    if (is_text)
        json_text_write(at, payload, size);
    else
        base64_write(at, payload, size);
    at += payload_size;
    memcpy(at, "\"}\n", 3);
    *out_size = (size_t)(at + 3 - line);
    return line;
}
