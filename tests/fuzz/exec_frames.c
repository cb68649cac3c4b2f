/* SPDX-License-Identifier: MIT */
/*
 * Goal:   no bytes of a child harm exec.pipe: frames of bytes and of JSON are read as the same
 *         frames however the bytes are cut, nothing beyond them is read, and a payload that is
 *         written as a frame is read again as it was.
 * Method: the reader of exec.pipe at the end of a pipe, with the input whole, byte by byte, and in
 *         pieces whose sizes the input says; then the input as the payload of a frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "plugins/exec/inbox.h"
#include "plugins/exec/json_frame.h"
#include "trial.h"

#define JSON_MAX 3000u
#define PIECE 24u /* bytes that are asked for at a time */

/* A hash of all frames, so that two readings can be compared. */
struct outcome {
    uint64_t hash;
    uint64_t frames, bytes;
    enum inbox_step last;
};

struct reading {
    struct inbox *inbox;
    struct outcome outcome;
    uint64_t left; /* bytes of the present frame */
};

static void mix(struct outcome *outcome, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        outcome->hash = (outcome->hash ^ at[i]) * 1099511628211u;
}

/* False: the rest of the frame's bytes is not there yet. */
static bool read_payload(struct reading *reading)
{
    char bytes[PIECE];

    while (reading->left > 0) {
        const size_t wanted = reading->left < PIECE ? (size_t)reading->left : PIECE;
        const size_t got = inbox_bytes(reading->inbox, bytes, wanted);

        trial_must(got <= wanted, "more bytes came than were asked for");
        if (got == 0)
            return false;
        mix(&reading->outcome, bytes, got);
        reading->outcome.bytes += got;
        reading->left -= got;
    }
    return true;
}

static void drain(struct reading *reading)
{
    struct frame frame;

    while (reading->outcome.last != INBOX_WRONG && read_payload(reading)) {
        reading->outcome.last = inbox_line(reading->inbox, &frame);
        if (reading->outcome.last != INBOX_FRAME)
            return;
        trial_must(frame.kind <= FRAME_RESULT, "a frame of no kind");
        mix(&reading->outcome, &frame.kind, sizeof frame.kind);
        mix(&reading->outcome, &frame.size, sizeof frame.size);
        mix(&reading->outcome, frame.fields, sizeof frame.fields);
        reading->outcome.frames++;
        reading->left = frame.size;
    }
}

/* Sizes of pieces: `cuts` 0: all at once. */
static struct outcome read_all(const uint8_t *data, size_t size, size_t json_max, unsigned cuts)
{
    struct reading reading = { .inbox = malloc(sizeof *reading.inbox),
                               .outcome = { .last = INBOX_NOTHING } };
    int writer;

    trial_must(reading.inbox && inbox_open(reading.inbox, json_max, &writer) == 0, "no pipe");
    for (size_t at = 0, step; at < size; at += step) {
        step = cuts == 0 ? size : cuts == 1 ? 1 : 1 + (data[at] + cuts) % 61;
        if (step > size - at)
            step = size - at;
        trial_must(write(writer, data + at, step) == (ssize_t)step, "the pipe is full");
        drain(&reading);
    }
    (void)close(writer);
    drain(&reading);
    trial_must(reading.outcome.last != INBOX_NOTHING || reading.inbox->at_end,
               "the end is not seen");
    inbox_close(NULL, reading.inbox);
    free(reading.inbox);
    return reading.outcome;
}

static void compare(const uint8_t *data, size_t size, size_t json_max)
{
    const struct outcome whole = read_all(data, size, json_max, 0);

    for (unsigned cuts = 1; cuts < 3; cuts++) {
        const struct outcome pieces = read_all(data, size, json_max, cuts);

        trial_must(pieces.hash == whole.hash && pieces.frames == whole.frames &&
                       pieces.bytes == whole.bytes && pieces.last == whole.last,
                   "the frames depend on how the bytes are cut");
    }
}

/* One line, in memory that ends with it. */
static void read_line(const uint8_t *data, size_t size)
{
    char *line = trial_copy(data, size);
    const char *bytes = NULL;
    struct frame frame;

    (void)frame_read(line, size, &frame);
    if (json_frame_read(line, size, &frame, &bytes) && frame.size > 0)
        trial_must(bytes >= line && bytes + frame.size <= line + size,
                   "the bytes of a frame are not in its line");
    free(line);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void expect_out(const char *text, size_t text_size, size_t json_max, const uint8_t *data,
                       size_t size)
{
    struct inbox *inbox = malloc(sizeof *inbox);
    char *bytes = malloc(size + 1);
    struct frame frame;
    size_t got = 0, more;
    int writer;

    trial_must(inbox && bytes && inbox_open(inbox, json_max, &writer) == 0, "no pipe");
    trial_must(write(writer, text, text_size) == (ssize_t)text_size, "the pipe is full");
    trial_must(inbox_line(inbox, &frame) == INBOX_FRAME && frame.kind == FRAME_OUT &&
                   frame.size == size,
               "a frame that was written is not read");
    while (got < size && (more = inbox_bytes(inbox, bytes + got, size - got)) > 0)
        got += more;
    trial_must(got == size && (size == 0 || memcmp(bytes, data, size) == 0),
               "a payload has changed");
    trial_must(inbox_line(inbox, &frame) == INBOX_NOTHING, "bytes stay");
    (void)close(writer);
    inbox_close(NULL, inbox);
    free(bytes);
    free(inbox);
}

static void write_bytes(const uint8_t *data, size_t size)
{
    char *text = malloc(size + FRAME_LINE_MAX);
    const size_t head = (size_t)snprintf(text, FRAME_LINE_MAX, "out %zu\n", size);

    if (size > 0)
        memcpy(text + head, data, size);
    expect_out(text, head + size, 0, data, size);
    free(text);
}

/* The frame to the child becomes one of the child: it has the same payload. */
static void write_json(const uint8_t *data, size_t size)
{
    static const char head[] = "{\"frame\":\"out\",", mark[] = "\"tag\":\"\",";
    const struct weir_message message = { .kind = WEIR_MESSAGE, .attempt = 1 };
    size_t line_size = 0, rest;
    char *line = json_frame_write(&message, 0, (const char *)data, size, &line_size), *at, *text;

    trial_must(line && line[line_size - 1] == '\n', "no line");
    at = memmem(line, line_size, mark, sizeof mark - 1);
    trial_must(at, "no tag");
    at += sizeof mark - 1;
    rest = (size_t)(line + line_size - at);
    text = malloc(rest + sizeof head);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + sizeof head - 1, at, rest);
    expect_out(text, rest + sizeof head - 1, 1u << 20, data, size);
    free(text);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 8192) /* a pipe takes it written six times as long */
        return 0;
    compare(data, size, 0);
    compare(data, size, JSON_MAX);
    read_line(data, size);
    write_bytes(data, size);
    write_json(data, size);
    return 0;
}
