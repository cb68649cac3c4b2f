#include "actor/askers.h"

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

static void add(struct askers *askers, struct runtime *runtime, weir_pid part)
{
    for (uint32_t i = 0; i < ASKERS_MAX; i++)
        if (claim(runtime, &askers->parts[i], part))
            return;
    atomic_store_explicit(&askers->more, true, memory_order_relaxed);
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
