/* SPDX-License-Identifier: MIT */
/*
 * queue.h - the queues at the server: declared, or checked.
 *
 * A queue of work is a quorum queue with a bound that refuses, a bound of deliveries, and an
 * exchange for dead letters, behind which a queue of the same name keeps them. A piece that is to
 * be tried again later waits in QUEUE.retry.N, whose server sends it back to QUEUE when its time is
 * over. The server checks a queue at the head alone, so pieces with about the same delay share one:
 * N is the delay in milliseconds, rounded up to a power of two.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "link.h"

#define QUEUE_NAME_MAX 200u /* of 255 bytes; the rest is for suffixes */
#define QUEUE_RETRY_MAX_MS (UINT64_C(1) << 31)
#define QUEUE_RETRY_STEPS 25u /* 128 ms to QUEUE_RETRY_MAX_MS */

bool queue_is_name(const char *name);
/*
 * Declares the queues, each with the exchange and the queue of its dead letters, or without
 * `declare` checks that they exist. WEIR_EINVALID with the link's error: it says which argument
 * differs.
 *
 * RabbitMQ 3.10 writes the name of a quorum queue to disk up to a second after it
 * has confirmed the declaration. When it is killed before, the queue is lost with all that it had.
 * So after the declaration of a new queue this waits for `new_queue`. The exchange of the dead
 * letters is declared after the wait: while it is absent, another host waits as well.
 */
int queue_declare_all(struct link *link, const char *const *names, uint32_t count);
/* WEIR_EINVALID with the link's error: the exchange of the dead letters of the queue is absent. */
int queue_check_dead_letters(struct link *link, const char *name);
/* Begins to ask for the length of a queue; the answer is a frame AMQP_QUEUE_DECLARE_OK_METHOD. */
int queue_ask_length(struct link *link, const char *name);
/* The step, below QUEUE_RETRY_STEPS, of the queue where a piece waits for a delay. */
uint32_t queue_retry_step(uint64_t delay_ms);
/* Writes the name of the queue of a step. */
void queue_name_retry(const char *name, uint32_t step, char *out, size_t size);
/* Begins to declare that queue, on LINK_PUTS; the answer is a frame AMQP_QUEUE_DECLARE_OK_METHOD,
 * or the link's refusal. WEIR_EINVALID with the link's error. */
int queue_declare_retry(struct link *link, const char *name, uint32_t step);

/* Turns the server's sentence about an argument that differs into ours, for weir_reason, too.
 * False: the sentence says something else. */
bool queue_explain(const char *said, char *out, size_t size);

#endif
