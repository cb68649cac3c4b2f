/* SPDX-License-Identifier: MIT */
/*
 * message/packed.h - a task that waits in a long queue takes 48 bytes, not the 128 of a message.
 *
 * A thread from outside may submit tasks faster than the workers run them. Then each task takes
 * fresh memory, and the kernel's time for fresh pages is most of the time of a submit. So a task
 * behind many others waits packed: as those fields of a message that a mailbox uses, with the
 * payload and the group in place of the fields between them. Its sender uses the message again for
 * the next task. The worker that takes a packed task turns it into a message, so nothing but a
 * mailbox and the functions here ever sees one.
 *
 * A packed task is of this kind: a message of 16 bytes with the tag of tasks, which is no request,
 * has no key, no sender, no deadline and no origin but a group, and was never delivered.
 *
 * Packed tasks lie in chunks, in the order of their senders' calls; the last one that is opened
 * frees its chunk. A chunk with one packed task keeps 32 KiB.
 *
 *                 | make | open drop        X = one thread at a time for each cache;
 *   make          |  X   |     -            - = any threads at once
 *   open drop     |  -   |     -
 */
#ifndef MESSAGE_PACKED_H
#define MESSAGE_PACKED_H

#include <stdbool.h>

#include "message/layout.h"

struct packed_chunk;

#define PACKED_PAYLOAD 16 /* bytes */

/* Where a thread makes its packed tasks. Part of its cache. */
struct packing {
    struct packed_chunk *chunk; /* owner; NULL: none yet, or the last one is full */
    uint32_t used;              /* owner: its tasks in use */
};

/* Frees the chunk with the last of its tasks. */
void packing_finish(struct packing *packing);

/* The packed form of a task, for a mailbox; the caller keeps the message. NULL: it has no packed
 * form, or memory is out. */
struct message *packed_make(struct packing *packing, const struct message *task);

/* True for what packed_make returned. */
static inline bool packed_is(const struct message *message)
{
    return message->public.reserved & MESSAGE_PACKED;
}

/* The group of a packed task; 0: none. */
uint64_t packed_group(const struct message *packed);

/* Takes a packed task. Makes the task of a new message with the tag of tasks and PACKED_PAYLOAD
 * bytes. */
void packed_open(struct message *packed, struct message *message);

/* Takes a packed task. */
void packed_drop(struct message *packed);

#endif
