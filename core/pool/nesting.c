#include "pool/nesting.h"

#include <stdlib.h>

#include "pool/members.h"

/* In the order in which they came. */
void nesting_show_locked(struct pool *parent, struct members *next, struct executor *executor)
{
    /* The number stays a child's own whoever comes and goes: few keys change their owner. */
    for (uint32_t i = 0; i < parent->child_count; i++)
        next->members[i] = (struct member){ .pool = parent->children[i],
                                            .index = parent->children[i]->number };
    next->count = parent->child_count;
    members_publish(&parent->members, next, &executor->reader);
}

static int publish_children_locked(struct pool *parent, struct executor *executor)
{
    struct members *next = members_create(parent->child_count);

    if (!next)
        return WEIR_ENOMEM;
    nesting_show_locked(parent, next, executor);
    return 0;
}

static int join_parent_locked(struct pool *parent, struct pool *pool, struct executor *executor)
{
    struct pool **children;
    int status;

    if (atomic_load_explicit(&parent->closing, memory_order_relaxed))
        return WEIR_ECLOSED;
    children = realloc(parent->children, (parent->child_count + 1) * sizeof *children);
    if (!children)
        return WEIR_ENOMEM;
    parent->children = children;
    children[parent->child_count++] = pool;
    status = publish_children_locked(parent, executor);
    if (status != 0)
        parent->child_count--;
    else
        parent->epoch++;
    return status;
}

int nesting_join_new(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;
    int status;

    if (!parent)
        return 0;
    pthread_mutex_lock(&parent->lock);
    status = join_parent_locked(parent, pool, executor);
    pthread_mutex_unlock(&parent->lock);
    pool->joined = status == 0;
    return status;
}

int pool_prepare_join(struct pool *pool, uint32_t siblings)
{
    struct pool *parent = pool->parent;
    struct pool **children;
    uint32_t room;

    pthread_mutex_lock(&parent->lock);
    room = parent->child_count + siblings;
    children = realloc(parent->children, room * sizeof *children);
    if (children)
        parent->children = children;
    pool->join_members = members_create(room);
    pthread_mutex_unlock(&parent->lock);
    return children && pool->join_members ? 0 : WEIR_ENOMEM;
}

void pool_join(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;
    bool parent_closes;

    pthread_mutex_lock(&parent->lock);
    parent_closes = atomic_load_explicit(&parent->closing, memory_order_relaxed);
    parent->children[parent->child_count++] = pool;
    pool->joined = true;
    pool_end_trial(pool);
    if (!parent->spec) {
        nesting_show_locked(parent, pool->join_members, executor);
        pool->join_members = NULL;
    }
    parent->epoch++;
    pthread_mutex_unlock(&parent->lock);
    if (parent_closes)
        pool_close(pool, executor);
    else
        pool_wake_waiters(parent, executor);
}

/* The figures of an ended pool stay with its parent: they never go back. */
static void keep_figures_locked(struct pool *parent, struct pool *pool)
{
    struct dead_letters_figures dead = { 0 };

    dead_letters_figures(&pool->dead, &dead);
    dead_letters_absorb(&parent->dead, &dead);
    misuses_absorb(&parent->misuses, &pool->misuses);
    pthread_mutex_lock(&pool->lock); /* parents lock before children, always */
    ledger_reading_add(&parent->gone, &pool->gone);
    parent->gone_restarts += pool->gone_restarts;
    parent->escalation.reopened += pool->escalation.reopened;
    parent->epoch += pool->epoch;
    progress_add(&parent->gone_progress, &pool->gone_progress);
    pthread_mutex_unlock(&pool->lock);
}

/* WEIR_ENOMEM: the ended pool stays among the members, where it answers CLOSED. */
int nesting_leave(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;
    uint32_t kept = 0;
    int status;

    if (!parent || !pool->joined)
        return 0;
    pthread_mutex_lock(&parent->lock);
    for (uint32_t i = 0; i < parent->child_count; i++)
        if (parent->children[i] != pool)
            parent->children[kept++] = parent->children[i];
    parent->child_count = kept;
    keep_figures_locked(parent, pool);
    status = parent->spec ? 0 : publish_children_locked(parent, executor);
    pthread_mutex_unlock(&parent->lock);
    return status;
}
