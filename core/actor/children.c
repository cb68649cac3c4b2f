#include "actor/children.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/end.h"
#include "actor/link.h"
#include "actor/progress.h"
#include "actor/runtime.h"
#include "actor/spawn.h"

#define SETTINGS_MAX ((uint32_t)1024 * 1024) /* as of a behaviour in a file */

/* The size of struct weir_behaviour in version 1.0: up to and including `close`. */
#define BEHAVIOUR_SIZE_MIN (offsetof(struct weir_behaviour, close) + sizeof(void (*)(void)))
#define OPTIONS_SIZE_MIN sizeof(struct weir_spawn_options)

struct children {
    pthread_mutex_t lock;
    struct list list;                   /* lock */
    struct table by_pid;                /* lock: the same */
    uint32_t count;                     /* lock */
    struct ledger_reading gone;         /* lock: of ended children, and theirs */
    struct progress_sum ended_progress; /* lock: of ended children: progress and emitted messages */
    uint32_t next_index;                /* owner: numbers its children */
    uint32_t depth;                     /* const: of the children; the first ones have 1 */
    struct children *root;              /* const: the ancestor with the common budget */
    _Atomic uint32_t used;              /* of the root: counts all descendants */
    struct actor *parent;               /* const */
    weir_pid parent_pid;                /* const */
};

struct child {
    struct owner owner;     /* of the actor */
    struct list link;       /* lock of `of` */
    struct table_node node; /* likewise */
    struct children *of;
    struct actor *actor; /* const */
    weir_pid pid;        /* const */
};

/* The parts of a child's spec. */
struct use {
    struct weir_behaviour behaviour;
    struct spec *parents; /* counted: keeps the plugin and the parent's settings */
    alignas(16) unsigned char settings[];
};

/* --- the list ------------------------------------------------------------------------------- */

static struct children *children_of(const struct place *place)
{
    /* Acquire pairs with the release in get: the struct is complete. */
    return place ? atomic_load_explicit(&place->children, memory_order_acquire) : NULL;
}

/* Created at the first call; NULL when memory is out. */
static struct children *get(struct actor *actor)
{
    struct place *place = place_get(actor);
    struct children *children = children_of(place);
    struct children *above;

    if (children || !place)
        return children;
    above = place->child ? place->child->of : NULL;
    children = calloc(1, sizeof *children);
    if (!children)
        return NULL;
    pthread_mutex_init(&children->lock, NULL);
    list_init(&children->list);
    children->depth = above ? above->depth + 1 : 1;
    children->root = above ? above->root : children;
    children->parent = actor;
    children->parent_pid = actor_pid(actor);
    atomic_store_explicit(&place->children, children, memory_order_release);
    return children;
}

void children_destroy(struct children *children)
{
    if (!children)
        return;
    /* Children are left only when the runtime is destroyed. */
    for (struct list *node = children->list.next; node != &children->list;) {
        struct child *child = LIST_ENTRY(node, struct child, link);

        node = node->next;
        table_remove(&children->by_pid, &child->node);
        free(child);
    }
    pthread_mutex_destroy(&children->lock);
    free(children);
}

uint32_t children_count(const struct actor *actor)
{
    struct children *children = children_of(actor->place);
    uint32_t count = 0;

    if (children) {
        pthread_mutex_lock(&children->lock);
        count = children->count;
        pthread_mutex_unlock(&children->lock);
    }
    return count;
}

bool children_are_alive(const struct actor *actor)
{
    return children_count(actor) > 0;
}

static void add_locked(struct children *children, struct child *child)
{
    child->of = children;
    list_append(&children->list, &child->link);
    table_add(&children->by_pid, &child->node, child->pid);
    children->count++;
}

/* The child's last turn. After the unlock the parent, and the list with it, may be freed. */
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
    progress_add_place(&progress, place);
    /* Relaxed: a bound, which orders nothing. */
    atomic_fetch_sub_explicit(&children->root->used, 1, memory_order_relaxed);
    pthread_mutex_lock(&children->lock);
    ledger_reading_add(&children->gone, &reading);
    progress_add(&children->ended_progress, &progress);
    list_remove(&child->link);
    table_remove(&children->by_pid, &child->node);
    children->count--;
    pthread_mutex_unlock(&children->lock);
    (void)actor_signal(parent, actor_serial_of(parent_pid), actor->executor, SIGNAL_CHILD);
    free(child);
}

static const struct owner_ops owner_ops = { .ended = ended };

/* Depth is bounded by WEIR_CHILDREN_DEPTH_MAX. */
void children_add_ledger(struct place *place, struct ledger_reading *sum)
{
    struct children *children = children_of(place);

    if (!children)
        return;
    pthread_mutex_lock(&children->lock);
    ledger_reading_add(sum, &children->gone);
    for (struct list *node = children->list.next; node != &children->list; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct child, link)->actor;
        struct ledger_reading reading;

        ledger_read(&actor->ledger, &actor->mailbox, &reading);
        ledger_reading_add(sum, &reading);
        children_add_ledger(actor->place, sum);
    }
    pthread_mutex_unlock(&children->lock);
}

/* Depth is bounded as above. */
void children_add_progress(struct place *place, struct progress_sum *sum)
{
    struct children *children = children_of(place);

    if (!children)
        return;
    pthread_mutex_lock(&children->lock);
    progress_add(sum, &children->ended_progress);
    for (struct list *node = children->list.next; node != &children->list; node = node->next)
        progress_add_place(sum, LIST_ENTRY(node, struct child, link)->actor->place);
    pthread_mutex_unlock(&children->lock);
}

/* --- making one ----------------------------------------------------------------------------- */

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
    pthread_mutex_lock(&children->lock);
    add_locked(children, child);
    pthread_mutex_unlock(&children->lock);
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

int children_spawn(struct actor *actor, const struct weir_spawn_options *options, weir_pid *out)
{
    struct children *children;
    struct child *child;
    weir_pid pid;
    int status = check(actor, options);

    if (status != 0)
        return status;
    children = get(actor);
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
    pthread_mutex_lock(&children->lock);
    for (struct list *node = children->list.next; node != &children->list; node = node->next)
        signal_locked(LIST_ENTRY(node, struct child, link), actor->executor, signals);
    pthread_mutex_unlock(&children->lock);
}

int children_end_one(struct actor *actor, weir_pid pid, bool now)
{
    struct children *children = children_of(actor->place);
    struct table_node *node;

    if (!children)
        return WEIR_EUNKNOWN;
    pthread_mutex_lock(&children->lock);
    node = table_first(&children->by_pid, pid);
    if (node)
        signal_locked(TABLE_ENTRY(node, struct child, node), actor->executor,
                      now ? SIGNAL_STOP : SIGNAL_DRAIN);
    pthread_mutex_unlock(&children->lock);
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
    pthread_mutex_lock(&children->lock);
    for (struct list *node = children->list.next; node != &children->list; node = node->next) {
        const struct child *child = LIST_ENTRY(node, struct child, link);

        signal_locked(child, executor, SIGNAL_ROOM);
        children_look_again(child->actor->place, executor);
    }
    pthread_mutex_unlock(&children->lock);
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
