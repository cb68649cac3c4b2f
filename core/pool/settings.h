/* SPDX-License-Identifier: MIT */
/*
 * pool/settings.h - changes the settings of a running pool: limits, route, targets, pause.
 *
 * Any thread; `_locked`: pool->lock is held. change.h is for reloads, resize.h for the number of
 * workers.
 */
#ifndef POOL_SETTINGS_H
#define POOL_SETTINGS_H

#include "pool/pool.h"

struct wiring;

/* Sets the limit of present and new mailboxes. */
void pool_set_limit(struct pool *pool, uint32_t limit, struct executor *executor);
/* Makes the mailboxes and the shared queue use the limits in pool->settings. pool->lock is held;
 * the caller wakes the pool's waiters. */
void pool_set_limits_locked(struct pool *pool, struct executor *executor);
void pool_set_route(struct pool *pool, enum weir_route route);
/* Shows senders and turns what they read of the settings, from now on. pool->lock is held, or no
 * other thread has the pool yet. After a change of the route, fullness_forget follows. */
void pool_show_settings(struct pool *pool, const struct pool_settings *settings);
/* Makes the workers use the present targets of their outputs; pool->lock is held. */
void pool_look_again_locked(struct pool *pool, struct executor *executor);
/* Takes the wiring. */
void pool_set_wiring_locked(struct pool *pool, struct wiring *wiring, struct executor *executor);

/* There may be room: wakes all waiters of this pool and of the pools above. */
void pool_wake_waiters(struct pool *pool, struct executor *executor);

#endif
