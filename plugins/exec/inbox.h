/* SPDX-License-Identifier: MIT */
/*
 * inbox.h - reads the frames that a child writes.
 *
 * Life: inbox_init .. inbox_close; inbox_open in between. Not synchronised. After inbox_line has
 * returned a frame, inbox_bytes reads its bytes, and then the next frame follows. A frame of JSON
 * is read whole by inbox_line.
 */
#ifndef INBOX_H
#define INBOX_H

#include "frame.h"
#include "stream.h"

/* Bytes of one read. Larger payloads are read to where they belong. */
#define INBOX_SIZE 8192u

enum inbox_step {
    INBOX_FRAME,
    INBOX_NOTHING, /* nothing can be read now */
    INBOX_END,     /* the child has closed its descriptor */
    INBOX_WRONG,   /* this is no frame */
    INBOX_MEMORY,  /* a line of JSON finds no memory */
};

struct inbox {
    struct stream stream;
    bool at_end;
    size_t begin; /* of the bytes that were read and not taken */
    size_t end;
    char bytes[INBOX_SIZE];

    size_t json_max; /* bytes of a line of JSON; 0 = frames of bytes */
    char *line;      /* owned: the line that is being read, or the present frame; NULL = none */
    size_t line_size;
    size_t line_room;
    const char *rest; /* in `line`: bytes of the present frame that are not taken */
    size_t rest_size;
};

void inbox_init(struct inbox *inbox);
/* As stream_open. `json_max`: bytes of the longest line of JSON; 0: the frames are those of
 * frame.h. */
int inbox_open(struct inbox *inbox, size_t json_max, int *out_writer);
/* Legal when none is open. */
void inbox_close(struct weir_self *self, struct inbox *inbox);

enum inbox_step inbox_line(struct inbox *inbox, struct frame *out_frame);
/* Copies at most `size` bytes of the present frame. Returns their number; 0: nothing can be read
 * now, or (`at_end`) ever. */
size_t inbox_bytes(struct inbox *inbox, char *to, size_t size);

#endif
