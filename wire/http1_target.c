/* SPDX-License-Identifier: MIT */
#include "wire/http1_target.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "wire/http1_bytes.h"

/* Whether each '%' in the text has two digits behind it. */
static bool is_escaped(const char *text, size_t size)
{
    const char *end = text + size;

    while ((text = memchr(text, '%', (size_t)(end - text)))) {
        if (end - text < 3 || !http1_is_in(text[1], BYTE_HEX) || !http1_is_in(text[2], BYTE_HEX))
            return false;
        text += 3;
    }
    return true;
}

/* Whether the text is an address of IPv6. */
static bool is_address(const char *text, size_t size)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr number;

    if (size >= sizeof address)
        return false;
    memcpy(address, text, size);
    address[size] = '\0';
    return inet_pton(AF_INET6, address, &number) == 1;
}

/* The end of the name in `host [":" port]`; 0: it is not one. */
static uint32_t name_end(const char *text, size_t size)
{
    uint32_t end = 0;

    if (text[0] == '[') {
        const char *bracket = memchr(text, ']', size);

        end = bracket ? (uint32_t)(bracket - text) : 0;
        return end && is_address(text + 1, end - 1) ? end + 1 : 0;
    }
    while (end < size && (text[end] == '%' || http1_is_in(text[end], BYTE_NAME)))
        end++;
    return is_escaped(text, end) ? end : 0;
}

/* `host [":" port]`: RFC 9110, 7.2. */
bool http1_is_host(const char *text, size_t size)
{
    uint32_t at = size ? name_end(text, size) : 0, port = 0;

    if (at == 0)
        return false;
    if (at < size && text[at++] != ':')
        return false;
    for (; at < size; at++) {
        if (!http1_is_in(text[at], BYTE_DIGIT))
            return false;
        port = port * 10 + (uint32_t)(text[at] - '0');
        if (port > UINT16_MAX)
            return false;
    }
    return true;
}

/* RFC 9112, 3.2.1: the path has valid escapes. A query is the application's. */
static bool is_path(const char *text, size_t size)
{
    const char *query = memchr(text, '?', size);

    return is_escaped(text, query ? (size_t)(query - text) : size);
}

/* RFC 9112, 3.2.2: the host is that of the target. */
static bool take_absolute(const char *text, struct http1_span target, uint32_t scheme,
                          struct http1_target *out)
{
    uint32_t end = target.at + target.size, at = target.at + scheme;

    out->host.at = at;
    while (at < end && text[at] != '/' && text[at] != '?')
        at++;
    out->host.size = at - out->host.at;
    out->resource = (struct http1_span){ at, end - at };
    return http1_is_host(text + out->host.at, out->host.size) && is_path(text + at, end - at);
}

static bool is_options(const char *text, struct http1_span method)
{
    return method.size == 7 && memcmp(text + method.at, "OPTIONS", 7) == 0;
}

/* RFC 9112, 3.2: the authority form belongs to CONNECT, which is not supported. */
bool http1_take_target(const char *text, struct http1_span method, struct http1_span target,
                       struct http1_target *out)
{
    const char *first = text + target.at;
    bool is_valid;

    *out = (struct http1_target){ .is_asterisk = false };
    if (target.size > 0 && first[0] == '/') {
        out->resource = target;
        return is_path(first, target.size);
    }
    if (target.size == 1 && first[0] == '*') {
        out->is_asterisk = true;
        return is_options(text, method);
    }
    if (target.size > 7 && strncasecmp(first, "http://", 7) == 0)
        is_valid = take_absolute(text, target, 7, out);
    else
        is_valid = target.size > 8 && strncasecmp(first, "https://", 8) == 0 &&
                   take_absolute(text, target, 8, out);
    out->is_asterisk = out->resource.size == 0 && is_options(text, method);
    return is_valid;
}
