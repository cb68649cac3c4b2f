/* SPDX-License-Identifier: MIT */
#include "inbox.h"

#include <stdlib.h>
#include <string.h>

#include "json_frame.h"

void inbox_init(struct inbox *inbox)
{
    inbox->at_end = false;
    inbox->begin = inbox->end = 0;
    inbox->line = NULL;
    inbox->line_size = inbox->line_room = inbox->rest_size = 0;
    stream_init(&inbox->stream);
}

int inbox_open(struct inbox *inbox, size_t json_max, int *out_writer)
{
    inbox_init(inbox);
    inbox->json_max = json_max;
    return stream_open(&inbox->stream, out_writer);
}

void inbox_close(struct weir_self *self, struct inbox *inbox)
{
    stream_close(self, &inbox->stream);
    free(inbox->line);
    inbox->line = NULL;
    inbox->line_size = inbox->line_room = inbox->rest_size = 0;
}

/* Reads; returns the number of bytes. */
static size_t read_some(struct inbox *inbox, char *to, size_t size)
{
    ssize_t got = stream_read(&inbox->stream, to, size);

    inbox->at_end |= got == 0;
    return got > 0 ? (size_t)got : 0;
}

static bool fill(struct inbox *inbox)
{
    size_t got;

    if (inbox->begin > 0) {
        memmove(inbox->bytes, inbox->bytes + inbox->begin, inbox->end - inbox->begin);
        inbox->end -= inbox->begin;
        inbox->begin = 0;
    }
    got = read_some(inbox, inbox->bytes + inbox->end, INBOX_SIZE - inbox->end);
    inbox->end += got;
    return got > 0;
}

/* --- lines of JSON ---------------------------------------------------------------------------- */

static bool add_to_line(struct inbox *inbox, const char *bytes, size_t size)
{
    size_t wanted = inbox->line_size + size, room = wanted + wanted / 2;
    char *line = inbox->line;

    if (wanted > inbox->line_room) {
        line = realloc(line, room);
        if (!line)
            return false;
        inbox->line = line;
        inbox->line_room = room;
    }
    if (size > 0)
        memcpy(line + inbox->line_size, bytes, size);
    inbox->line_size = wanted;
    return true;
}

static enum inbox_step read_json(struct inbox *inbox, struct frame *out_frame)
{
    bool is_frame = inbox->line_size > 0 &&
                    json_frame_read(inbox->line, inbox->line_size, out_frame, &inbox->rest);

    inbox->line_size = 0;
    inbox->rest_size = is_frame ? out_frame->size : 0;
    return is_frame ? INBOX_FRAME : INBOX_WRONG;
}

static enum inbox_step json_line(struct inbox *inbox, struct frame *out_frame)
{
    for (;;) {
        const char *bytes = inbox->bytes + inbox->begin;
        size_t size = inbox->end - inbox->begin;
        const char *end = memchr(bytes, '\n', size);
        size_t here = end ? (size_t)(end - bytes) : size;

        if (inbox->line_size + here > inbox->json_max)
            return INBOX_WRONG;
        if (!add_to_line(inbox, bytes, here))
            return INBOX_MEMORY;
        inbox->begin += end ? here + 1 : here;
        if (end)
            return read_json(inbox, out_frame);
        if (!fill(inbox))
            return inbox->at_end ? INBOX_END : INBOX_NOTHING;
    }
}

static size_t take_rest(struct inbox *inbox, char *to, size_t size)
{
    size_t here = size < inbox->rest_size ? size : inbox->rest_size;

    if (here == 0)
        return 0;
    memcpy(to, inbox->rest, here);
    inbox->rest += here;
    inbox->rest_size -= here;
    return here;
}

/* --- both kinds of frames --------------------------------------------------------------------- */

enum inbox_step inbox_line(struct inbox *inbox, struct frame *out_frame)
{
    if (inbox->json_max > 0)
        return json_line(inbox, out_frame);
    for (;;) {
        const char *line = inbox->bytes + inbox->begin;
        size_t size = inbox->end - inbox->begin;
        const char *end = memchr(line, '\n', size);

        if (end) {
            inbox->begin += (size_t)(end - line) + 1;
            return frame_read(line, (size_t)(end - line), out_frame) ? INBOX_FRAME : INBOX_WRONG;
        }
        if (size >= FRAME_LINE_MAX)
            return INBOX_WRONG;
        if (!fill(inbox))
            return inbox->at_end ? INBOX_END : INBOX_NOTHING;
    }
}

size_t inbox_bytes(struct inbox *inbox, char *to, size_t size)
{
    size_t here = inbox->end - inbox->begin;

    if (inbox->json_max > 0)
        return take_rest(inbox, to, size);
    if (here == 0 && size >= INBOX_SIZE)
        return read_some(inbox, to, size);
    if (here == 0 && fill(inbox))
        here = inbox->end - inbox->begin;
    if (here > size)
        here = size;
    if (here > 0)
        memcpy(to, inbox->bytes + inbox->begin, here);
    inbox->begin += here;
    return here;
}
