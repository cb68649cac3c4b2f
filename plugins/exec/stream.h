/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the end of a pipe at which a worker reads what a child writes.
 *
 * Life: stream_init .. stream_close; stream_open in between. Not synchronised.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weir/plugin.h>

struct stream {
    int descriptor; /* owned, non-blocking; -1 = none */
    bool watched;
    uint64_t watch;
};

void stream_init(struct stream *stream);
/* Makes a pipe. `out_writer` is the end for the child: owned by the caller. Returns 0 or an
 * errno. */
int stream_open(struct stream *stream, int *out_writer);
/* Ends the watch and closes the pipe. Legal when none is open. */
void stream_close(struct weir_self *self, struct stream *stream);

/* To be called first in `ready`: the watch has fired. */
void stream_fired(struct stream *stream);
/* Watches, also again after it has fired. Returns 0 or an errno. */
int stream_watch(struct weir_self *self, struct stream *stream, weir_ready *ready);
/* Bytes read; 0 at the end; -1 when nothing can be read now. */
ssize_t stream_read(const struct stream *stream, void *to, size_t size);

#endif
