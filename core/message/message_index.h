/* SPDX-License-Identifier: MIT */
/*
 * message/message_index.h - messages in the order in which they came, found by their address.
 *
 * The cost of adding, finding and removing does not depend on their number; no message is read but
 * the one that a caller passes to be added. A search may name a message that was freed. Not
 * synchronised.
 */
#ifndef MESSAGE_MESSAGE_INDEX_H
#define MESSAGE_MESSAGE_INDEX_H

#include "message/message.h"

struct message_index;

/* Takes the messages of the list, which is empty then. NULL when memory is out: the list has them
 * still. Owned by the caller. */
struct message_index *message_index_create(struct message_queue *queue, uint32_t count);
/* NULL is allowed. Appends the messages that are left to the queue. */
void message_index_destroy(struct message_index *index, struct message_queue *queue);

/* Takes the message; false when memory is out. */
bool message_index_append(struct message_index *index, struct message *message);
/* The message of that address; NULL: there is none. */
struct message *message_index_find(const struct message_index *index, uint64_t address);
/* Removes a message that was found. */
void message_index_remove(struct message_index *index, const struct message *message);

/* The first message; NULL: there is none. */
struct message *message_index_first(const struct message_index *index);
/* The message that follows one that was found or is the first; NULL: it is the last. */
struct message *message_index_next(const struct message_index *index,
                                   const struct message *message);

#endif
