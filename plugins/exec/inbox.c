#include "inbox.h"

#include <string.h>

void inbox_init(struct inbox *inbox)
{
    inbox->at_end = false;
    inbox->begin = inbox->end = 0;
    stream_init(&inbox->stream);
}

int inbox_open(struct weir_self *self, struct inbox *inbox, weir_ready *ready, int *out_writer)
{
    inbox_init(inbox);
    return stream_open(self, &inbox->stream, ready, out_writer);
}

void inbox_close(struct weir_self *self, struct inbox *inbox)
{
    stream_close(self, &inbox->stream);
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

enum inbox_step inbox_line(struct inbox *inbox, struct frame *out_frame)
{
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
