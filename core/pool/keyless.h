/* SPDX-License-Identifier: MIT */
/*
 * pool/keyless.h - logs that a message without a key has reached a pool that routes by hash.
 *
 * The pool refuses such a message with WEIR_EINVALID. A pool above then gives the message to
 * another member, so no sender sees that this pool gets none. So the pool itself logs it, at any
 * level of nesting, and again only for another sender than in its last line.
 */
#ifndef POOL_KEYLESS_H
#define POOL_KEYLESS_H

struct executor;
struct pool;

/* The sender is the actor whose callback runs on this executor, if any. Any thread. */
void keyless_log(struct pool *pool, const struct executor *executor);

#endif
