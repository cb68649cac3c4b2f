/* SPDX-License-Identifier: MIT */
#include "wire/http1_head.h"

#include <string.h>
#include <strings.h>

#include "wire/http1_bytes.h"
#include "wire/http1_target.h"

#define LENGTH(words) (sizeof(words) - 1)

/* --- words ------------------------------------------------------------------------------------ */

/* Whether `size` bytes are `word`, in any case. */
static bool is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

bool http1_is_named(const struct http1_field *field, const char *text, const char *name)
{
    return is_word(text + field->name.at, field->name.size, name);
}

/* Takes the next element of a list out of `*at`, without blanks around it. False: none is left. */
static bool next_element(const char *text, uint32_t *at, uint32_t end, struct http1_span *out)
{
    uint32_t stop;

    if (*at > end)
        return false;
    out->at = http1_skip(text, *at, end, BYTE_BLANK);
    for (stop = out->at; stop < end && text[stop] != ',';)
        stop++;
    *at = stop + 1;
    while (stop > out->at && http1_is_in(text[stop - 1], BYTE_BLANK))
        stop--;
    out->size = stop - out->at;
    return true;
}

bool http1_lists(const struct http1_field *field, const char *text, const char *word)
{
    uint32_t at = field->value.at, end = at + field->value.size;
    struct http1_span element;

    while (next_element(text, &at, end, &element))
        if (is_word(text + element.at, element.size, word))
            return true;
    return false;
}

/* --- headers -------------------------------------------------------------------------------- */

static enum http1_result take_length(struct http1_head *head, const char *text,
                                     const struct http1_field *field)
{
    uint32_t end = field->value.at + field->value.size;
    uint64_t length = 0;

    if (head->has_length || field->value.size == 0 ||
        http1_skip(text, field->value.at, end, BYTE_DIGIT) != end)
        return HTTP1_LENGTH;
    for (uint32_t at = field->value.at; at < end; at++)
        if (__builtin_mul_overflow(length, 10u, &length) ||
            __builtin_add_overflow(length, (uint64_t)(text[at] - '0'), &length))
            return HTTP1_LENGTH_SIZE;
    head->has_length = true;
    head->length = length;
    return HTTP1_MORE;
}

/* RFC 9112, 6.1: `chunked` is the last coding, and applied once. */
static enum http1_result take_coding(struct http1_head *head, const char *text,
                                     const struct http1_field *field)
{
    uint32_t at = field->value.at, end = at + field->value.size;
    struct http1_reading *reading = &head->reading;
    struct http1_span coding;

    reading->has_coding = true;
    while (next_element(text, &at, end, &coding)) {
        if (coding.size == 0 || reading->is_chunked_last)
            return HTTP1_FRAMING;
        if (is_word(text + coding.at, coding.size, "chunked"))
            reading->is_chunked_last = true;
        else
            reading->has_other_coding = true;
    }
    return HTTP1_MORE;
}

/* RFC 9112, 3.2: one, which is valid; an empty one says that the target has no host. */
static enum http1_result take_host(struct http1_head *head, const char *text,
                                   const struct http1_field *field)
{
    if (head->reading.is_answer)
        return HTTP1_MORE;
    if (head->reading.has_host ||
        (field->value.size > 0 && !http1_is_host(text + field->value.at, field->value.size)))
        return HTTP1_HOST;
    head->reading.has_host = true;
    if (head->host.size == 0)
        head->host = field->value;
    return HTTP1_MORE;
}

static enum http1_result take_connection(struct http1_head *head, const char *text,
                                         const struct http1_field *field)
{
    head->reading.closes = head->reading.closes || http1_lists(field, text, "close");
    head->reading.keeps_alive = head->reading.keeps_alive || http1_lists(field, text, "keep-alive");
    return HTTP1_MORE;
}

/* RFC 9110, 10.1.1: a client of 1.0 expects nothing. */
static enum http1_result take_expectation(struct http1_head *head, const char *text,
                                          const struct http1_field *field)
{
    if (head->reading.is_answer || head->minor == 0)
        return HTTP1_MORE;
    if (!is_word(text + field->value.at, field->value.size, "100-continue"))
        return HTTP1_EXPECTATION;
    head->expects_continue = true;
    return HTTP1_MORE;
}

/* The headers that decide how the message is read. */
static const struct taker {
    const char *name;
    size_t size;
    enum http1_result (*take)(struct http1_head *head, const char *text,
                              const struct http1_field *field);
} takers[] = {
    { "content-length", LENGTH("content-length"), take_length },
    { "transfer-encoding", LENGTH("transfer-encoding"), take_coding },
    { "host", LENGTH("host"), take_host },
    { "connection", LENGTH("connection"), take_connection },
    { "expect", LENGTH("expect"), take_expectation },
};

static enum http1_result take_field(struct http1_head *head, const char *text)
{
    const struct http1_field *field = &head->fields[head->field_count++];

    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (takers[i].size == field->name.size &&
            strncasecmp(text + field->name.at, takers[i].name, takers[i].size) == 0)
            return takers[i].take(head, text, field);
    return HTTP1_MORE;
}

/* RFC 9112, 6.1 and 6.3. Codings in a message of 1.0, or beside a length, are a sign of
 * smuggling. */
static enum http1_result take_framing(struct http1_head *head)
{
    const struct http1_reading *reading = &head->reading;

    if (!reading->has_coding)
        return HTTP1_DONE;
    if (head->minor == 0 || head->has_length || !reading->is_chunked_last)
        return HTTP1_FRAMING;
    if (reading->has_other_coding)
        return HTTP1_CODING;
    head->is_chunked = true;
    return HTTP1_DONE;
}

static enum http1_result take_head(struct http1_head *head)
{
    const struct http1_reading *reading = &head->reading;

    head->size = reading->at;
    head->keeps = !reading->closes && (head->minor > 0 || reading->keeps_alive);
    if (!reading->is_answer && head->minor > 0 && !reading->has_host)
        return HTTP1_HOST;
    return take_framing(head);
}

/* --- heads ---------------------------------------------------------------------------------- */

enum state {
    START, /* an empty line may come before a request: RFC 9112, 2.2 */
    START_LF,
    METHOD,
    TARGET,
    VERSION,
    STATUS,
    REASON,
    LINE_LF,
    FIELD,
    FIELD_NAME,
    FIELD_BLANK, /* before the value */
    FIELD_VALUE,
    HEAD_LF,
};

static void enter(struct http1_head *head, enum state state)
{
    head->reading.state = (uint8_t)state;
}

static void refuse(struct http1_head *head, enum http1_result result)
{
    head->reading.result = result;
}

/* Takes one byte, which must be this one. */
static void expect(struct http1_head *head, const char *text, char byte, enum state next)
{
    if (text[head->reading.at] != byte) {
        refuse(head, HTTP1_LINE_END);
        return;
    }
    head->reading.at++;
    enter(head, next);
}

static void read_start(struct http1_head *head, const char *text)
{
    if (text[head->reading.at] == '\r')
        expect(head, text, '\r', START_LF);
    else
        enter(head, METHOD);
    head->method.at = head->reading.at;
}

static void read_start_lf(struct http1_head *head, const char *text)
{
    expect(head, text, '\n', METHOD);
    head->method.at = head->reading.at;
}

static void read_method(struct http1_head *head, const char *text, size_t end)
{
    struct http1_reading *reading = &head->reading;

    reading->at = http1_skip(text, reading->at, end, BYTE_TOKEN);
    head->method.size = reading->at - head->method.at;
    if (head->method.size > HTTP1_METHOD_MAX) {
        refuse(head, HTTP1_METHOD);
        return;
    }
    if (reading->at == end)
        return;
    if (head->method.size == 0 || text[reading->at] != ' ') {
        refuse(head, HTTP1_LINE);
        return;
    }
    if (head->method.size == 7 && memcmp(text + head->method.at, "CONNECT", 7) == 0)
        refuse(head, HTTP1_METHOD);
    head->target.at = ++reading->at;
    enter(head, TARGET);
}

static bool take_target(struct http1_head *head, const char *text)
{
    struct http1_target target;

    if (!http1_take_target(text, head->method, head->target, &target))
        return false;
    head->host = target.host;
    head->resource = target.resource;
    head->is_asterisk = target.is_asterisk;
    return true;
}

static void read_target(struct http1_head *head, const char *text, size_t end)
{
    struct http1_reading *reading = &head->reading;

    reading->at = http1_skip(text, reading->at, end, BYTE_VISIBLE);
    head->target.size = reading->at - head->target.at;
    if (head->target.size > reading->target_max) {
        refuse(head, HTTP1_TARGET_SIZE);
        return;
    }
    if (reading->at == end)
        return;
    if (text[reading->at] != ' ' || !take_target(head, text)) {
        refuse(head, HTTP1_TARGET);
        return;
    }
    reading->at++;
    enter(head, VERSION);
}

/* `HTTP/1.x`, byte by byte; `head->size` counts them. A higher minor version is read as 1.1: RFC
 * 9110, 2.5. */
static void read_version(struct http1_head *head, const char *text)
{
    static const char pattern[] = "HTTP/1.x";
    char byte = text[head->reading.at], wanted = pattern[head->size];
    bool is_digit = http1_is_in(byte, BYTE_DIGIT);

    if (wanted == '\0') {
        if (byte != (head->reading.is_answer ? ' ' : '\r')) {
            refuse(head, HTTP1_LINE);
            return;
        }
        enter(head, head->reading.is_answer ? STATUS : LINE_LF);
        head->size = 0;
    } else if (wanted == 'x' && is_digit) {
        head->minor = byte != '0';
        head->size++;
    } else if (byte != wanted) {
        refuse(head, wanted == '1' && is_digit ? HTTP1_VERSION : HTTP1_LINE);
        return;
    } else {
        head->size++;
    }
    head->reading.at++;
}

/* Three digits, then a blank or the end of the line; `head->size` counts the digits. */
static void read_status(struct http1_head *head, const char *text)
{
    char byte = text[head->reading.at];

    if (head->size < 3 && http1_is_in(byte, BYTE_DIGIT)) {
        head->status = head->status * 10 + (unsigned)(byte - '0');
        head->size++;
        head->reading.at++;
    } else if (head->size == 3 && (byte == ' ' || byte == '\r')) {
        enter(head, REASON);
    } else {
        refuse(head, HTTP1_LINE);
    }
}

static void read_reason(struct http1_head *head, const char *text, size_t end)
{
    head->reading.at = http1_skip(text, head->reading.at, end, BYTE_VALUE);
    if (head->reading.at < end)
        expect(head, text, '\r', LINE_LF);
}

static void read_field(struct http1_head *head, const char *text)
{
    if (text[head->reading.at] == '\r') {
        expect(head, text, '\r', HEAD_LF);
        return;
    }
    if (head->field_count == HTTP1_FIELDS_MAX) {
        refuse(head, HTTP1_FIELD_COUNT);
        return;
    }
    head->fields[head->field_count].name.at = head->reading.at;
    enter(head, FIELD_NAME);
}

static void read_field_name(struct http1_head *head, const char *text, size_t end)
{
    struct http1_span *name = &head->fields[head->field_count].name;
    uint32_t at = head->reading.at = http1_skip(text, head->reading.at, end, BYTE_TOKEN);

    if (at == end)
        return;
    name->size = at - name->at;
    if (name->size == 0 || text[at] != ':') {
        refuse(head, HTTP1_FIELD_NAME);
        return;
    }
    head->reading.at++;
    enter(head, FIELD_BLANK);
}

static void read_field_blank(struct http1_head *head, const char *text, size_t end)
{
    head->reading.at = http1_skip(text, head->reading.at, end, BYTE_BLANK);
    if (head->reading.at == end)
        return;
    head->fields[head->field_count].value.at = head->reading.at;
    enter(head, FIELD_VALUE);
}

static void read_field_value(struct http1_head *head, const char *text, size_t end)
{
    struct http1_span *value = &head->fields[head->field_count].value;
    uint32_t at = head->reading.at = http1_skip(text, head->reading.at, end, BYTE_VALUE);

    if (at == end)
        return;
    if (text[at] != '\r') {
        refuse(head, HTTP1_FIELD_VALUE);
        return;
    }
    head->reading.at++;
    while (at > value->at && http1_is_in(text[at - 1], BYTE_BLANK))
        at--;
    value->size = at - value->at;
    enter(head, LINE_LF);
    head->reading.result = take_field(head, text);
}

static void read_head_lf(struct http1_head *head, const char *text)
{
    expect(head, text, '\n', HEAD_LF);
    if (head->reading.result == HTTP1_MORE)
        head->reading.result = take_head(head);
}

/* Reads in the present state: at least a byte, or into another state. */
static void read_some(struct http1_head *head, const char *text, size_t end)
{
    switch ((enum state)head->reading.state) {
    case START:
        read_start(head, text);
        break;
    case START_LF:
        read_start_lf(head, text);
        break;
    case METHOD:
        read_method(head, text, end);
        break;
    case TARGET:
        read_target(head, text, end);
        break;
    case VERSION:
        read_version(head, text);
        break;
    case STATUS:
        read_status(head, text);
        break;
    case REASON:
        read_reason(head, text, end);
        break;
    case LINE_LF:
        expect(head, text, '\n', FIELD);
        break;
    case FIELD:
        read_field(head, text);
        break;
    case FIELD_NAME:
        read_field_name(head, text, end);
        break;
    case FIELD_BLANK:
        read_field_blank(head, text, end);
        break;
    case FIELD_VALUE:
        read_field_value(head, text, end);
        break;
    case HEAD_LF:
        read_head_lf(head, text);
        break;
    }
}

void http1_request_init(struct http1_head *head, uint32_t target_max, uint32_t head_max)
{
    memset(head, 0, offsetof(struct http1_head, fields));
    head->reading.target_max = target_max;
    head->reading.head_max = head_max;
}

void http1_answer_init(struct http1_head *head, uint32_t head_max)
{
    http1_request_init(head, 0, head_max);
    head->reading.is_answer = true;
    enter(head, VERSION);
}

enum http1_result http1_head_read(struct http1_head *head, const char *text, size_t size)
{
    struct http1_reading *reading = &head->reading;
    size_t end = size < reading->head_max ? size : reading->head_max;

    while (reading->result == HTTP1_MORE && reading->at < end)
        read_some(head, text, end);
    if (reading->result == HTTP1_MORE && reading->at == reading->head_max)
        refuse(head, reading->state < VERSION ? HTTP1_TARGET_SIZE : HTTP1_HEAD_SIZE);
    return reading->result;
}
