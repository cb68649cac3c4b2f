/* SPDX-License-Identifier: MIT */
#include "pool/nesting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "actor/misuse.h"
#include "pool/lease_group.h"
#include "pool/members.h"
#include "pool/settings.h"

/* The lowest number without a child. The children are sorted: the first gap follows those whose
 * number is their index. */
static uint32_t free_order_locked(const struct pool *parent)
{
    uint32_t low = 0;
    uint32_t high = parent->child_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (parent->children[middle]->order == middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The index of the first child whose number is not lower. */
static uint32_t place_of_order_locked(const struct pool *parent, uint32_t order)
{
    uint32_t low = 0;
    uint32_t high = parent->child_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (parent->children[middle]->order < order)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pool *nesting_next_open(struct pool *parent, uint32_t *order)
{
    struct pool *found = NULL;

    lock_acquire(&parent->lock);
    for (uint32_t i = place_of_order_locked(parent, *order); i < parent->child_count && !found; i++)
        if (!flags_is_closing(&parent->children[i]->flags))
            found = parent->children[i];
    if (found)
        *order = found->order + 1;
    lock_release(&parent->lock);
    return found;
}

/*
 * A child keeps its number, since the owner of a key depends on it; a new child gets the lowest
 * free number, as a worker does.
 */
void nesting_add_locked(struct pool *parent, struct pool *pool)
{
    uint32_t at = free_order_locked(parent);

    assert(parent->child_count < parent->child_room);
    memmove(&parent->children[at + 1], &parent->children[at],
            (parent->child_count - at) * sizeof *parent->children);
    parent->children[at] = pool;
    parent->child_count++;
    parent->epoch++;
    pool->order = at;
    pool->joined = true;
}

static void remove_child_locked(struct pool *parent, struct pool *pool)
{
    uint32_t at = place_of_order_locked(parent, pool->order);

    assert(parent->children[at] == pool);
    parent->child_count--;
    memmove(&parent->children[at], &parent->children[at + 1],
            (parent->child_count - at) * sizeof *parent->children);
}

/* The children are sorted by number. */
void nesting_show_locked(struct pool *parent, struct members *next, struct executor *executor)
{
    for (uint32_t i = 0; i < parent->child_count; i++)
        next->members[i] = (struct member){ .pool = parent->children[i],
                                            .index = parent->children[i]->order };
    next->count = parent->child_count;
    next->is_dense = false; /* their numbers are none of workers */
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

/* Makes room for `more` children, never less than before. */
static int make_room_locked(struct pool *parent, uint32_t more)
{
    uint32_t room = parent->child_count + more;
    struct pool **children;

    if (room <= parent->child_room)
        return 0;
    children = realloc(parent->children, room * sizeof *children);
    if (!children)
        return WEIR_ENOMEM;
    parent->children = children;
    parent->child_room = room;
    return 0;
}

/* Shows the child at once, unless it joins with others: then pool_show_joined does. */
static int join_parent_locked(struct pool *parent, struct pool *pool, struct executor *executor)
{
    int status;

    if (flags_is_closing(&parent->flags))
        return WEIR_ECLOSED;
    status = make_room_locked(parent, 1);
    if (status != 0)
        return status;
    nesting_add_locked(parent, pool);
    if (parent->join_members)
        return 0;
    status = publish_children_locked(parent, executor);
    if (status == 0)
        return 0;
    remove_child_locked(parent, pool);
    parent->epoch--;
    pool->joined = false;
    return status;
}

int nesting_join_new(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;
    int status;

    if (!parent)
        return 0;
    lock_acquire(&parent->lock);
    status = join_parent_locked(parent, pool, executor);
    lock_release(&parent->lock);
    if (status == 0)
        lease_group_joined(parent, executor);
    return status;
}

/* If each pool that joins published all members, the cost of many would be quadratic. */
int pool_prepare_join(struct pool *parent, uint32_t count)
{
    int status;

    lock_acquire(&parent->lock);
    status = make_room_locked(parent, count);
    if (status == 0) {
        assert(!parent->join_members);
        parent->join_members = members_create(parent->child_count + count);
        status = parent->join_members ? 0 : WEIR_ENOMEM;
    }
    lock_release(&parent->lock);
    return status;
}

/* Only a pool that nests shows its members: see commit_nesting_locked. */
void pool_show_joined(struct pool *parent, struct executor *executor)
{
    struct members *members;

    lock_acquire(&parent->lock);
    members = parent->join_members;
    parent->join_members = NULL;
    if (members && !parent->spec) {
        nesting_show_locked(parent, members, executor);
        members = NULL;
    }
    lock_release(&parent->lock);
    members_destroy(members);
    lease_group_joined(parent, executor);
    pool_wake_waiters(parent, executor);
}

void pool_forget_join(struct pool *parent)
{
    struct members *members;

    lock_acquire(&parent->lock);
    members = parent->join_members;
    parent->join_members = NULL;
    lock_release(&parent->lock);
    members_destroy(members);
}

/* The parent keeps the figures of an ended pool: they never decrease. */
static void keep_figures_locked(struct pool *parent, struct pool *pool)
{
    struct dead_letters_figures dead = { 0 };

    dead_letters_figures(&pool->dead, &dead);
    dead_letters_absorb(&parent->dead, &dead);
    misuses_absorb(&parent->misuses, &pool->misuses);
    lock_acquire(&pool->lock); /* parents lock before children, always */
    ledger_reading_add(&parent->gone, &pool->gone);
    parent->gone_retried += pool->gone_retried;
    parent->gone_restarts += pool->gone_restarts;
    parent->escalation.reopened += pool->escalation.reopened;
    parent->epoch += pool->epoch;
    progress_add(&parent->gone_progress, &pool->gone_progress);
    leases_absorb(&parent->leases, &pool->leases);
    lock_release(&pool->lock);
}

/* Senders do not look at the members of a closing pool. So it publishes an empty array, which needs
 * no memory, and further members that leave need not be removed. */
static int show_without_locked(struct pool *parent, struct executor *executor)
{
    if (parent->spec)
        return 0;
    if (!flags_is_closing(&parent->flags))
        return publish_children_locked(parent, executor);
    if (parent->nobody)
        members_publish(&parent->members, parent->nobody, &executor->reader);
    parent->nobody = NULL;
    return 0;
}

/* WEIR_ENOMEM: the ended pool stays among the members, where it answers CLOSED. */
int nesting_leave(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;
    int status;

    if (!parent || !pool->joined)
        return 0;
    lock_acquire(&parent->lock);
    remove_child_locked(parent, pool);
    keep_figures_locked(parent, pool);
    status = show_without_locked(parent, executor);
    lock_release(&parent->lock);
    return status;
}

void nesting_lose(struct pool *pool)
{
    lock_acquire(&pool->parent->lock);
    pool->next_lost = pool->parent->lost;
    pool->parent->lost = pool;
    lock_release(&pool->parent->lock);
}
