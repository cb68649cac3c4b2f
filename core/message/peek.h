/* SPDX-License-Identifier: MIT */
/*
 * message/peek.h - reads a message whose memory a plugin may have overwritten or unmapped.
 *
 * Never faults: it reads by a system call. Safe in a signal handler, on the message's thread.
 */
#ifndef MESSAGE_PEEK_H
#define MESSAGE_PEEK_H

#include "message/layout.h"

struct message_peek {
    uint32_t attempt;
    char label[MESSAGE_LABEL_MAX]; /* its own, or that of its join; "" without one */
};

/* Copies `size` bytes. False: not all of them can be read. */
bool peek_bytes(void *to, const void *from, size_t size);

/* False: there is no message at `message`, or it is not the one that had this tag. */
bool message_peek(const struct message *message, const struct weir_tag *tag,
                  struct message_peek *out);

#endif
