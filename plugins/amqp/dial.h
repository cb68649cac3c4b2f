/* SPDX-License-Identifier: MIT */
/*
 * dial.h - one try to connect to one server, in a thread of its own.
 *
 * Looking a name up has no time-out that a program can set, and each step of connecting waits. So
 * the thread owns all that it uses, with a copy of the settings, and its owner may let go of it at
 * any time: no turn and no end of a host waits for a name server.
 *
 * Life: dial_start .. (dial_take | dial_drop). All calls are of one thread, the owner's.
 */
#ifndef DIAL_H
#define DIAL_H

#include "link.h"

struct dial;

/* Tries server number `server` of the settings. Borrows the settings and the use until it returns.
 * Returns owned; NULL: memory or threads are out. */
struct dial *dial_start(const struct amqp_settings *settings, uint32_t server,
                        const struct link_use *use);
/* Readable when the try is over. */
int dial_descriptor(const struct dial *dial);
/* Waits up to `milliseconds` until the try is over; -1 = without end. True: it is over. */
bool dial_wait(const struct dial *dial, int milliseconds);
/* True until the socket is open: until then a name server may have kept the try. All later steps
 * have time-outs. */
bool dial_is_opening(const struct dial *dial);
/* For a try that is over. Frees the dial, and fills the link, which is down, with the connection.
 * Returns 0, or WEIR_EINVALID with the link's `error` and `is_refused`. */
int dial_take(struct dial *dial, struct link *link);
/* Lets go of a try, also of one that is not over. NULL is legal. */
void dial_drop(struct dial *dial);

#endif
