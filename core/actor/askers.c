/* SPDX-License-Identifier: MIT */
#include "actor/askers.h"

#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/children.h"
#include "actor/find.h"
#include "actor/leases.h"
#include "actor/router.h"

weir_pid askers_part_of(const struct actor *actor)
{
    const struct owner *owner;

    if (actor->place && actor->place->child)
        actor = actor->place->child->of->root->parent;
    owner = place_member_of(actor);
    return owner ? owner->leases->pool : actor_pid(actor);
}

static bool lives(struct runtime *runtime, weir_pid part)
{
    struct actor *actor;

    return actor_find_alive(runtime, part, &actor) == 0;
}

/* True when the element is that of `part`: it was, or it was free and is now. */
static bool claim(struct runtime *runtime, _Atomic weir_pid *element, weir_pid part)
{
    weir_pid found = atomic_load_explicit(element, memory_order_relaxed);

    if (found == part)
        return true;
    if (found != 0 && lives(runtime, found))
        return false;
    return atomic_compare_exchange_strong_explicit(element, &found, part, memory_order_relaxed,
                                                   memory_order_relaxed) ||
           found == part;
}

static const struct askers *next_of(const struct askers *askers)
{
    /* [A1] Acquire pairs with the release in append: the elements are set. */
    return atomic_load_explicit(&askers->next, memory_order_acquire);
}

bool askers_visit(const struct askers *askers, bool (*visit)(void *context, weir_pid part),
                  void *context)
{
    for (; askers; askers = next_of(askers))
        for (uint32_t i = 0; i < ASKERS_EACH; i++) {
            weir_pid part = atomic_load_explicit(&askers->parts[i], memory_order_relaxed);

            if (part != 0 && visit(context, part))
                return true;
        }
    return false;
}

bool askers_lack_some(const struct askers *askers)
{
    while (next_of(askers))
        askers = next_of(askers);
    return atomic_load_explicit(&askers->more, memory_order_relaxed);
}

void askers_finish(struct askers *askers)
{
    /* Relaxed: no other thread has them. */
    struct askers *block = atomic_load_explicit(&askers->next, memory_order_relaxed);

    while (block) {
        struct askers *next = atomic_load_explicit(&block->next, memory_order_relaxed);

        free(block);
        block = next;
    }
}

/* The block behind the last one. NULL when memory is out. */
static struct askers *append(struct askers *last)
{
    struct askers *block = calloc(1, sizeof *block);
    struct askers *found = NULL;

    if (!block) {
        atomic_store_explicit(&last->more, true, memory_order_relaxed);
        return NULL;
    }
    /* [A1] */
    if (atomic_compare_exchange_strong_explicit(&last->next, &found, block, memory_order_acq_rel,
                                                memory_order_acquire))
        return block;
    free(block);
    return found;
}

static bool is_part(void *context, weir_pid part)
{
    return part == *(const weir_pid *)context;
}

static bool add_to(struct askers *block, struct runtime *runtime, weir_pid part)
{
    for (uint32_t i = 0; i < ASKERS_EACH; i++)
        if (claim(runtime, &block->parts[i], part))
            return true;
    return false;
}

static void add(struct askers *askers, struct runtime *runtime, weir_pid part)
{
    if (askers_visit(askers, is_part, &part))
        return;
    while (askers && !add_to(askers, runtime, part)) {
        struct askers *next = atomic_load_explicit(&askers->next, memory_order_acquire); /* [A1] */

        askers = next ? next : append(askers);
    }
}

void askers_note_part(struct runtime *runtime, weir_pid part, weir_pid to)
{
    struct router *router = actor_find_router(runtime, to);

    if (router)
        add(router->askers, runtime, part);
}

void askers_note(struct actor *actor, weir_pid to)
{
    struct actor_ext *ext = actor->ext;

    if (ext && ext->asked == to)
        return;
    askers_note_part(actor->runtime, askers_part_of(actor), to);
    if (ext)
        ext->asked = to;
}
