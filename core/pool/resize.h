/*
 * pool/resize.h - more or fewer workers, while messages flow.
 *
 * All of these return at once. The new target is visible before they return, and no new message
 * reaches a worker that leaves; it finishes what it accepted, as the pool's remove mode says.
 */
#ifndef POOL_RESIZE_H
#define POOL_RESIZE_H

#include "pool/pool.h"

/*
 * Sets the number of workers. Any thread, also inside a worker. `out` may be NULL. WEIR_EINVALID:
 * out of bounds, or the members are pools; WEIR_ECLOSED; WEIR_ENOMEM. Then nothing has changed. A
 * pool that clamps goes as far as its bounds instead.
 */
int pool_resize(struct pool *pool, struct executor *executor, uint32_t target,
                struct weir_resized *out);

/* As pool_resize by `count` more or fewer than now. */
int pool_add(struct pool *pool, struct executor *executor, int32_t count, struct weir_resized *out);

/* Tells the log by whom a pool was resized, if that changed anything. Borrows all of it. */
void resize_report(const struct pool *pool, const char *by, const struct weir_resized *resized);

/* --- for pool.c and change.c; pool->lock is held --------------------------------------------- */

/* Makes `count` places with actors that have not begun, numbered from the lowest free number on,
 * and appends them to `out_places`. All or none: WEIR_ENOMEM. */
int resize_make_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                       uint32_t count, struct list *out_places);

/* Gives back places whose actors have not begun. */
void resize_unmake_locked(struct list *places, struct executor *executor);

/* Lets the actors of places begin. They open on the threads of `opener`; NULL: on their own. */
void resize_begin_locked(struct list *places, struct dispatcher *opener, struct executor *executor);

/* Fills `next`, which has room for all, with the places that stay, and publishes it. */
void resize_publish_locked(struct pool *pool, struct members *next, struct executor *executor);

/* Moves `count` places, broken and idle ones first, to `out_leaving`; tells nobody yet. Where keys
 * have owners those with the highest numbers go before idle ones: the numbers stay without gaps. */
void resize_choose_locked(struct pool *pool, uint32_t count, struct list *out_leaving);

/* Calls back up to `count` of those who were told to go and have not finished; returns how many. */
uint32_t resize_recall_locked(struct pool *pool, uint32_t count, struct executor *executor);

/* How many places stay. */
uint32_t resize_count_locked(struct pool *pool);

/* After the members without them are published: closes and tells those who leave. */
void resize_dismiss_locked(struct pool *pool, struct list *leaving, struct executor *executor);

#endif
