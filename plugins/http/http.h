/* SPDX-License-Identifier: MIT */
/*
 * http.h - the messages of the plugin `http`, for plugins that receive or send them.
 *
 * The payload of HTTP_REQUEST_TAG is text, then the body. The text is a first line
 * `METHOD /path?query`, then the chosen headers, one `name: value` a line with the name in lower
 * case, then an empty line. Lines end with LF. The path is as the client sent it, so a byte may be
 * written as %41.
 *
 * The payload of HTTP_RESPONSE_TAG has the same form. Its first line is the status, such as `404`;
 * its headers go to the client. A reply with any other tag is a body with the status 200.
 *
 * The payload of HTTP_BODY_TAG is the body of a request alone.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define HTTP_REQUEST_TAG "http.request/1"
#define HTTP_BODY_TAG "http.body/1"
#define HTTP_RESPONSE_TAG "http.response/1"

/* The parts of such a payload; they point into it. Sizes are in bytes, without line ends. */
struct http_parts {
    const char *line;
    size_t line_size;
    const char *headers; /* whole lines */
    size_t headers_size;
    const char *body;
    size_t body_size;
};

/* Finds the end of the line at `text`. Returns NULL when there is none before `end`. */
static inline const char *http_line_end(const char *text, const char *end)
{
    return text < end ? (const char *)memchr(text, '\n', (size_t)(end - text)) : NULL;
}

/* Splits a payload of `size` bytes. Borrows it. False: it has no empty line. */
static inline bool http_parts_read(const void *data, size_t size, struct http_parts *out)
{
    const char *text = (const char *)data, *end = text + size;
    const char *stop = http_line_end(text, end);

    memset(out, 0, sizeof *out);
    out->line = text;
    if (!stop)
        return false;
    out->line_size = (size_t)(stop - text);
    out->headers = text = stop + 1;
    while ((stop = http_line_end(text, end)) && stop > text)
        text = stop + 1;
    if (!stop)
        return false;
    out->headers_size = (size_t)(text - out->headers);
    out->body = stop + 1;
    out->body_size = (size_t)(end - out->body);
    return true;
}

/* The value of the first header with this name, in any case; borrowed from the payload. NULL: there
 * is none. */
static inline const char *http_parts_header(const struct http_parts *parts, const char *name,
                                            size_t *out_size)
{
    const char *text = parts->headers, *end = text + parts->headers_size, *stop;
    size_t length = strlen(name);

    for (; (stop = http_line_end(text, end)); text = stop + 1) {
        if ((size_t)(stop - text) <= length || text[length] != ':' ||
            strncasecmp(text, name, length) != 0)
            continue;
        text += length + 1;
        while (text < stop && *text == ' ')
            text++;
        *out_size = (size_t)(stop - text);
        return text;
    }
    return NULL;
}

#endif
