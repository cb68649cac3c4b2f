/* SPDX-License-Identifier: MIT */
#include "actor/child.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/children.h"
#include "actor/end.h"
#include "actor/link.h"
#include "actor/spawn.h"

#define SETTINGS_MAX ((uint32_t)1024 * 1024) /* as of a behaviour in a file */

/* The size of struct weir_behaviour in version 1.0: up to and including `close`. */
#define BEHAVIOUR_SIZE_MIN (offsetof(struct weir_behaviour, close) + sizeof(void (*)(void)))
#define OPTIONS_SIZE_MIN sizeof(struct weir_spawn_options)

/* The parts of a child's spec. */
struct use {
    struct weir_behaviour behaviour;
    struct spec *parents; /* counted: keeps the plugin and the parent's settings */
    alignas(16) unsigned char settings[];
};

/* The child's last turn. After children_remove the parent, and the list with it, may be freed. */
static void ended(struct place *place)
{
    struct child *child = place->child;
    struct children *children = child->of;
    struct actor *actor = place->actor, *parent = children->parent;
    weir_pid parent_pid = children->parent_pid;
    struct progress_sum progress = { 0 };
    struct ledger_reading reading;

    ledger_read(&actor->ledger, &actor->mailbox, &reading);
    children_add_ledger(place, &reading);
    children_add_progress(place, &progress);
    /* Relaxed: a bound, which orders nothing. */
    atomic_fetch_sub_explicit(&children->root->used, 1, memory_order_relaxed);
    children_remove(child, &reading, &progress);
    (void)actor_signal(parent, actor_serial_of(parent_pid), actor->executor, SIGNAL_CHILD);
    free(child);
}

static const struct owner_ops owner_ops = { .ended = ended };

static void release(void *owner)
{
    struct use *use = owner;

    spec_unref(use->parents);
    free(use);
}

static void copy_behaviour(struct use *use, const struct weir_spawn_options *options,
                           const struct spec *parents)
{
    size_t size = options->behaviour_size;

    memcpy(&use->behaviour, options->behaviour,
           size < sizeof use->behaviour ? size : sizeof use->behaviour);
    use->behaviour.options = NULL;
    use->behaviour.produce = NULL;
    /* The parent's outputs: in our layout, and with its bindings. */
    use->behaviour.outputs = parents->behaviour->outputs;
}

static struct spec *make_spec(const struct weir_spawn_options *options, struct spec *parents)
{
    uint32_t size = options->behaviour->settings_size;
    /* calloc aligns to 16, as the member does. */
    struct use *use = calloc(1, sizeof *use + size);
    struct spec *spec;

    if (!use)
        return NULL;
    copy_behaviour(use, options, parents);
    if (options->settings)
        memcpy(use->settings, options->settings, size);
    spec = spec_create(&use->behaviour, use->settings);
    if (!spec) {
        free(use);
        return NULL;
    }
    use->parents = spec_ref(parents);
    spec->plugin = parents->plugin;
    spec->version = parents->version;
    spec->generation = parents->generation;
    spec->label = parents->label;
    spec->release = release;
    spec->owner = use;
    return spec;
}

static struct place *make_place(const struct actor *parent, const struct weir_behaviour *behaviour,
                                struct child *child, uint32_t index)
{
    const struct place *above = parent->place;
    char path[PLACE_PATH_MAX];
    struct place *place;

    (void)snprintf(path, sizeof path, "%.70s/%.40s:%u", above->path,
                   behaviour->name ? behaviour->name : "", index);
    if (place_create(path, index, &place) != 0)
        return NULL;
    place->label = above->label;
    place->dead = above->dead;
    place->misuses = above->misuses;
    place->wiring = above->wiring;
    place->child = child;
    child->owner.ops = &owner_ops;
    place->owner = &child->owner;
    return place;
}

/* Makes a child that is not in the list yet; `executor` is the parent's. */
static int create(struct actor *parent, struct children *children,
                  const struct weir_spawn_options *options, struct child *child)
{
    struct spec *spec = make_spec(options, parent->spec);
    struct actor_options made = { .dispatcher = parent->dispatcher,
                                  .spec = spec,
                                  .kind = ACTOR_WORKER,
                                  .limit = options->limit };
    int status = WEIR_ENOMEM;

    if (!spec)
        return WEIR_ENOMEM;
    made.place = make_place(parent, options->behaviour, child, children->next_index);
    if (made.place)
        status = actor_create(parent->runtime, parent->executor, &made, &child->actor);
    if (status != 0)
        place_destroy(made.place);
    spec_unref(spec);
    return status;
}

/* Makes the child and adds it to the list, without starting it. */
static int make(struct actor *parent, struct children *children,
                const struct weir_spawn_options *options, struct child **out)
{
    struct child *child = calloc(1, sizeof *child);
    int status = WEIR_ENOMEM;

    if (!child)
        return WEIR_ENOMEM;
    child->of = children;
    status = create(parent, children, options, child);
    if (status != 0) {
        free(child);
        return status;
    }
    child->pid = actor_pid(child->actor);
    if ((options->flags & WEIR_SPAWN_LINKED) && link_add_child(parent, child->actor) != 0) {
        end_unborn(child->actor, parent->executor);
        free(child);
        return WEIR_ENOMEM;
    }
    children_add(children, child);
    children->next_index++;
    *out = child;
    return 0;
}

static int check(const struct actor *actor, const struct weir_spawn_options *options)
{
    const struct weir_behaviour *behaviour;

    if (options->size < OPTIONS_SIZE_MIN || options->behaviour_size < BEHAVIOUR_SIZE_MIN)
        return WEIR_EINVALID;
    behaviour = options->behaviour;
    if (!behaviour || !behaviour->handle || behaviour->settings_size > SETTINGS_MAX)
        return WEIR_EINVALID;
    return actor->flags & ACTOR_CLOSING ? WEIR_ECLOSED : 0;
}

/* Takes one child from the budget. */
static bool may_have_another(struct children *children)
{
    _Atomic uint32_t *used = &children->root->used;

    if (children->depth > WEIR_CHILDREN_DEPTH_MAX)
        return false;
    /* Relaxed: as in `ended`. */
    if (atomic_fetch_add_explicit(used, 1, memory_order_relaxed) < WEIR_CHILDREN_MAX)
        return true;
    atomic_fetch_sub_explicit(used, 1, memory_order_relaxed);
    return false;
}

int child_spawn(struct actor *actor, const struct weir_spawn_options *options, weir_pid *out)
{
    struct children *children;
    struct child *child;
    weir_pid pid;
    int status = check(actor, options);

    if (status != 0)
        return status;
    children = children_get(actor);
    if (!children)
        return WEIR_ENOMEM;
    if (!may_have_another(children))
        return WEIR_EFULL;
    status = make(actor, children, options, &child);
    if (status != 0) {
        atomic_fetch_sub_explicit(&children->root->used, 1, memory_order_relaxed);
        return status;
    }
    pid = child->pid;
    /* It accepts messages from now on, since the parent may send to its PID. */
    mailbox_open(&child->actor->mailbox);
    actor_begin(child->actor, actor->executor);
    *out = pid; /* the child itself may have ended already */
    return 0;
}
