/* SPDX-License-Identifier: MIT */
#include "wire/http1_body.h"

#include "wire/http1_bytes.h"

#define DIGITS_MAX 16u /* of the size of a chunk: all that 64 bits hold */

/* RFC 9112, 7.1. The reader of a known length has the state DATA alone. */
enum state {
    REFUSED,
    DATA,
    SIZE, /* its first digit */
    SIZE_DIGITS,
    NEXT_EXTENSION, /* blanks have come: a ';' must follow */
    EXTENSION,      /* behind the ';' */
    EXTENSION_NAME,
    EXTENSION_EQUALS, /* blanks have come behind the name */
    EXTENSION_VALUE,  /* behind the '=' */
    EXTENSION_TOKEN,
    EXTENSION_QUOTED,
    EXTENSION_ESCAPE, /* behind a '\' between quotes */
    EXTENSION_END,    /* behind the closing quote */
    SIZE_LF,
    DATA_CR, /* behind the data */
    DATA_LF,
    TRAILER,
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    BODY_LF,
    END,
};

/* A byte, or one of a set, leads to a state. */
struct step {
    char byte; /* when `set` is 0 */
    uint8_t set;
    uint8_t next;
};

#define STEPS_MAX 5

/* What is not here is refused. */
static const struct step steps[][STEPS_MAX] = {
    [SIZE] = { { 0, BYTE_HEX, SIZE_DIGITS } },
    [SIZE_DIGITS] = { { 0, BYTE_HEX, SIZE_DIGITS },
                      { '\r', 0, SIZE_LF },
                      { ';', 0, EXTENSION },
                      { 0, BYTE_BLANK, NEXT_EXTENSION } },
    [NEXT_EXTENSION] = { { 0, BYTE_BLANK, NEXT_EXTENSION }, { ';', 0, EXTENSION } },
    [EXTENSION] = { { 0, BYTE_BLANK, EXTENSION }, { 0, BYTE_TOKEN, EXTENSION_NAME } },
    [EXTENSION_NAME] = { { 0, BYTE_TOKEN, EXTENSION_NAME },
                         { '=', 0, EXTENSION_VALUE },
                         { ';', 0, EXTENSION },
                         { '\r', 0, SIZE_LF },
                         { 0, BYTE_BLANK, EXTENSION_EQUALS } },
    [EXTENSION_EQUALS] = { { 0, BYTE_BLANK, EXTENSION_EQUALS },
                           { '=', 0, EXTENSION_VALUE },
                           { ';', 0, EXTENSION } },
    [EXTENSION_VALUE] = { { 0, BYTE_BLANK, EXTENSION_VALUE },
                          { '"', 0, EXTENSION_QUOTED },
                          { 0, BYTE_TOKEN, EXTENSION_TOKEN } },
    [EXTENSION_TOKEN] = { { 0, BYTE_TOKEN, EXTENSION_TOKEN },
                          { '\r', 0, SIZE_LF },
                          { ';', 0, EXTENSION },
                          { 0, BYTE_BLANK, NEXT_EXTENSION } },
    [EXTENSION_QUOTED] = { { '"', 0, EXTENSION_END },
                           { '\\', 0, EXTENSION_ESCAPE },
                           { 0, BYTE_VALUE, EXTENSION_QUOTED } },
    [EXTENSION_ESCAPE] = { { 0, BYTE_VALUE, EXTENSION_QUOTED } },
    [EXTENSION_END] = { { '\r', 0, SIZE_LF },
                        { ';', 0, EXTENSION },
                        { 0, BYTE_BLANK, NEXT_EXTENSION } },
    [SIZE_LF] = { { '\n', 0, DATA } },
    [DATA_CR] = { { '\r', 0, DATA_LF } },
    [DATA_LF] = { { '\n', 0, SIZE } },
    [TRAILER] = { { '\r', 0, BODY_LF }, { 0, BYTE_TOKEN, TRAILER_NAME } },
    [TRAILER_NAME] = { { 0, BYTE_TOKEN, TRAILER_NAME }, { ':', 0, TRAILER_VALUE } },
    [TRAILER_VALUE] = { { 0, BYTE_VALUE, TRAILER_VALUE }, { '\r', 0, TRAILER_LF } },
    [TRAILER_LF] = { { '\n', 0, TRAILER } },
    [BODY_LF] = { { '\n', 0, END } },
};

static enum state next_state(enum state state, char byte)
{
    for (size_t i = 0; i < STEPS_MAX && steps[state][i].next; i++) {
        const struct step *step = &steps[state][i];

        if (step->set ? http1_is_in(byte, step->set) : step->byte == byte)
            return (enum state)step->next;
    }
    return REFUSED;
}

static unsigned value_of(char digit)
{
    if (http1_is_in(digit, BYTE_DIGIT))
        return (unsigned)(digit - '0');
    return ((unsigned)digit | 0x20) - 'a' + 10;
}

static void add_digit(struct http1_body *body, char digit)
{
    if (body->state == SIZE)
        body->digits = 0;
    if (body->digits++ == DIGITS_MAX)
        body->result = HTTP1_CHUNK_SIZE;
    body->left = body->left << 4 | value_of(digit);
}

static bool is_extension(enum state state)
{
    return state >= NEXT_EXTENSION && state <= EXTENSION_END;
}

/* Counts a byte that nobody reads. */
static void count_extra(struct http1_body *body, enum state state)
{
    if (++body->extras > HTTP1_EXTRAS_MAX)
        body->result = is_extension(state) ? HTTP1_EXTENSIONS : HTTP1_TRAILERS;
}

static void read_framing(struct http1_body *body, char byte)
{
    enum state next = next_state((enum state)body->state, byte);

    if (next == REFUSED)
        body->result = HTTP1_CHUNK;
    else if (next == SIZE_DIGITS)
        add_digit(body, byte);
    else if (next == END)
        body->result = HTTP1_DONE;
    else if (is_extension(next) || (next >= TRAILER && next <= TRAILER_LF))
        count_extra(body, next);
    body->state = (uint8_t)(next == DATA && body->left == 0 ? TRAILER : next);
}

static void read_data(struct http1_body *body, const char *bytes, size_t size,
                      struct http1_piece *out)
{
    out->data = bytes + out->used;
    out->size = size - out->used < body->left ? size - out->used : (size_t)body->left;
    out->used += out->size;
    body->left -= out->size;
    if (body->left > 0)
        return;
    if (body->is_chunked)
        body->state = DATA_CR;
    else
        body->result = HTTP1_DONE;
}

void http1_body_init(struct http1_body *body, const struct http1_head *head)
{
    *body = (struct http1_body){
        .left = head->is_chunked ? 0 : head->length,
        .is_chunked = head->is_chunked,
        .state = head->is_chunked ? SIZE : DATA,
        .result = head->is_chunked || head->length ? HTTP1_MORE : HTTP1_DONE,
    };
}

enum http1_result http1_body_read(struct http1_body *body, const char *bytes, size_t size,
                                  struct http1_piece *out)
{
    *out = (struct http1_piece){ 0 };
    while (body->result == HTTP1_MORE && out->used < size && out->size == 0) {
        if (body->state == DATA)
            read_data(body, bytes, size, out);
        else
            read_framing(body, bytes[out->used++]);
    }
    return body->result;
}
