/* SPDX-License-Identifier: MIT */
#include "incoming.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROOM_MIN ((size_t)1024)
#define DIGITS_MAX 18u  /* of a length in bytes: libcurl reads 63 bits */
#define HOPS_SIZE 1024u /* of the names of headers that are left out */

/* Text that is no string; it points into the headers. */
struct span {
    const char *text;
    size_t size;
};

/* --- keeping ---------------------------------------------------------------------------------- */

static bool add(struct fetch_bytes *bytes, const char *data, size_t size)
{
    size_t needed = bytes->size + size;

    if (needed > bytes->room) {
        size_t room = needed < ROOM_MIN ? ROOM_MIN : needed + needed / 2;
        char *grown = realloc(bytes->data, room);

        if (!grown)
            return false;
        bytes->data = grown;
        bytes->room = room;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size = needed;
    return true;
}

/* False ends the transfer. */
static bool keep(struct fetch *fetch, struct fetch_bytes *bytes, const char *data, size_t size)
{
    if (size == 0 || add(bytes, data, size))
        return true;
    fetch_lack(fetch, ENOMEM);
    return false;
}

size_t incoming_body(char *data, size_t one, size_t size, void *context)
{
    struct fetch *fetch = context;
    size_t whole = one * size;

    if (whole > fetch->client->settings->response_max - fetch->body.size) {
        fetch_refuse(fetch, "more than response_max");
        return CURL_WRITEFUNC_ERROR;
    }
    if (!keep(fetch, &fetch->body, data, whole))
        return CURL_WRITEFUNC_ERROR;
    fetch->client->figures.bytes += whole;
    return whole;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct span trim(struct span span)
{
    while (span.size > 0 && is_blank(span.text[0]))
        span.text++, span.size--;
    while (span.size > 0 && is_blank(span.text[span.size - 1]))
        span.size--;
    return span;
}

static bool is_same(struct span span, struct span other)
{
    return span.size == other.size && strncasecmp(span.text, other.text, span.size) == 0;
}

static bool is_name(struct span span, const char *name)
{
    return is_same(span, (struct span){ name, strlen(name) });
}

/* Takes the text before the next `mark` off `rest`. False: nothing is left. */
static bool take_until(struct span *rest, char mark, struct span *out)
{
    const char *stop = rest->size > 0 ? memchr(rest->text, mark, rest->size) : NULL;

    if (rest->size == 0)
        return false;
    *out = (struct span){ rest->text, stop ? (size_t)(stop - rest->text) : rest->size };
    rest->text += out->size + (stop != NULL);
    rest->size -= out->size + (stop != NULL);
    return true;
}

/* A line without a colon has no name. */
static struct span name_of(struct span line)
{
    const char *colon = memchr(line.text, ':', line.size);

    return (struct span){ line.text, colon ? (size_t)(colon - line.text) : 0 };
}

static struct span value_of(struct span line)
{
    size_t before = name_of(line).size + 1;

    return trim((struct span){ line.text + before, line.size - before });
}

/* --- whole headers ---------------------------------------------------------------------------- */

static bool is_number(struct span span)
{
    for (size_t i = 0; i < span.size; i++)
        if (span.text[i] < '0' || span.text[i] > '9')
            return false;
    return span.size > 0 && span.size <= DIGITS_MAX;
}

/* RFC 9112 6.3: one number, which may stand there several times. */
static bool is_length(struct span value, struct span *first)
{
    struct span one;

    while (take_until(&value, ',', &one)) {
        one = trim(one);
        if (!first->text)
            *first = one;
        if (!is_number(one) || !is_same(one, *first))
            return false;
    }
    return first->text != NULL;
}

/* The names of the headers of one connection (RFC 9110 7.6.1), as a list with commas. */
struct hops {
    char names[HOPS_SIZE];
    size_t size;
};

static bool add_hops(struct hops *hops, struct span names)
{
    if (names.size + 1 > sizeof hops->names - hops->size)
        return false;
    memcpy(hops->names + hops->size, names.text, names.size);
    hops->size += names.size;
    hops->names[hops->size++] = ',';
    return true;
}

static bool is_hop(const struct hops *hops, struct span name)
{
    struct span rest = { hops->names, hops->size }, one;

    while (take_until(&rest, ',', &one))
        if (is_same(trim(one), name))
            return true;
    return false;
}

/* Returns why these are no headers of an answer, or NULL. */
static const char *read_lines(struct span lines, struct hops *out_hops)
{
    struct span line, length = { NULL, 0 };

    while (take_until(&lines, '\n', &line)) {
        struct span name = name_of(line);

        if (name.size == 0)
            continue;
        if (is_blank(name.text[name.size - 1]))
            return "a blank before the colon of a header";
        if (is_name(name, "content-length") && !is_length(value_of(line), &length))
            return "Content-Length is no number, or several";
        if (is_name(name, "connection") && !add_hops(out_hops, value_of(line)))
            return "too long a header Connection";
    }
    return NULL;
}

/* Leaves out what is of one connection and what is no header; names are in lower case then. */
static void choose_lines(struct fetch_bytes *head, const struct hops *hops)
{
    struct span lines = { head->data, head->size }, line;
    char *to = head->data;

    while (take_until(&lines, '\n', &line)) {
        size_t name_size = name_of(line).size;

        if (name_size == 0 || is_hop(hops, name_of(line)))
            continue;
        memmove(to, line.text, line.size + 1);
        for (size_t i = 0; i < name_size; i++)
            to[i] = (char)tolower((unsigned char)to[i]);
        to += line.size + 1;
    }
    head->size = (size_t)(to - head->data);
}

static bool fail(struct fetch *fetch, const char *cause)
{
    fetch->head.size = 0;
    fetch_fail(fetch, FETCH_FAILED, cause);
    return false;
}

static bool end_head(struct fetch *fetch)
{
    static const char names[] = "connection,content-length,keep-alive,proxy-connection,te,trailer,"
                                "transfer-encoding,upgrade";
    struct hops hops = { .size = 0 };
    const char *wrong;
    long status = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    fetch->phase = status / 100 == 1 ? FETCH_STATUS : FETCH_BODY;
    if (fetch->phase == FETCH_STATUS || fetch->head.size == 0)
        return true;
    (void)add_hops(&hops, (struct span){ names, sizeof names - 1 });
    wrong = read_lines((struct span){ fetch->head.data, fetch->head.size }, &hops);
    if (wrong)
        return fail(fetch, wrong);
    choose_lines(&fetch->head, &hops);
    return true;
}

/* --- headers, line by line -------------------------------------------------------------------- */

/* RFC 9112 5.2. libcurl has understood a length and a coding without the rest of their lines. */
static bool unfold(struct fetch *fetch, struct span line)
{
    struct fetch_bytes *head = &fetch->head;
    const char *before = head->size > 1 ? memrchr(head->data, '\n', head->size - 1) : NULL;
    const char *last = before ? before + 1 : head->data;
    struct span name;

    if (head->size == 0)
        return fail(fetch, "the first header begins with a blank");
    name = name_of((struct span){ last, head->size - (size_t)(last - head->data) });
    if (is_name(name, "content-length") || is_name(name, "transfer-encoding"))
        return fail(fetch, "a folded header that says where the body ends");
    line = trim(line);
    head->data[head->size - 1] = ' ';
    return keep(fetch, head, line.text, line.size) && keep(fetch, head, "\n", 1);
}

static bool take_line(struct fetch *fetch, struct span line)
{
    if (fetch->phase == FETCH_STATUS) {
        fetch->phase = FETCH_HEAD;
        fetch->head.size = 0;
        return true;
    }
    if (fetch->phase != FETCH_HEAD)
        return true;
    if (line.size == 0)
        return end_head(fetch);
    if (is_blank(line.text[0]))
        return unfold(fetch, line);
    return keep(fetch, &fetch->head, line.text, line.size) && keep(fetch, &fetch->head, "\n", 1);
}

/* An interim answer, a line that is left out and a trailer count, too. */
static bool is_too_much(struct fetch *fetch, size_t size)
{
    fetch->came += size;
    if (fetch->came <= FETCH_HEAD_MAX)
        return false;
    fetch_refuse(fetch, "too many headers");
    return true;
}

size_t incoming_header(char *data, size_t one, size_t size, void *context)
{
    struct fetch *fetch = context;
    size_t whole = one * size;
    struct span line = { data, whole };

    if (is_too_much(fetch, whole))
        return CURL_WRITEFUNC_ERROR;
    line.size -= line.size > 0 && data[line.size - 1] == '\n';
    line.size -= line.size > 0 && data[line.size - 1] == '\r';
    if (memchr(data, '\r', line.size) || memchr(data, '\0', line.size)) {
        (void)fail(fetch, "CR or NUL in the headers");
        return CURL_WRITEFUNC_ERROR;
    }
    return take_line(fetch, line) ? whole : CURL_WRITEFUNC_ERROR;
}
