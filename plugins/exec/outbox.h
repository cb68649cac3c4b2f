/* SPDX-License-Identifier: MIT */
/*
 * outbox.h - writes a frame at a time to a child, which may read slowly.
 *
 * A socket instead of a pipe: a child that has closed its end is an error of the call, not a
 * SIGPIPE. Life: outbox_init .. outbox_close; outbox_open in between. Not synchronised.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "frame.h"

#include <weir/plugin.h>

struct outbox {
    int descriptor; /* owned, non-blocking; -1 = none */
    bool watched;
    uint64_t watch;
    char line[FRAME_LINE_MAX];
    size_t line_left;    /* at the end of the line: `line_size` bytes */
    size_t line_size;    /* of `line` */
    const char *payload; /* borrowed: the unwritten rest */
    size_t payload_left;
    bool is_json;
    char *json; /* owned: the frame, of which `payload` is the unsent rest; NULL = none */
};

void outbox_init(struct outbox *outbox);
/* `out_reader` is the end for the child: owned by the caller. Returns 0 or an errno. */
int outbox_open(struct outbox *outbox, bool is_json, int *out_reader);
/* The child sees the end. Legal when none is open. */
void outbox_close(struct weir_self *self, struct outbox *outbox);

/* Begins a frame; outbox_write writes it. Borrows the payload until outbox_is_empty, or
 * outbox_close. Returns 0; WEIR_EINVALID: the line cannot be written (frame_write); or
 * WEIR_ENOMEM. */
int outbox_put(struct outbox *outbox, const struct weir_message *message, const char *payload,
               size_t size);
/* Writes what the child has room for, and watches for more room. Also to be called by `ready`.
 * Returns 0 or an errno: EPIPE when the child has closed its end. */
int outbox_write(struct weir_self *self, struct outbox *outbox, weir_ready *ready);
/* To be called first in `ready`: the watch has fired. */
void outbox_fired(struct outbox *outbox);
/* True when the whole frame is written. */
bool outbox_is_empty(const struct outbox *outbox);

#endif
