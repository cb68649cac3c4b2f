/* SPDX-License-Identifier: MIT */
/*
 * message/control_queue.h - messages of the other lanes, and signals, of an actor.
 *
 * High, urgent and control messages share one stack, which the owner takes whole and sorts. Signals
 * are bits that need no memory. A push or a signal raises OTHER in the admission word, which wakes
 * the owner even when it is muted. The synchronisation is described in message/mailbox.h.
 */
#ifndef MESSAGE_CONTROL_QUEUE_H
#define MESSAGE_CONTROL_QUEUE_H

#include "message/mailbox.h"

/*
 * Puts a message into the other lanes. Any thread, inside a read section (reclaim.h). Takes it on
 * 0; WEIR_ETERMINATED. No limit: the caller has counted, or it is control.
 */
int control_queue_push(struct mailbox *mailbox, uint32_t serial, struct message *message,
                       bool *out_wake);

/* Sets signal bits, of which there are 16. Any thread, inside a read section. WEIR_ETERMINATED. */
int control_queue_signal(struct mailbox *mailbox, uint32_t serial, uint32_t bits, bool *out_wake);

/* Takes the signals and all of the other lanes, oldest first. */
struct message *control_queue_take(struct mailbox *mailbox, uint32_t *out_signals);

#endif
