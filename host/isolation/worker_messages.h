/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_messages.h - messages in the process of an isolated worker: tags, payloads,
 * blobs, and the calls that pass messages to the host.
 */
#ifndef HOST_ISOLATION_WORKER_MESSAGES_H
#define HOST_ISOLATION_WORKER_MESSAGES_H

#include "host/isolation/worker_state.h"

/* A message as the host packed it; owned. NULL: memory is out, or the bytes are wrong. */
struct worker_message *worker_unpack_message(struct worker *worker, struct unparcel *from);
/* NULL is allowed. */
void worker_free_message(struct worker_message *message);

/* A message that `handle` has kept, of a behaviour with `flush`. */
void worker_add_gathered(struct worker *worker, struct worker_message *message);
/* It is none any more; legal for one that was none. */
void worker_part_gathered(struct worker *worker, struct worker_message *message);

/* Makes a call whose last argument is a message that the plugin has made; the others are packed.
 * Takes the message on 0. `out`: the number of the answer; may be NULL. */
int worker_give(struct weir_self *self, int call, struct weir_message *message, uint64_t *out);

/* Enters the calls of this file. */
void worker_fill_messages(struct weir_host *host);

#endif
