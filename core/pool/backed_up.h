/* SPDX-License-Identifier: MIT */
/*
 * pool/backed_up.h - members that sleep although messages wait in their mailboxes.
 *
 * A worker may take no message while it keeps as many as it demands, waits for room in an output,
 * or has too many retries. Then members that are idle get its messages, as those of a worker whose
 * callback takes long (rebalance.h). The worker gives them in its own turn, before it sleeps. When
 * no member is idle, the worker is in a list of the pool. A member that becomes idle takes a worker
 * off the list and wakes it, and that one gives again. A worker without waiting messages dozes: its
 * mailbox is idle, so that the first message wakes it. At each beat of WANTED_BEAT_NS a worker with
 * waiting messages tries again, and drops those that are not wanted any more.
 *
 * [BU1] The worker enters the list before it looks for idle members; a member is idle before it
 * looks at the list. So one of the two sees the other.
 */
#ifndef POOL_BACKED_UP_H
#define POOL_BACKED_UP_H

#include <stdbool.h>

struct executor;
struct owner;
struct place;
struct pool;

/* `back_up` and `fetch` of struct owner_ops. */
bool backed_up_share(struct place *place);
void backed_up_fetch(struct owner *owner, struct executor *executor);

/* The place leaves the pool. pool->lock is held. */
void backed_up_left_locked(struct pool *pool, struct place *place);

#endif
