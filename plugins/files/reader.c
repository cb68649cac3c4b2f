/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/status.h>

int reader_init(struct reader *reader, size_t line_max, size_t chunk)
{
    *reader = (struct reader){ .line_max = line_max, .chunk = chunk, .descriptor = -1 };
    reader->buffer = malloc(line_max + chunk);
    return reader->buffer ? 0 : WEIR_ENOMEM;
}

void reader_finish(struct reader *reader)
{
    reader_close(reader);
    free(reader->buffer);
    reader->buffer = NULL;
}

void reader_close(struct reader *reader)
{
    if (reader->descriptor >= 0 && !reader->borrows)
        (void)close(reader->descriptor);
    reader->descriptor = -1;
    reader->borrows = false;
}

static void start_over(struct reader *reader)
{
    reader->begin = reader->scanned = reader->end = 0;
    reader->offset = reader->number = 0;
    reader->skipping = reader->at_end = reader->follows = false;
    reader->error = 0;
}

int reader_why_not(const struct stat *about)
{
    if (S_ISDIR(about->st_mode))
        return EISDIR;
    return S_ISREG(about->st_mode) ? 0 : EINVAL;
}

int reader_open(struct reader *reader, const char *path)
{
    struct stat about;

    reader_close(reader);
    start_over(reader);
    reader->descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (reader->descriptor < 0 || fstat(reader->descriptor, &about) < 0)
        reader->error = errno;
    else
        reader->error = reader_why_not(&about);
    if (!reader->error)
        return 0;
    reader_close(reader);
    return -1;
}

static int seek(struct reader *reader, uint64_t offset)
{
    if (lseek(reader->descriptor, (off_t)offset, SEEK_SET) >= 0)
        return 0;
    reader->error = errno;
    reader_close(reader);
    return -1;
}

int reader_open_at(struct reader *reader, const char *path, uint64_t offset, uint64_t number)
{
    if (reader_open(reader, path) < 0)
        return -1;
    reader->offset = offset;
    reader->number = number;
    return seek(reader, offset);
}

int reader_follow(struct reader *reader, int descriptor, const struct reader_from *from)
{
    reader_close(reader);
    start_over(reader);
    reader->descriptor = descriptor;
    reader->borrows = true;
    reader->skipping = from->scanned > from->offset;
    reader->skip_from = from->offset;
    reader->offset = reader->skipping ? from->scanned : from->offset;
    reader->number = from->number;
    reader->follows = from->follows;
    return seek(reader, reader->offset);
}

uint64_t reader_place(const struct reader *reader)
{
    return reader->skipping ? reader->skip_from : reader->offset;
}

uint64_t reader_scanned(const struct reader *reader)
{
    return reader->offset + (reader->scanned - reader->begin);
}

/* Moves past `size` bytes and, if there is one, the line end after them. */
static void consume(struct reader *reader, size_t size, bool with_end)
{
    size_t all = size + (with_end ? 1 : 0);

    reader->begin += all;
    reader->offset += all;
    reader->scanned = reader->begin;
}

static void begin_skipping(struct reader *reader)
{
    if (!reader->skipping)
        reader->skip_from = reader->offset;
    reader->skipping = true;
    consume(reader, reader->end - reader->begin, false);
}

/* The line that was looked through is not too long: now it is read. */
static enum reader_step go_back(struct reader *reader)
{
    reader->begin = reader->scanned = reader->end = 0;
    reader->offset = reader->skip_from;
    reader->skipping = reader->at_end = false;
    return seek(reader, reader->offset) < 0 ? READER_FAILED : READER_AGAIN;
}

static enum reader_step end_skipping(struct reader *reader, size_t size, bool with_end,
                                     struct reader_line *out_line)
{
    uint64_t from = reader->skipping ? reader->skip_from : reader->offset;

    if (reader->offset + size - from <= reader->line_max)
        return go_back(reader);
    consume(reader, size, with_end);
    reader->skipping = false;
    *out_line = (struct reader_line){ .number = ++reader->number, .offset = from };
    return READER_TOO_LONG;
}

static enum reader_step hand_out(struct reader *reader, size_t size, bool with_end,
                                 struct reader_line *out_line)
{
    const char *text = reader->buffer + reader->begin;
    uint64_t offset = reader->offset;

    if (reader->skipping || size > reader->line_max)
        return end_skipping(reader, size, with_end, out_line);
    consume(reader, size, with_end);
    if (with_end && size > 0 && text[size - 1] == '\r')
        size--;
    *out_line = (struct reader_line){
        .text = text, .size = size, .number = ++reader->number, .offset = offset
    };
    return READER_LINE;
}

/* Returns the text after the last line end. */
static enum reader_step finish_file(struct reader *reader, struct reader_line *out_line)
{
    size_t rest = reader->end - reader->begin;

    if (rest > 0 || reader->skipping)
        return hand_out(reader, rest, false, out_line);
    reader_close(reader);
    return READER_END;
}

static enum reader_step fail(struct reader *reader, int error)
{
    reader->error = error;
    reader_close(reader);
    return READER_FAILED;
}

/* Moves the unread bytes to the front, so that the free part is at least a chunk. */
static void compact(struct reader *reader)
{
    size_t rest = reader->end - reader->begin;

    if (rest > 0 && reader->begin > 0)
        memmove(reader->buffer, reader->buffer + reader->begin, rest);
    reader->scanned -= reader->begin;
    reader->begin = 0;
    reader->end = rest;
}

/* Holes have no line end. Without SEEK_DATA they are read. */
static void pass_hole(struct reader *reader)
{
    off_t data = lseek(reader->descriptor, (off_t)reader->offset, SEEK_DATA);

    if (data < 0 && errno == ENXIO) /* none up to the end */
        data = lseek(reader->descriptor, 0, SEEK_END);
    if (data > (off_t)reader->offset)
        reader->offset = (uint64_t)data;
    (void)lseek(reader->descriptor, (off_t)reader->offset, SEEK_SET);
}

static enum reader_step fill(struct reader *reader)
{
    ssize_t got;

    compact(reader);
    if (reader->skipping && reader->end == 0)
        pass_hole(reader);
    do
        got = read(reader->descriptor, reader->buffer + reader->end, reader->chunk);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail(reader, errno);
    if (got == 0 && reader->follows)
        return READER_END;
    reader->at_end = got == 0;
    reader->end += (size_t)got;
    return READER_AGAIN;
}

enum reader_step reader_next(struct reader *reader, struct reader_line *out_line)
{
    const char *from = reader->buffer + reader->scanned;
    const char *newline;

    if (reader->descriptor < 0)
        return reader->error ? READER_FAILED : READER_END;
    newline = memchr(from, '\n', reader->end - reader->scanned);
    if (newline) {
        size_t size = (size_t)(newline - reader->buffer) - reader->begin;
        return hand_out(reader, size, true, out_line);
    }
    reader->scanned = reader->end;
    if (reader->at_end)
        return finish_file(reader, out_line);
    if (reader->skipping || reader->end - reader->begin > reader->line_max)
        begin_skipping(reader);
    return fill(reader);
}
