/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_SIZE 24u

enum mark { MARK_NONE, MARK_RAW, MARK_PAYLOAD, MARK_KEY };

static const struct {
    const char *text;
    enum mark mark;
} marks[] = { { "{}", MARK_RAW }, { "{payload}", MARK_PAYLOAD }, { "{key}", MARK_KEY } };

/* Writes into memory of the right size; without memory it only counts, and not far beyond
 * TARGET_SIZE_MAX. */
struct writing {
    char *to; /* may be NULL */
    size_t size;
};

static enum mark mark_at(const char *text, size_t *out_size)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        *out_size = strlen(marks[i].text);
        if (strncmp(text, marks[i].text, *out_size) == 0)
            return marks[i].mark;
    }
    *out_size = 1;
    return MARK_NONE;
}

bool target_takes_payload(const char *template)
{
    return strstr(template, "{}") || strstr(template, "{payload}");
}

static void put(struct writing *writing, const char *text, size_t size)
{
    if (writing->to && size > 0)
        memcpy(writing->to + writing->size, text, size);
    writing->size += size;
}

static void put_escaped(struct writing *writing, unsigned char byte)
{
    char text[4];

    (void)snprintf(text, sizeof text, "%%%02X", byte);
    put(writing, text, 3);
}

static bool is_plain(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte && strchr("-._~", byte));
}

static void put_payload(struct writing *writing, const char *payload, size_t size, bool is_raw)
{
    for (size_t i = 0; i < size && writing->size <= TARGET_SIZE_MAX; i++) {
        unsigned char byte = (unsigned char)payload[i];

        if (is_raw ? byte != 0 : is_plain(byte))
            put(writing, &payload[i], 1);
        else
            put_escaped(writing, byte);
    }
}

static void fill(struct writing *writing, const char *template, const char *payload, size_t size,
                 uint64_t key)
{
    char number[KEY_SIZE];
    size_t step;
    int digits = snprintf(number, sizeof number, "%llu", (unsigned long long)key);

    for (; *template && writing->size <= TARGET_SIZE_MAX; template += step) {
        enum mark mark = mark_at(template, &step);

        if (mark == MARK_KEY)
            put(writing, number, (size_t)digits);
        else if (mark == MARK_NONE)
            put(writing, template, 1);
        else
            put_payload(writing, payload, size, mark == MARK_RAW);
    }
}

/* --- what is refused -------------------------------------------------------------------------- */

static const char too_long[] = "the URL is longer than 64 KiB";

static const char *skip_scheme(const char *url)
{
    if (strncasecmp(url, "http://", 7) == 0)
        return url + 7;
    return strncasecmp(url, "https://", 8) == 0 ? url + 8 : NULL;
}

/* `size` of the segment at `text`: `.` or `..`, of which any byte may be written as %2e. */
static bool is_dots(const char *text, size_t size)
{
    size_t dots = 0;

    while (size > 0) {
        size_t step = size >= 3 && strncasecmp(text, "%2e", 3) == 0 ? 3 : 1;

        if ((step == 1 && *text != '.') || ++dots > 2)
            return false;
        text += step;
        size -= step;
    }
    return dots > 0;
}

static bool has_dots(const char *path)
{
    while (*path == '/') {
        size_t size = strcspn(++path, "/?#");

        if (is_dots(path, size))
            return true;
        path += size;
    }
    return false;
}

/* True when one of the first `size` bytes of a template begins this mark. */
static bool has_mark(const char *template, size_t size, enum mark mark)
{
    size_t step;

    for (size_t i = 0; i < size; i += step)
        if (mark_at(template + i, &step) == mark)
            return true;
    return false;
}

static bool is_all_plain(const char *payload, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!is_plain((unsigned char)payload[i]))
            return false;
    return size > 0;
}

static bool is_whole_url(const char *template)
{
    return strncmp(template, "{}", 2) == 0;
}

const char *target_check(const char *template)
{
    const char *host = skip_scheme(template);

    if (is_whole_url(template))
        return NULL;
    if (!host)
        return "does not begin with http://, https:// or {}";
    if (has_mark(host, strcspn(host, "/?#"), MARK_RAW))
        return "has {} in the host: {payload} may be there, or {} behind a slash";
    if (strlen(template) > TARGET_SIZE_MAX)
        return "is longer than 64 KiB";
    return has_dots(host + strcspn(host, "/?#")) ? "has a segment . or .." : NULL;
}

static const char *refuse_payload(const char *template, const char *payload, size_t size)
{
    const char *host = skip_scheme(template);
    size_t host_size = strcspn(host, "/?#");
    const char *path = host + host_size;
    size_t path_size = strcspn(path, "?#");

    if (has_mark(host, host_size, MARK_PAYLOAD) && !is_all_plain(payload, size))
        return "the payload is no part of a host";
    if (size == 0 &&
        (has_mark(path, path_size, MARK_PAYLOAD) || has_mark(path, path_size, MARK_RAW)))
        return "the payload is empty, and no segment of a path";
    return NULL;
}

const char *target_refuse(const char *url)
{
    const char *host = skip_scheme(url);

    if (strlen(url) > TARGET_SIZE_MAX)
        return too_long;
    if (!host)
        return "no URL of http or https";
    return has_dots(host + strcspn(host, "/?#")) ? "the URL has a segment . or .." : NULL;
}

/* --- filling ---------------------------------------------------------------------------------- */

char *target_create(const char *template, const char *payload, size_t size, uint64_t key,
                    const char **out_refusal)
{
    struct writing writing = { NULL, 0 };

    fill(&writing, template, payload, size, key);
    *out_refusal = is_whole_url(template) ? NULL : refuse_payload(template, payload, size);
    if (!*out_refusal && writing.size > TARGET_SIZE_MAX)
        *out_refusal = too_long;
    writing.to = *out_refusal ? NULL : calloc(1, writing.size + 1);
    if (!writing.to)
        return NULL;
    writing.size = 0;
    fill(&writing, template, payload, size, key);
    *out_refusal = target_refuse(writing.to);
    if (!*out_refusal)
        return writing.to;
    free(writing.to);
    return NULL;
}
