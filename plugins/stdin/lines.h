/* SPDX-License-Identifier: MIT */
/*
 * lines.h - finds the lines of a stream, in one buffer that never grows.
 *
 * Life: lines_init .. lines_finish. Not synchronised.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
    char *buffer;   /* owned; `size` bytes */
    size_t size;    /* const */
    size_t max;     /* const: bytes of a line, without its end */
    char end;       /* const: the byte that ends a line */
    size_t begin;   /* of the bytes that have not been handed out */
    size_t scanned; /* no line ends between begin and here */
    size_t filled;  /* the end of the bytes that have been read */
    bool skipping;  /* the beginning of the present line was too long, and is dropped */
    bool at_end;    /* nothing more will be read */
};

enum lines_step {
    LINES_LINE,     /* there is a line */
    LINES_TOO_LONG, /* a line was skipped */
    LINES_READ,     /* read on, at lines_room */
    LINES_END,      /* all lines were handed out */
};

/* WEIR_ENOMEM. `chunk`: bytes that are read at once. */
int lines_init(struct lines *lines, size_t max, size_t chunk, char end);
/* Legal after a failed init, and twice. */
void lines_finish(struct lines *lines);

/* The next step. The line is borrowed until the next call of any function here. A last line without
 * an end is a line. */
enum lines_step lines_next(struct lines *lines, const char **out_line, size_t *out_size);

/* Where to read to; after LINES_READ there is room. Moves the rest to the front. */
char *lines_room(struct lines *lines, size_t *out_size);
/* So many bytes were read there; 0 = the stream has ended. */
void lines_read(struct lines *lines, size_t size);

/* The bytes that were read and not handed out. Borrowed. */
const char *lines_rest(const struct lines *lines, size_t *out_size);
/* Puts such a rest into empty lines. False: it is larger than the buffer. */
bool lines_put_back(struct lines *lines, const char *rest, size_t size);

#endif
