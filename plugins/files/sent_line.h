/* SPDX-License-Identifier: MIT */
/*
 * sent_line.h - a line that is not settled: its copy, and the message that is made of it.
 *
 * Not synchronised.
 */
#ifndef SENT_LINE_H
#define SENT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/plugin.h>

#include "reader.h"

struct followed;

/* A line that is not settled. It has a copy, so that it can be sent again. */
struct sent_line {
    struct followed *file; /* NULL: the file was truncated since */
    struct sent_line *before, *after;
    uint64_t offset;
    uint64_t number;   /* from 1 */
    uint64_t again_ms; /* when it is sent again; 0 = on its way, or the position stops at it */
    uint16_t attempt;
    size_t name_size; /* the path it came from, and a NUL, are the first bytes of `text` */
    size_t size;
    char text[];
};

/* Copies a line of a file, and the file's path. Returns owned: free(); NULL when memory is out. */
struct sent_line *sent_line_create(const struct followed *file, const struct reader_line *line);
/* Returns owned, as a files.line/1; NULL when memory is out. */
struct weir_message *sent_line_message(struct weir_self *self, const struct sent_line *line,
                                       const struct weir_tag *tag);

#endif
