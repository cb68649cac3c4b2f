/* SPDX-License-Identifier: MIT */
/*
 * weir/resize.h - calls about a pool: its size, its members, pauses and figures.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply.
 */
#ifndef WEIR_RESIZE_H
#define WEIR_RESIZE_H

#include "host.h"

/*
 * Sets the target number of workers of a pool. Returns at once; workers open and leave later. An
 * elastic pool stops scaling itself until `weir scale POOL auto` or a reload. `out` may be NULL.
 * WEIR_EINVALID: `target` is outside the pool's bounds, and nothing changes; with `clamp: true` in
 * the file the nearest bound is used instead, and `out` has the result. WEIR_EINVALID also when the
 * PID is not a pool's, or the pool's members are pools. WEIR_ECLOSED: the pool is closing.
 * WEIR_EUNKNOWN, WEIR_ETERMINATED: no such pool, or it has ended. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_pool_resize(struct weir_self *self, weir_pid pool, uint32_t target,
                                 struct weir_resized *out)
{
    return self->host->pool_resize(self, pool, target, out);
}

/* As weir_pool_resize: raises the target by `count`. WEIR_EINVALID also if `count` is negative. */
WEIR_INLINE int weir_pool_add(struct weir_self *self, weir_pid pool, int32_t count,
                              struct weir_resized *out)
{
    return count < 0 ? WEIR_EINVALID : self->host->pool_add(self, pool, count, out);
}

/* As weir_pool_resize: lowers the target by `count`. A target below 0 is outside the bounds. */
WEIR_INLINE int weir_pool_remove(struct weir_self *self, weir_pid pool, uint32_t count,
                                 struct weir_resized *out)
{
    return count > INT32_MAX ? WEIR_EINVALID
                             : self->host->pool_add(self, pool, -(int32_t)count, out);
}

/* Pauses a pool: from the return on, the pool refuses every message with WEIR_EFULL. Its workers
 * finish the messages that they have accepted. 0 also when the pool is paused already.
 * WEIR_EINVALID: not a pool. WEIR_EUNKNOWN, WEIR_ETERMINATED. */
WEIR_INLINE int weir_pool_pause(struct weir_self *self, weir_pid pool)
{
    return self->host->pool_pause(self, pool, true);
}

/* Ends the pause and wakes senders that wait for room. 0 also when the pool is not paused. */
WEIR_INLINE int weir_pool_resume(struct weir_self *self, weir_pid pool)
{
    return self->host->pool_pause(self, pool, false);
}

/* Lists a pool's members, including leaving ones. Fills up to `max` elements of `out`, which may be
 * NULL when `max` is 0. `out_count` is the number of all members, even if it is larger than `max`.
 * WEIR_EINVALID: not a pool. WEIR_EUNKNOWN, WEIR_ETERMINATED. */
WEIR_INLINE int weir_pool_members(struct weir_self *self, weir_pid pool, struct weir_member *out,
                                  uint32_t max, uint32_t *out_count)
{
    return self->host->pool_members(self, pool, out, sizeof *out, max, out_count);
}

/* Asks a pool for one WEIR_POOL_RESIZED message in the lane high. The pool sends it when all
 * workers that were made up to this epoch have opened or failed to open; it has the result of these
 * opens. WEIR_EINVALID: the pool has not reached this epoch, or the PID is not a pool's.
 * WEIR_ECLOSED: the pool is closing. WEIR_EUNKNOWN, WEIR_ETERMINATED, WEIR_ENOMEM. */
WEIR_INLINE int weir_pool_tell(struct weir_self *self, weir_pid pool, uint64_t epoch)
{
    return self->host->pool_tell(self, pool, epoch);
}

/* The target number of workers of this worker's or manager's pool; 0 for a source. */
WEIR_INLINE uint32_t weir_pool_size(struct weir_self *self)
{
    return self->host->pool_size(self);
}

/* Reads a pool's figures. Set out->size to sizeof *out first. Never blocks. WEIR_EINVALID:
 * out->size is too small, or the PID is not a pool's. WEIR_EUNKNOWN, WEIR_ETERMINATED. */
WEIR_INLINE int weir_pool_stats(struct weir_self *self, weir_pid pool, struct weir_pool_stats *out)
{
    return self->host->pool_stats(self, pool, out);
}

#endif
