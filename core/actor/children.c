/* SPDX-License-Identifier: MIT */
#include "actor/children.h"

#include <stdlib.h>
#include <string.h>

#include "actor/place.h"

static struct children *children_of(const struct place *place)
{
    /* Acquire pairs with the release in children_get: the struct is complete. */
    return place ? atomic_load_explicit(&place->children, memory_order_acquire) : NULL;
}

struct children *children_get(struct actor *actor)
{
    struct place *place = place_get(actor);
    struct children *children = children_of(place);
    struct children *above;

    if (children || !place)
        return children;
    above = place->child ? place->child->of : NULL;
    children = aligned_alloc(alignof(struct children), sizeof *children);
    if (!children)
        return NULL;
    memset((void *)children, 0, sizeof *children);
    list_init(&children->list);
    children->depth = above ? above->depth + 1 : 1;
    lock_init_nested(&children->lock, LOCK_CHILDREN, children->depth);
    children->root = above ? above->root : children;
    children->parent = actor;
    children->parent_pid = actor_pid(actor);
    atomic_store_explicit(&place->children, children, memory_order_release);
    return children;
}

void children_destroy(struct place *place)
{
    struct children *children = children_of(place);

    if (!children)
        return;
    /* Children are left only when the runtime is destroyed. */
    for (struct list *node = children->list.next; node != &children->list;) {
        struct child *child = LIST_ENTRY(node, struct child, link);

        node = node->next;
        table_remove(&children->by_pid, &child->node);
        free(child);
    }
    lock_finish(&children->lock);
    free(children);
}

uint32_t children_count(const struct actor *actor)
{
    struct children *children = children_of(actor->place);
    uint32_t count = 0;

    if (children) {
        lock_acquire(&children->lock);
        count = children->count;
        lock_release(&children->lock);
    }
    return count;
}

bool children_are_alive(const struct actor *actor)
{
    return children_count(actor) > 0;
}

void children_add(struct children *children, struct child *child)
{
    lock_acquire(&children->lock);
    list_append(&children->list, &child->link);
    table_add(&children->by_pid, &child->node, child->pid);
    children->count++;
    lock_release(&children->lock);
}

void children_remove(struct child *child, const struct ledger_reading *reading,
                     const struct progress_sum *progress)
{
    struct children *children = child->of;

    lock_acquire(&children->lock);
    ledger_reading_add(&children->gone, reading);
    progress_add(&children->ended_progress, progress);
    list_remove(&child->link);
    table_remove(&children->by_pid, &child->node);
    children->count--;
    lock_release(&children->lock);
}

/* Depth is bounded by WEIR_CHILDREN_DEPTH_MAX. */
void children_add_ledger(struct place *place, struct ledger_reading *sum)
{
    struct children *children = children_of(place);

    if (!children)
        return;
    lock_acquire(&children->lock);
    ledger_reading_add(sum, &children->gone);
    for (struct list *node = children->list.next; node != &children->list; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct child, link)->actor;
        struct ledger_reading reading;

        ledger_read(&actor->ledger, &actor->mailbox, &reading);
        ledger_reading_add(sum, &reading);
        children_add_ledger(actor->place, sum);
    }
    lock_release(&children->lock);
}

/* Depth is bounded as above. */
bool children_wait_for_room(struct place *place)
{
    struct children *children = children_of(place);
    bool wait = place_waits_at(place) == 1 && place_throttled(place) == 0;

    if (wait || !children)
        return wait;
    lock_acquire(&children->lock);
    for (struct list *node = children->list.next; node != &children->list && !wait;
         node = node->next)
        wait = children_wait_for_room(LIST_ENTRY(node, struct child, link)->actor->place);
    lock_release(&children->lock);
    return wait;
}

static bool is_used(struct actor *actor)
{
    struct ledger_reading reading;

    ledger_read(&actor->ledger, &actor->mailbox, &reading);
    return reading.in_hand + reading.queued + reading.held > 0 || place_is_engaged(actor->place) ||
           children_are_used(actor->place);
}

/* Depth is bounded as above. */
bool children_are_used(struct place *place)
{
    struct children *children = children_of(place);
    bool used = false;

    if (!children)
        return false;
    lock_acquire(&children->lock);
    for (struct list *node = children->list.next; node != &children->list && !used;
         node = node->next)
        used = is_used(LIST_ENTRY(node, struct child, link)->actor);
    lock_release(&children->lock);
    return used;
}

/* Depth is bounded as above. */
void children_add_progress(struct place *place, struct progress_sum *sum)
{
    struct children *children = children_of(place);

    progress_add_place(sum, place);
    if (!children)
        return;
    lock_acquire(&children->lock);
    progress_add(sum, &children->ended_progress);
    for (struct list *node = children->list.next; node != &children->list; node = node->next)
        children_add_progress(LIST_ENTRY(node, struct child, link)->actor->place, sum);
    lock_release(&children->lock);
}

/* --- ending them ---------------------------------------------------------------------------- */

static void signal_locked(const struct child *child, struct executor *executor, uint32_t signals)
{
    (void)actor_signal(child->actor, actor_serial_of(child->pid), executor, signals);
}

static void signal_all(struct actor *actor, uint32_t signals)
{
    struct children *children = children_of(actor->place);

    if (!children)
        return;
    lock_acquire(&children->lock);
    for (struct list *node = children->list.next; node != &children->list; node = node->next)
        signal_locked(LIST_ENTRY(node, struct child, link), actor->executor, signals);
    lock_release(&children->lock);
}

int children_end_one(struct actor *actor, weir_pid pid, bool now)
{
    struct children *children = children_of(actor->place);
    struct table_node *node;

    if (!children)
        return WEIR_EUNKNOWN;
    lock_acquire(&children->lock);
    node = table_first(&children->by_pid, pid);
    if (node)
        signal_locked(TABLE_ENTRY(node, struct child, node), actor->executor,
                      now ? SIGNAL_STOP : SIGNAL_DRAIN);
    lock_release(&children->lock);
    return node ? 0 : WEIR_EUNKNOWN;
}

void children_stop(struct actor *actor)
{
    signal_all(actor, SIGNAL_STOP);
}

void children_reopen(struct actor *actor)
{
    signal_all(actor, SIGNAL_REOPEN);
}

/* Depth is bounded by WEIR_CHILDREN_DEPTH_MAX. */
void children_look_again(struct place *place, struct executor *executor)
{
    struct children *children = children_of(place);

    if (!children)
        return;
    lock_acquire(&children->lock);
    for (struct list *node = children->list.next; node != &children->list; node = node->next) {
        const struct child *child = LIST_ENTRY(node, struct child, link);

        signal_locked(child, executor, SIGNAL_ROOM);
        children_look_again(child->actor->place, executor);
    }
    lock_release(&children->lock);
}

bool children_drain(struct actor *actor)
{
    if (!children_are_alive(actor))
        return false;
    signal_all(actor, SIGNAL_DRAIN);
    return true;
}

weir_pid children_parent(const struct actor *actor)
{
    const struct child *child = actor->place ? actor->place->child : NULL;

    return child ? child->of->parent_pid : 0;
}
