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

bool queue_is_name(const char *name);
/* Declares the queue with the exchange and the queue of its dead letters, or without `declare`
 * checks that it is there. WEIR_EINVALID with the link's error: it says which argument differs. */
int queue_declare(struct link *link, const char *name);
/* Begins to ask for the length of a queue; the answer is a frame AMQP_QUEUE_DECLARE_OK_METHOD. */
int queue_ask_length(struct link *link, const char *name);
/* Writes the name of the queue where a piece waits for `delay_ms`, and begins to declare it.
 * WEIR_EINVALID with the link's error. */
int queue_declare_retry(struct link *link, const char *name, uint64_t delay_ms, char *out_name,
                        size_t size);

/* Turns the server's sentence about an argument that differs into ours, for weir_reason, too.
 * False: the sentence says something else. */
bool queue_explain(const char *said, char *out, size_t size);

#endif
