/* SPDX-License-Identifier: MIT */
/*
 * message/join.h - counts the open messages of an origin's message: that message itself, and all
 * messages that were emitted while it, or one of these, was handled.
 *
 * The first emit makes the join; the origin is then notified by it, once, when the last of its
 * messages is settled. The message that ends last becomes the notice, so a notice needs no memory.
 *
 *      MESSAGE_ORIGIN -- join_begin --> MESSAGE_JOINED -- join_end, the last --> MESSAGE_ORIGIN
 *      new message    -- join_add ----> MESSAGE_JOINED -- join_end, not the last --> freed
 *
 * Each message with MESSAGE_JOINED holds a reference. Any thread may end its own.
 */
#ifndef MESSAGE_JOIN_H
#define MESSAGE_JOIN_H

#include "message/layout.h"

#define JOIN_DETAIL_SIZE 96 /* a reason as a worker gives it fits: 47 bytes */

/* How the messages of a join ended. */
struct join_result {
    bool is_dead;                  /* one of them */
    uint32_t reason;               /* enum dead_reason: of the first dead one */
    char detail[JOIN_DETAIL_SIZE]; /* likewise */
    bool is_stored;                /* the dead letters of all that are dead outlive the process */
};

/* Makes the join of a message with MESSAGE_ORIGIN. Copies the label, of message_label; `identity`
 * is that of message_identity. WEIR_ENOMEM: the message is as before. */
int join_begin(struct message *message, const char *label, uint64_t identity);

/* Adds a message that has neither flag to the join of another one. */
void join_add(struct message *message, const struct message *joined);

/* The label of the first message; "" without one. Lives as long as the message is of the join. */
const char *join_label(const struct message *message);

/* The identity of the first message; 0 without one. */
uint64_t join_identity(const struct message *message);

/* Notes that a message of the join is dead; the first one counts. Before its join_end. */
void join_fail(const struct message *message, uint32_t reason, const char *detail);

/* Notes that the dead letter of such a message is not stored. Before its join_end. */
void join_lose(const struct message *message);

/*
 * A message of a join is settled: it leaves the join. True: it was the last one. It has the origin,
 * the token and the attempt of the first message now, and MESSAGE_ORIGIN; `out` has the result.
 */
bool join_end(struct message *message, struct join_result *out);

/* As join_end for a message that is not settled: when the runtime ends, or when another message of
 * the join is held by the caller. Nobody is notified. */
void join_drop(struct message *message);

#endif
