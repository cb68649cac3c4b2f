/* SPDX-License-Identifier: MIT */
#include "unit/wire/http1_plain.h"

#include <arpa/inet.h>
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELDS_MAX 100u /* as in wire/http1_head.h */
#define GROUPS_MAX 8u

#define TOKEN "[-!#$%&'*+.^_`|~0-9A-Za-z]"
#define TEXT "[\t -~\x80-\xff]"
#define BLANKS "[ \t]*"
#define QUOTED "\"([]\t !#-[^-~\x80-\xff]|\\\\" TEXT ")*\""
#define NAME "([-A-Za-z0-9._~!$&'()*+,;=]|%[0-9A-Fa-f][0-9A-Fa-f])"

/* Whether the whole text has this form; `groups` may be NULL. */
static bool fits(const char *text, const char *form, regmatch_t *groups)
{
    regex_t regex;
    bool is_fit;

    if (regcomp(&regex, form, REG_EXTENDED) != 0)
        abort();
    is_fit = regexec(&regex, text, groups ? GROUPS_MAX : 0, groups, 0) == 0;
    regfree(&regex);
    return is_fit;
}

/* strndup wants a NUL behind the bytes, says AddressSanitizer with strict checks of strings. */
static char *copy_of(const char *bytes, size_t size)
{
    char *copy = calloc(1, size + 1);

    if (!copy)
        abort();
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

static char *part_of(const char *text, regmatch_t group)
{
    return copy_of(text + group.rm_so, (size_t)(group.rm_eo - group.rm_so));
}

/* The line at `*at` as a text of its own, and `*at` behind its end; NULL: it has no end, or a NUL
 * (`*out_has_nul`). */
static char *take_line(const char *text, size_t size, size_t *at, bool *out_has_nul)
{
    const char *line = text + *at, *end = memmem(line, size - *at, "\r\n", 2);

    *out_has_nul = end && memchr(line, '\0', (size_t)(end - line));
    if (!end || *out_has_nul)
        return NULL;
    *at = (size_t)(end + 2 - text);
    return copy_of(line, (size_t)(end - line));
}

/* --- the head --------------------------------------------------------------------------------- */

static bool is_host(const char *host)
{
    regmatch_t groups[GROUPS_MAX];
    struct in6_addr number;
    char *address;
    bool is_right;

    if (!fits(host, "^(\\[[0-9A-Fa-f:.]+\\]|" NAME "+)(:0*[0-9]{0,5})?$", groups))
        return false;
    if (groups[3].rm_so >= 0 &&
        strtoul(host + groups[3].rm_so + 1, NULL, 10) > 65535) /* a colon is before it */
        return false;
    if (host[0] != '[')
        return true;
    address = strndup(host + 1, (size_t)groups[1].rm_eo - 2);
    is_right = address && inet_pton(AF_INET6, address, &number) == 1;
    free(address);
    return is_right;
}

static bool is_resource(const char *resource)
{
    return fits(resource, "^(/([]!\"$&->@-[\\^-~]|%[0-9A-Fa-f][0-9A-Fa-f])*)?([?].*)?$", NULL);
}

static bool read_target(struct http1_plain *plain)
{
    regmatch_t groups[GROUPS_MAX];
    bool is_options = strcmp(plain->method, "OPTIONS") == 0;

    plain->resource = plain->target;
    plain->is_asterisk = is_options && strcmp(plain->target, "*") == 0;
    if (plain->is_asterisk)
        return true;
    if (plain->target[0] == '/')
        return is_resource(plain->target);
    if (!fits(plain->target, "^[Hh][Tt][Tt][Pp][Ss]?://([^/?]+)(.*)$", groups))
        return false;
    plain->host = part_of(plain->target, groups[1]);
    plain->resource = plain->target + groups[2].rm_so;
    plain->is_asterisk = is_options && plain->resource[0] == '\0';
    return is_host(plain->host) && is_resource(plain->resource);
}

static bool read_request_line(struct http1_plain *plain, const char *line, uint32_t target_max)
{
    regmatch_t groups[GROUPS_MAX];

    if (!fits(line, "^(" TOKEN "{1,16}) ([!\"$-~]+) HTTP/1[.]([0-9])$", groups))
        return false;
    plain->method = part_of(line, groups[1]);
    plain->target = part_of(line, groups[2]);
    plain->is_old = line[groups[3].rm_so] == '0';
    return strcmp(plain->method, "CONNECT") != 0 && strlen(plain->target) <= target_max &&
           read_target(plain);
}

static bool has_word(const char *list, const char *word)
{
    char form[100];

    (void)snprintf(form, sizeof form, "(^|,)" BLANKS "%s" BLANKS "(,|$)", word);
    return fits(list, form, NULL);
}

static bool read_length(struct http1_plain *plain, const char *value)
{
    if (plain->has_length || !fits(value, "^[0-9]+$", NULL))
        return false;
    errno = 0;
    plain->length = strtoull(value, NULL, 10);
    plain->has_length = true;
    return errno == 0;
}

static bool read_host(struct http1_plain *plain, const char *value)
{
    if (plain->field_host || (value[0] && !is_host(value)))
        return false;
    plain->field_host = strdup(value);
    return true;
}

static bool read_value(struct http1_plain *plain, const char *name, const char *value)
{
    if (strcasecmp(name, "content-length") == 0)
        return read_length(plain, value);
    if (strcasecmp(name, "host") == 0)
        return read_host(plain, value);
    if (strcasecmp(name, "transfer-encoding") == 0) {
        bool is_right = !plain->is_chunked && strcasecmp(value, "chunked") == 0;

        plain->is_chunked = true;
        return is_right && !plain->is_old;
    }
    if (strcasecmp(name, "expect") == 0 && !plain->is_old) {
        plain->continues = true;
        return strcasecmp(value, "100-continue") == 0;
    }
    if (strcasecmp(name, "connection") == 0) {
        plain->closes = plain->closes || has_word(value, "[Cc][Ll][Oo][Ss][Ee]");
        plain->keeps_alive = plain->keeps_alive ||
                             has_word(value, "[Kk][Ee][Ee][Pp]-[Aa][Ll][Ii][Vv][Ee]");
    }
    return true;
}

static bool read_field(struct http1_plain *plain, const char *line)
{
    regmatch_t groups[GROUPS_MAX];
    char *name, *value;
    bool is_right;

    if (!fits(line, "^(" TOKEN "+):" BLANKS "((" TEXT "*[!-~\x80-\xff])?)" BLANKS "$", groups))
        return false;
    name = part_of(line, groups[1]);
    value = part_of(line, groups[2]);
    is_right = read_value(plain, name, value);
    free(name);
    free(value);
    return is_right;
}

/* Reads the lines up to an empty one. */
static bool read_lines(struct http1_plain *plain, const char *text, size_t size,
                       uint32_t target_max)
{
    unsigned count = 0;
    bool has_nul = false, is_right = true, is_empty = false;

    while (is_right && !is_empty) {
        char *line = take_line(text, size, &plain->used, &has_nul);

        if (!line)
            return false;
        is_empty = line[0] == '\0';
        if (count == 0)
            is_right = read_request_line(plain, line, target_max);
        else if (!is_empty)
            is_right = count <= FIELDS_MAX && read_field(plain, line);
        count++;
        free(line);
    }
    return is_right && (plain->is_old || plain->field_host) &&
           !(plain->is_chunked && plain->has_length);
}

static void read_head(struct http1_plain *plain, const char *text, size_t size, uint32_t target_max,
                      uint32_t head_max)
{
    size_t start = size >= 2 && memcmp(text, "\r\n", 2) == 0 ? 2 : 0;
    const char *end = memmem(text + start, size - start, "\r\n\r\n", 4);

    plain->used = start;
    if (!end)
        return;
    if ((size_t)(end + 4 - text) > head_max || !read_lines(plain, text, size, target_max))
        plain->state = HTTP1_PLAIN_REFUSED;
    else
        plain->state = HTTP1_PLAIN_ACCEPTED;
}

/* --- the body --------------------------------------------------------------------------------- */

static enum http1_plain_state add_bytes(struct http1_plain *plain, const char *text, size_t size,
                                        uint64_t count)
{
    if (count > size - plain->used)
        return HTTP1_PLAIN_OPEN;
    plain->body = realloc(plain->body, plain->body_size + (size_t)count + 1);
    if (!plain->body)
        abort();
    memcpy(plain->body + plain->body_size, text + plain->used, (size_t)count);
    plain->body_size += (size_t)count;
    plain->used += (size_t)count;
    return HTTP1_PLAIN_ACCEPTED;
}

/* Takes a line of this form; HTTP1_PLAIN_ACCEPTED: `*out_line` is owned by the caller. */
static enum http1_plain_state take_form(struct http1_plain *plain, const char *text, size_t size,
                                        const char *form, char **out_line)
{
    bool has_nul;

    *out_line = take_line(text, size, &plain->used, &has_nul);
    if (!*out_line)
        return has_nul ? HTTP1_PLAIN_REFUSED : HTTP1_PLAIN_OPEN;
    if (fits(*out_line, form, NULL))
        return HTTP1_PLAIN_ACCEPTED;
    free(*out_line);
    return HTTP1_PLAIN_REFUSED;
}

static enum http1_plain_state read_chunk(struct http1_plain *plain, const char *text, size_t size,
                                         uint64_t *out_size)
{
    static const char form[] = "^[0-9A-Fa-f]{1,16}(" BLANKS ";" BLANKS TOKEN "+(" BLANKS "=" BLANKS
                               "(" TOKEN "+|" QUOTED "))?)*$";
    char *line;
    enum http1_plain_state state = take_form(plain, text, size, form, &line);

    if (state != HTTP1_PLAIN_ACCEPTED)
        return state;
    *out_size = strtoull(line, NULL, 16);
    free(line);
    if (*out_size == 0)
        return HTTP1_PLAIN_ACCEPTED;
    state = add_bytes(plain, text, size, *out_size);
    if (state != HTTP1_PLAIN_ACCEPTED || size - plain->used < 2)
        return HTTP1_PLAIN_OPEN;
    plain->used += 2;
    return memcmp(text + plain->used - 2, "\r\n", 2) == 0 ? HTTP1_PLAIN_ACCEPTED
                                                          : HTTP1_PLAIN_REFUSED;
}

static enum http1_plain_state read_trailers(struct http1_plain *plain, const char *text,
                                            size_t size)
{
    enum http1_plain_state state;
    bool is_empty;

    do {
        char *line;

        state = take_form(plain, text, size, "^(" TOKEN "+:" TEXT "*)?$", &line);
        if (state != HTTP1_PLAIN_ACCEPTED)
            return state;
        is_empty = line[0] == '\0';
        free(line);
    } while (!is_empty);
    return state;
}

static enum http1_plain_state read_body(struct http1_plain *plain, const char *text, size_t size)
{
    uint64_t chunk = 1;
    enum http1_plain_state state = HTTP1_PLAIN_ACCEPTED;

    if (!plain->is_chunked)
        return add_bytes(plain, text, size, plain->length);
    while (state == HTTP1_PLAIN_ACCEPTED && chunk > 0)
        state = read_chunk(plain, text, size, &chunk);
    return state == HTTP1_PLAIN_ACCEPTED ? read_trailers(plain, text, size) : state;
}

/* --- the outcome ------------------------------------------------------------------------------ */

static void write_accepted(FILE *out, const struct http1_plain *plain, size_t size)
{
    const char *host = plain->host ? plain->host : plain->field_host;

    if (plain->is_asterisk)
        (void)fprintf(out, "%s *", plain->method);
    else
        (void)fprintf(out, "%s %s%s", plain->method, plain->resource[0] == '/' ? "" : "/",
                      plain->resource);
    (void)fprintf(out, " @%s", host ? host : "");
    if (plain->body_size > 0) {
        (void)fputs(" =", out);
        (void)fwrite(plain->body, 1, plain->body_size, out);
    }
    (void)fputs(plain->continues ? " continue" : "", out);
    (void)fputs(plain->closes ? " close" : "", out);
    if (plain->used < size)
        (void)fprintf(out, " +%zu", size - plain->used);
}

struct http1_plain http1_plain_read(const char *request, size_t size, uint32_t target_max,
                                    uint32_t head_max)
{
    struct http1_plain plain = { .state = HTTP1_PLAIN_OPEN };

    read_head(&plain, request, size, target_max, head_max);
    plain.has_head = plain.state == HTTP1_PLAIN_ACCEPTED;
    if (plain.has_head)
        plain.state = read_body(&plain, request, size);
    plain.closes = plain.closes || (plain.is_old && !plain.keeps_alive);
    return plain;
}

void http1_plain_free(struct http1_plain *plain)
{
    free(plain->method);
    free(plain->target);
    free(plain->host);
    free(plain->field_host);
    free(plain->body);
}

char *http1_plain_outcome(const char *request, size_t size, uint32_t target_max, uint32_t head_max)
{
    struct http1_plain plain = http1_plain_read(request, size, target_max, head_max);
    char *text = NULL;
    size_t text_size = 0;
    FILE *out = open_memstream(&text, &text_size);

    if (!out)
        abort();
    if (plain.state == HTTP1_PLAIN_ACCEPTED)
        write_accepted(out, &plain, size);
    else
        (void)fputs(plain.state == HTTP1_PLAIN_OPEN ? "open" : "refused", out);
    (void)fclose(out);
    http1_plain_free(&plain);
    return text;
}

bool http1_plain_agrees(const char *plain, const char *outcome)
{
    bool is_refused = fits(outcome, "^[45][0-9][0-9]$", NULL);

    if (strcmp(plain, "open") == 0)
        return is_refused || strcmp(outcome, "more") == 0;
    if (strcmp(plain, "refused") == 0)
        return is_refused;
    return strcmp(plain, outcome) == 0;
}
