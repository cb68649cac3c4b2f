/* SPDX-License-Identifier: MIT */
#include "actor/given_up.h"

#include <stdlib.h>

struct given_up_note {
    struct table_node node;
    weir_pid requester; /* 0: an outside thread */
    uint64_t reference;
};

void given_up_init(struct given_up *given_up)
{
    *given_up = (struct given_up){ .count = 0 };
    lock_init(&given_up->lock, LOCK_GIVEN_UP);
}

static struct given_up_note *note_of(struct table_node *node)
{
    return TABLE_ENTRY(node, struct given_up_note, node);
}

void given_up_finish(struct given_up *given_up)
{
    struct table_node *node = table_take_all(&given_up->notes);

    while (node) {
        struct given_up_note *note = note_of(node);

        node = node->next;
        free(note);
    }
    lock_finish(&given_up->lock);
}

/* The factor is odd and spreads the low bits over the high. */
static uint64_t hash_of(weir_pid requester, uint64_t reference)
{
    return (requester ^ (reference << 20 | reference >> 44)) * 0x9e3779b97f4a7c15ull;
}

static struct given_up_note *find_locked(const struct given_up *given_up, weir_pid requester,
                                         uint64_t reference)
{
    struct table_node *node = table_first(&given_up->notes, hash_of(requester, reference));

    for (; node; node = table_next(node))
        if (note_of(node)->requester == requester && note_of(node)->reference == reference)
            return note_of(node);
    return NULL;
}

/* Relaxed: changes under the lock. */
static void count_locked(struct given_up *given_up, int32_t by)
{
    uint32_t count = atomic_load_explicit(&given_up->count, memory_order_relaxed);

    atomic_store_explicit(&given_up->count, count + (uint32_t)by, memory_order_relaxed);
}

static void add_locked(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    struct given_up_note *note = malloc(sizeof *note);

    if (!note)
        return;
    *note = (struct given_up_note){ .requester = requester, .reference = reference };
    table_add(&given_up->notes, &note->node, hash_of(requester, reference));
    count_locked(given_up, 1);
    atomic_store_explicit(&given_up->added, given_up_added(given_up) + 1, memory_order_relaxed);
}

void given_up_add(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    lock_acquire(&given_up->lock);
    if (!find_locked(given_up, requester, reference))
        add_locked(given_up, requester, reference);
    lock_release(&given_up->lock);
}

static bool look(struct given_up *given_up, weir_pid requester, uint64_t reference, bool takes)
{
    struct given_up_note *note;
    bool found;

    if (!given_up_any(given_up))
        return false;
    lock_acquire(&given_up->lock);
    note = find_locked(given_up, requester, reference);
    found = note != NULL;
    if (found && takes) {
        table_remove(&given_up->notes, &note->node);
        count_locked(given_up, -1);
        free(note);
    }
    lock_release(&given_up->lock);
    return found;
}

bool given_up_has(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    return look(given_up, requester, reference, false);
}

bool given_up_take(struct given_up *given_up, weir_pid requester, uint64_t reference)
{
    return look(given_up, requester, reference, true);
}
