/*
 * pool/backed_up.h - members that sleep although messages wait in their mailboxes.
 *
 * A worker may take no message while it keeps as many as it demands, waits for room in an output,
 * or has too many retries. Idle members get what waits behind that, as behind a callback that takes
 * long (rebalance.h): in the worker's own turn, before it sleeps, and later when a member becomes
 * idle, which wakes one that is backed up. A worker without waiting messages dozes: its mailbox is
 * idle, so that the first message wakes it, and goes on to an idle member or backs the worker up.
 * At each beat of WANTED_BEAT_NS a worker that is backed up tries again, and drops what is not
 * wanted any more.
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
