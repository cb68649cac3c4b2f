/* SPDX-License-Identifier: MIT */
/* Pools in the face: face/pool.h, face/pool_change.h. */
#include "pool/change.h"
#include "pool/creation.h"
#include "pool/figures.h"
#include "pool/pool.h"

weir_pid pool_pid(const struct pool *pool)
{
    return pool->pid;
}

const char *pool_path(const struct pool *pool)
{
    return pool->path;
}

bool pool_has_parent(const struct pool *pool)
{
    return pool->parent != NULL;
}

bool pool_is_closing(const struct pool *pool)
{
    return flags_is_closing(&pool->flags);
}

/* A pool whose workers make room for members takes these along: they have joined before. */
void pool_admit(struct pool *pool, struct executor *executor)
{
    if (pool->parent && !pool->joined)
        pool_join(pool, executor);
    else
        pool_end_trial(pool);
}

void pool_change_opening(struct pool_change *change, struct pool_opening *out)
{
    pool_opening_prepared(change->pool, out);
    if (!change_replaces_workers(&change->options))
        out->open += pool_open_workers(change->pool);
}

bool pool_admits_nothing(struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct pool_opening opening = { 0 };

    pool_stats(pool, &stats);
    pool_opening(pool, &opening);
    return stats.paused || (stats.live == 0 && (opening.failed || stats.starting == stats.stopped));
}

bool pool_gives_up(struct pool *pool)
{
    bool gives_up;

    lock_acquire(&pool->lock);
    gives_up = pool->spec && (pool->spec->behaviour->flags & WEIR_GIVES_UP);
    /* Depth is bounded by the configuration; parents lock before children, always. */
    for (uint32_t i = 0; i < pool->child_count && !gives_up; i++)
        gives_up = pool_gives_up(pool->children[i]);
    lock_release(&pool->lock);
    return gives_up;
}

/* --- how long it may take ------------------------------------------------------------------- */

/* Workers without a time of their own are left behind after the usual one, and go on. */
static uint64_t remove_ms_of_workers_locked(const struct pool *pool, uint64_t usual_ms,
                                            uint64_t grace_ms)
{
    if (!pool->spec && list_empty(&pool->leavers) && list_empty(&pool->closers))
        return 0;
    return pool->settings.remove.timeout_ms ? pool->settings.remove.timeout_ms + grace_ms
                                            : usual_ms;
}

uint64_t pool_remove_ms(struct pool *pool, uint64_t usual_ms, uint64_t grace_ms)
{
    uint64_t longest_ms;

    lock_acquire(&pool->lock);
    longest_ms = remove_ms_of_workers_locked(pool, usual_ms, grace_ms);
    /* Depth is bounded by the configuration; parents lock before children, always. */
    for (uint32_t i = 0; i < pool->child_count; i++) {
        uint64_t child_ms = pool_remove_ms(pool->children[i], usual_ms, grace_ms);

        longest_ms = child_ms > longest_ms ? child_ms : longest_ms;
    }
    lock_release(&pool->lock);
    return longest_ms;
}
