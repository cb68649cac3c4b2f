/* SPDX-License-Identifier: MIT */
/*
 * outbox.h - writes frames to a child, which may read slowly.
 *
 * A socket instead of a pipe: a child that has closed its end is an error of the call, not a
 * SIGPIPE. Life: outbox_init .. outbox_close; outbox_open in between. Not synchronised. Frames
 * gather until outbox_write: one call carries many.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "frame.h"
#include "window.h"

#include <weir/plugin.h>

struct outbox {
    int descriptor; /* owned, non-blocking; -1 = none */
    bool watched;
    uint64_t watch;
    bool is_json;
    char *bytes; /* owned; NULL = none */
    size_t begin;
    size_t end; /* of the bytes that are not written */
    size_t room;
    size_t reserved;  /* of `room`: for frames that follow */
    uint64_t written; /* bytes ever */
};

void outbox_init(struct outbox *outbox);
/* `out_reader` is the end for the child: owned by the caller. Returns 0 or an errno. */
int outbox_open(struct outbox *outbox, bool is_json, int *out_reader);
/* The child sees the end, behind what is written. Legal when none is open. */
void outbox_close(struct weir_self *self, struct outbox *outbox);

/* Adds the frame of a message. `id`: 0 = revision 1. Copies. Returns 0; WEIR_EINVALID: the line
 * cannot be written (frame_write); or WEIR_ENOMEM. */
int outbox_put(struct outbox *outbox, const struct weir_message *message, uint64_t id,
               const char *payload, size_t size);
/* Room for `size` bytes of frames that outbox_put_head and outbox_put_bytes add later, before any
 * others, beside those for which there is room already. Who adds them sets `reserved` to 0. False:
 * memory is out. */
bool outbox_reserve(struct outbox *outbox, size_t size);
/* Adds the line of a frame of `count` messages, and their sizes when they are many. */
void outbox_put_head(struct outbox *outbox, const struct given *rows, uint32_t count);
void outbox_put_bytes(struct outbox *outbox, const char *bytes, size_t size);
/* Adds `cancel`, `tick` or `close`, with `id` unless it is 0. Returns 0 or WEIR_ENOMEM. */
int outbox_say(struct outbox *outbox, const char *word, uint64_t id);

/* Writes what the child has room for, and watches for more room. Also to be called by `ready`.
 * Returns 0 or an errno: EPIPE when the child has closed its end. */
int outbox_write(struct weir_self *self, struct outbox *outbox, weir_ready *ready);
/* To be called first in `ready`: the watch has fired. */
void outbox_fired(struct outbox *outbox);

/* Bytes that are not written. */
static inline size_t outbox_waiting(const struct outbox *outbox)
{
    return outbox->end - outbox->begin;
}

/* The end of the last frame: it is written when `written` has reached this number. */
static inline uint64_t outbox_mark(const struct outbox *outbox)
{
    return outbox->written + outbox_waiting(outbox);
}

#endif
