/* SPDX-License-Identifier: MIT */
#include "embed/part.h"

#include <stdlib.h>

#include "embed/usual.h"

static void destroy_what_it_is(struct part *part, struct executor *executor)
{
    switch (part->kind) {
    case PART_POOL:
        pool_destroy(part->pool, executor);
        break;
    case PART_STANDALONE:
        standalone_destroy(part->standalone);
        break;
    default:
        source_destroy(part->source, executor);
    }
}

void part_unref(struct part *part)
{
    struct executor *executor;

    /* Each release pairs with the acquire of the last one: all uses came before. */
    if (!part || atomic_fetch_sub_explicit(&part->references, 1, memory_order_acq_rel) != 1)
        return;
    executor = runtime_enter(part->runtime->core);
    if (executor) { /* otherwise it is leaked: no other thread can reach it */
        destroy_what_it_is(part, executor);
        runtime_leave(executor);
    }
    levels_remove(&part->runtime->levels, part->level);
    free(part);
}

static struct part *ref(struct part *part)
{
    /* Relaxed: it has one of the runtime's, under the lock. */
    atomic_fetch_add_explicit(&part->references, 1, memory_order_relaxed);
    return part;
}

int part_begin(struct weir_runtime *runtime, struct part **out)
{
    struct part *part = calloc(1, sizeof *part);

    if (!part)
        return WEIR_ENOMEM;
    part->runtime = runtime;
    part->open_timeout_ms = USUAL_OPEN_TIMEOUT_MS;
    list_init(&part->link);
    list_init(&part->members);
    list_init(&part->member_link);
    atomic_init(&part->references, 1);
    lock_acquire(&runtime->lock);
    if (!runtime->closing) {
        *out = part;
        return 0;
    }
    lock_release(&runtime->lock);
    free(part);
    return WEIR_ECLOSED;
}

static void add_locked(struct weir_runtime *runtime, struct part *part)
{
    struct part *parent = part->parent ? part_find_locked(runtime, part->parent) : NULL;

    list_append(&runtime->parts, &part->link);
    table_add(&runtime->by_pid, &part->node, part->pid);
    if (parent)
        list_append(&parent->members, &part->member_link);
    /* A wait for a pool above is a wait for this part, too. */
    for (; parent; parent = part_find_locked(runtime, parent->parent))
        if (parent->open_timeout_ms < part->open_timeout_ms)
            parent->open_timeout_ms = part->open_timeout_ms;
}

void part_end_locked(struct part *part, int status)
{
    struct weir_runtime *runtime = part->runtime;

    if (status == 0)
        add_locked(runtime, part);
    lock_release(&runtime->lock);
    if (status == 0)
        return;
    levels_remove(&runtime->levels, part->level);
    free(part);
}

struct part *part_find_locked(struct weir_runtime *runtime, weir_pid pid)
{
    struct table_node *node = table_first(&runtime->by_pid, pid);

    return node ? TABLE_ENTRY(node, struct part, node) : NULL;
}

struct part *part_find(struct weir_runtime *runtime, weir_pid pid)
{
    struct part *part;

    lock_acquire(&runtime->lock);
    part = part_find_locked(runtime, pid);
    if (part)
        (void)ref(part);
    lock_release(&runtime->lock);
    return part;
}

struct part *part_find_pool(struct weir_runtime *runtime, weir_pid pid)
{
    struct part *part = part_find(runtime, pid);

    if (!part || part->kind == PART_POOL)
        return part;
    part_unref(part);
    return NULL;
}

struct part **part_list(struct weir_runtime *runtime, uint32_t *out_count)
{
    uint32_t count = 0;
    struct part **list;

    lock_acquire(&runtime->lock);
    for (struct list *node = runtime->parts.next; node != &runtime->parts; node = node->next)
        count++;
    list = malloc((count + 1) * sizeof(struct part *));
    *out_count = 0;
    for (struct list *node = runtime->parts.next; list && node != &runtime->parts;
         node = node->next)
        list[(*out_count)++] = ref(LIST_ENTRY(node, struct part, link));
    lock_release(&runtime->lock);
    return list;
}

/* --- forgetting ----------------------------------------------------------------------------- */

void part_unlink_locked(struct part *part)
{
    list_remove(&part->link);
    list_remove(&part->member_link);
    table_remove(&part->runtime->by_pid, &part->node);
}

/* Removes one part that is nested in this one, or the part itself, the deepest first; NULL: it was
 * forgotten already. */
static struct part *unlink_locked(struct part *part)
{
    if (list_empty(&part->link))
        return NULL;
    while (!list_empty(&part->members))
        part = LIST_ENTRY(part->members.next, struct part, member_link);
    part_unlink_locked(part);
    return part;
}

void part_forget(struct part *part)
{
    struct weir_runtime *runtime = part->runtime;
    struct ledger_reading reading;
    struct part *unlinked;
    bool is_last;

    part_ref_ledger(part_ref(part), &reading);
    do {
        lock_acquire(&runtime->lock);
        unlinked = unlink_locked(part);
        /* A parent keeps the figures of the parts that were nested in it. */
        if (unlinked == part && part->parent == 0)
            ledger_reading_add(&runtime->gone, &reading);
        lock_release(&runtime->lock);
        is_last = !unlinked || unlinked == part;
        part_unref(unlinked);
    } while (!is_last);
}

/* --- one for all kinds ---------------------------------------------------------------------- */

struct part_ref part_ref(const struct part *part)
{
    struct part_ref ref = { .kind = part->kind };

    if (part->kind == PART_POOL)
        ref.pool = part->pool;
    else if (part->kind == PART_STANDALONE)
        ref.standalone = part->standalone;
    else
        ref.source = part->source;
    return ref;
}

void part_close(struct part *part)
{
    struct executor *executor = runtime_enter(part->runtime->core);

    if (!executor)
        return;
    part_ref_close(part_ref(part), executor);
    runtime_leave(executor);
}

void part_stop_now(struct part *part)
{
    struct executor *executor = runtime_enter(part->runtime->core);

    if (!executor)
        return;
    part_ref_stop_now(part_ref(part), executor);
    runtime_leave(executor);
}
