/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_payload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weir/printable.h>

#include "base/plural.h"

#define MARGIN "  | "

/* The part of a payload that is text. */
struct part {
    const char *at;
    size_t size;
};

/* --- layouts of bundled plugins --------------------------------------------------------------- */

static uint64_t number_at(const char *bytes, size_t size)
{
    uint32_t four;
    uint64_t eight;

    if (size == sizeof four) {
        memcpy(&four, bytes, sizeof four);
        return four;
    }
    memcpy(&eight, bytes, sizeof eight);
    return eight;
}

/* Two texts, each with a NUL, behind a head. False: the sizes are not those of the payload. */
static bool split(const struct dead_payload *payload, size_t head, size_t first, size_t second,
                  struct part *out_first, struct part *out_second)
{
    const char *text = payload->bytes + head;

    if (payload->size - head < 2 || first > payload->size - head - 2 ||
        second != payload->size - head - 2 - first || text[first] || text[first + 1 + second])
        return false;
    *out_first = (struct part){ text, first };
    *out_second = (struct part){ text + first + 1, second };
    return true;
}

/* struct files_line: sizes of the name and the line, number, offset; then both texts. */
static bool describe_line(FILE *stream, const struct dead_payload *payload, struct part *out)
{
    const char *bytes = payload->bytes;
    struct part name;

    if (payload->size < 24 ||
        !split(payload, 24, number_at(bytes, 4), number_at(bytes + 4, 4), &name, out))
        return false;
    fprintf(stream, "line %" PRIu64 " of ", number_at(bytes + 8, 8));
    dead_payload_escape(stream, name.at, name.size);
    fprintf(stream, ", from byte %" PRIu64, number_at(bytes + 16, 8));
    return true;
}

/* struct gen_number */
static bool describe_number(FILE *stream, const struct dead_payload *payload, struct part *out)
{
    if (payload->size != 8)
        return false;
    fprintf(stream, "number %" PRIu64, number_at(payload->bytes, 8));
    *out = (struct part){ payload->bytes, 0 };
    return true;
}

/* struct integrity_result: verdict, errno, bytes, sizes of the package and the path; then both. */
static bool describe_result(FILE *stream, const struct dead_payload *payload, struct part *out)
{
    static const char *const verdicts[] = { "ok", "changed", "missing", "unreadable" };
    const char *bytes = payload->bytes;
    struct part package;
    uint64_t verdict;

    if (payload->size < 24 ||
        !split(payload, 24, number_at(bytes + 16, 4), number_at(bytes + 20, 4), &package, out))
        return false;
    verdict = number_at(bytes, 4);
    fprintf(stream, "%s, package ",
            verdict < sizeof verdicts / sizeof *verdicts ? verdicts[verdict] : "?");
    dead_payload_escape(stream, package.at, package.size);
    fprintf(stream, ", %" PRIu64 " %s read, the path is", number_at(bytes + 8, 8),
            plural(number_at(bytes + 8, 8), "byte", "bytes"));
    return true;
}

/* A first line, headers and an empty line; then the body. The text is all of it. */
static bool describe_http(FILE *stream, const struct dead_payload *payload, struct part *out)
{
    const char *end = memchr(payload->bytes, '\n', payload->size);
    const char *last = memmem(payload->bytes, payload->size, "\n\n", 2);
    size_t body;

    if (!end || !last)
        return false;
    dead_payload_escape(stream, payload->bytes, (size_t)(end - payload->bytes));
    body = (size_t)(payload->bytes + payload->size - last) - 2;
    fprintf(stream, ", body of %zu %s", body, plural(body, "byte", "bytes"));
    *out = (struct part){ payload->bytes, payload->size };
    return true;
}

static const struct {
    const char *tag;
    bool (*describe)(FILE *stream, const struct dead_payload *payload, struct part *out);
} layouts[] = {
    { "files.line/1", describe_line },         { "gen.number/1", describe_number },
    { "http.request/1", describe_http },       { "http.response/1", describe_http },
    { "integrity.result/1", describe_result },
};

/* Writes what the layout says, and finds the text; without a layout the whole payload is text. */
static void describe(FILE *stream, const struct dead_payload *payload, struct part *out)
{
    *out = (struct part){ payload->bytes, payload->is_kept ? payload->size : 0 };
    if (out->size == 0)
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (strcmp(layouts[i].tag, payload->tag) == 0 && !layouts[i].describe(stream, payload, out))
            fputs("not the layout of this tag", stream);
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Writes the first character; returns its bytes. */
static size_t put_character(FILE *stream, const char *text, size_t size)
{
    size_t length = weir_printable(text, size);

    if (length > 0)
        (void)fwrite(text, 1, length, stream);
    else if (*text == '\t')
        fputs("\\t", stream);
    else if (*text == '\n')
        fputs("\\n", stream);
    else if (*text == '\r')
        fputs("\\r", stream);
    else
        fprintf(stream, "\\x%02x", (unsigned char)*text);
    return length > 0 ? length : 1;
}

void dead_payload_escape(FILE *stream, const char *text, size_t size)
{
    for (size_t at = 0; at < size;)
        at += put_character(stream, text + at, size - at);
}

/* Returns the number of bytes that were shown. */
static size_t print_lines(FILE *stream, const struct part *text)
{
    unsigned lines = 0;
    size_t at = 0;

    while (at < text->size && at < DEAD_PAYLOAD_SHOWN && lines < DEAD_PAYLOAD_LINES) {
        fputs(MARGIN, stream);
        while (at < text->size && at < DEAD_PAYLOAD_SHOWN && text->at[at] != '\n')
            at += put_character(stream, text->at + at, text->size - at);
        at += at < text->size && text->at[at] == '\n';
        fputc('\n', stream);
        lines++;
    }
    return at;
}

void dead_payload_print(FILE *stream, const struct dead_payload *payload)
{
    struct part text;
    char *about = NULL;
    size_t about_size = 0, shown;
    FILE *memory = open_memstream(&about, &about_size);

    if (!memory)
        return;
    describe(memory, payload, &text);
    if (fclose(memory) == 0) {
        fputs("  ", stream);
        dead_payload_escape(stream, payload->tag, strlen(payload->tag));
        fprintf(stream, "%s%zu %s%s%s%s\n", *payload->tag ? ", " : "no tag, ", payload->size,
                plural(payload->size, "byte", "bytes"), payload->is_kept ? "" : ", not kept",
                about_size > 0 ? ": " : "", about);
        shown = print_lines(stream, &text);
        if (shown < text.size)
            fprintf(stream, "  %zu more %s not shown; --export has all\n", text.size - shown,
                    plural(text.size - shown, "byte is", "bytes are"));
    }
    free(about);
}

static void json_of_text(struct json *json, const char *key, const struct part *text)
{
    char *escaped = NULL;
    size_t size = 0, at = 0;
    FILE *memory = open_memstream(&escaped, &size);

    while (memory && at < text->size && at < DEAD_PAYLOAD_SHOWN) {
        if (text->at[at] != '\n') {
            at += put_character(memory, text->at + at, text->size - at);
            continue;
        }
        fputc('\n', memory);
        at++;
    }
    if (memory && fclose(memory) == 0)
        json_text(json, key, escaped);
    json_unsigned(json, "text_cut", text->size - at);
    free(escaped);
}

void dead_payload_json(struct json *json, const struct dead_payload *payload)
{
    struct part text;
    char *about = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&about, &size);

    if (!memory)
        return;
    describe(memory, payload, &text);
    if (fclose(memory) == 0) {
        json_text(json, "about", about);
        json_of_text(json, "text", &text);
    }
    free(about);
}
