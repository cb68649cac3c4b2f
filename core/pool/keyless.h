/*
 * pool/keyless.h - a message without a key reaches a pool that routes by hash: the log tells it.
 *
 * The pool never takes such a message. Its sender gets WEIR_EINVALID; or the pool above gives the
 * message to another member, and then no answer shows that this pool gets none. So the pool itself
 * tells it, wherever it is nested. It tells it again only when the sender is another one than in
 * its last line.
 */
#ifndef POOL_KEYLESS_H
#define POOL_KEYLESS_H

struct executor;
struct pool;

/* The sender is the actor whose callback runs on this executor, if any. Any thread. */
void keyless_tell(struct pool *pool, const struct executor *executor);

#endif
