#include "pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/children.h"
#include "actor/end.h"
#include "actor/room.h"
#include "actor/runtime.h"
#include "pool/escalation.h"
#include "pool/manager.h"
#include "pool/nesting.h"
#include "pool/outcome.h"
#include "pool/places.h"
#include "pool/pool_router.h"
#include "pool/resize.h"
#include "pool/subscription.h"

/* --- creating ------------------------------------------------------------------------------- */

static struct wiring *make_wiring(const struct pool_options *options)
{
    struct wiring *wiring = wiring_create(options->output_count);

    for (uint32_t i = 0; wiring && options->outputs && i < options->output_count; i++)
        wiring->bindings[i] = options->outputs[i];
    return wiring;
}

static int begin_outlets(struct pool *pool, const struct pool_options *options)
{
    struct wiring *wiring = make_wiring(options);
    int status = wiring ? outlet_begin(&pool->outlets, options->spec, wiring) : WEIR_ENOMEM;

    if (status != 0)
        wiring_destroy(wiring);
    return status;
}

static void init_fields(struct pool *pool, struct runtime *runtime,
                        const struct pool_options *options)
{
    pool->runtime = runtime;
    pool->router = (struct router){ &pool_router_ops, &pool->waiters };
    pool->number = atomic_fetch_add(&runtime->pool_numbers, 1);
    pool->parent = options->parent;
    pool->depth = options->parent ? options->parent->depth + 1 : 0;
    pool->dispatcher = options->dispatcher;
    pool->spec = options->spec ? spec_ref(options->spec) : NULL;
    pool->settings = options->settings;
    escalation_complete(&pool->settings.restart);
    (void)snprintf(pool->path, sizeof pool->path, "%s", options->path);
    atomic_init(&pool->route, options->settings.route);
    pool->owner.ops = &pool_owner_ops;
    pool->owner.above = options->parent ? &options->parent->owner : NULL;
    pool->owner.waiters = &pool->waiters;
    atomic_init(&pool->owner.shares, options->settings.route == WEIR_ROUTE_PULL);
    pool->managing.ops = &manager_owner_ops;
    atomic_init(&pool->on_trial, options->apart);
    atomic_init(&pool->members, members_create(0));
    atomic_init(&pool->holders, 1);
    pool->nobody = members_create(0);
    waiters_init(&pool->waiters);
    pulling_init(&pool->pull);
    dead_letters_init(&pool->dead, options->dead_letters);
    pthread_mutex_init(&pool->lock, NULL);
    list_init(&pool->places);
    list_init(&pool->leavers);
    list_init(&pool->closers);
    list_init(&pool->prepared);
}

/* Each release pairs with the acquire of the last one: all uses were before. */
static bool is_last_holder(struct pool *pool)
{
    return atomic_fetch_sub_explicit(&pool->holders, 1, memory_order_acq_rel) == 1;
}

/* Frees the pool and the ended pools below it that are still shown: depth is bounded by the
 * configuration. */
static void free_pool(struct pool *pool, struct executor *executor)
{
    while (pool->lost) {
        struct pool *lost = pool->lost;

        pool->lost = lost->next_lost;
        if (is_last_holder(lost))
            free_pool(lost, executor);
    }
    pulling_finish(&pool->pull, executor);
    members_destroy(atomic_load(&pool->members));
    members_destroy(pool->join_members);
    members_destroy(pool->nobody);
    outlet_end(&pool->outlets);
    waiters_finish(&pool->waiters);
    dead_letters_finish(&pool->dead);
    pthread_mutex_destroy(&pool->lock);
    spec_unref(pool->spec);
    free(pool->children);
    free(pool);
}

/* The place of the pool's own actor. It is no member: `pool` stays NULL, and so does the wiring. */
static int make_manager_place(struct pool *pool, const struct pool_options *options)
{
    int status;

    pool->label = tag_table_label(&pool->runtime->tags, pool->path);
    status = pool->label ? place_create(pool->path, 0, &pool->manager) : WEIR_ENOMEM;
    if (status != 0)
        return status;
    pool->manager->owner = &pool->managing;
    pool->manager->label = pool->label;
    pool->has_manager = options->manager != NULL;
    pool->manager->gives_notice = true;
    pool->manager->dead = &pool->dead;
    pool->manager->opener = options->opener;
    return 0;
}

static int create_actor(struct pool *pool, struct executor *executor,
                        const struct pool_options *options)
{
    struct actor_options actor = {
        .dispatcher = options->manager_dispatcher ? options->manager_dispatcher
                                                  : options->dispatcher,
        .spec = options->manager,
        .router = &pool->router,
        .kind = ACTOR_POOL,
    };
    int status = make_manager_place(pool, options);

    if (status != 0)
        return status;
    actor.place = pool->manager;
    status = actor_create(pool->runtime, executor, &actor, &pool->actor);
    if (status == 0)
        pool->pid = actor_pid(pool->actor);
    else
        place_destroy(pool->manager);
    return status;
}

static int check_options(const struct pool_options *options)
{
    if (!options->path || !options->path[0] || strlen(options->path) >= PLACE_PATH_MAX - 16)
        return WEIR_EINVALID;
    if (options->settings.route == WEIR_ROUTE_PULL && !options->spec)
        return WEIR_EINVALID;
    if (options->size > POOL_SIZE_MAX || (options->spec && !options->spec->behaviour->handle) ||
        (options->manager && !options->manager->behaviour->handle))
        return WEIR_EINVALID;
    return 0;
}

/* A parent whose members still show an ended pool keeps it until the parent itself is freed. */
static void lose(struct pool *pool)
{
    pthread_mutex_lock(&pool->parent->lock);
    pool->next_lost = pool->parent->lost;
    pool->parent->lost = pool;
    pthread_mutex_unlock(&pool->parent->lock);
}

/*
 * Undoes a creation that failed after the actor was made; senders may use the pool now. If memory
 * was out to publish the parent's members without it, the pool is still `shown`: it answers CLOSED
 * from now on, and is freed with its parent.
 */
static void uncreate(struct pool *pool, struct list *made, bool shown, struct executor *executor)
{
    resize_unmake_locked(made, executor);
    if (shown)
        atomic_store_explicit(&pool->closing, true, memory_order_release);
    end_unborn(pool->actor, executor);
    if (!shown) {
        pool_destroy(pool, executor);
        return;
    }
    lose(pool); /* in place of its creator */
}

/* Starts the workers. Takes `next`. */
static void enliven_locked(struct pool *pool, struct executor *executor, struct dispatcher *opener,
                           struct list *made, struct members *next)
{
    pool->target = pool->spec ? next->count : 0;
    pulling_set_bounds_locked(pool);
    resize_begin_locked(made, opener, executor);
    while (!list_empty(made)) {
        struct list *node = made->next;

        list_remove(node);
        list_append(&pool->places, node);
    }
    resize_publish_locked(pool, next, executor);
}

/* Fills a pool that has joined its parent already: if the parent has closed it meanwhile, it stays
 * empty. */
static int populate_locked(struct pool *pool, struct executor *executor,
                           const struct pool_options *options, struct list *made)
{
    uint32_t size = options->size;
    bool is_closed = atomic_load_explicit(&pool->closing, memory_order_relaxed);
    struct members *next = members_create(is_closed ? 0 : size);
    int status = next ? 0 : WEIR_ENOMEM;

    if (status == 0 && pool->spec && !is_closed)
        status = resize_make_locked(pool, executor, pool->spec, size, made);
    if (status == 0)
        status = names_add(&pool->runtime->names, pool->path, pool->pid, &executor->reader);
    if (status == 0)
        enliven_locked(pool, executor, options->opener, made, next);
    else
        members_destroy(next);
    return status;
}

/* Joins the parent first and without a lock of its own: parents lock before children, always. */
static int populate(struct pool *pool, struct executor *executor,
                    const struct pool_options *options, struct list *made, bool *out_shown)
{
    int status = options->subscribe ? subscription_prepare(pool, executor, options->subscribe) : 0;

    *out_shown = false;
    if (status == 0 && !options->apart)
        status = nesting_join_new(pool, executor);
    if (status != 0)
        return status;
    pthread_mutex_lock(&pool->lock);
    status = populate_locked(pool, executor, options, made);
    pthread_mutex_unlock(&pool->lock);
    if (status != 0 && pool->parent) {
        *out_shown = nesting_leave(pool, executor) != 0;
        pool_end_if_empty(pool->parent, executor);
    }
    return status;
}

int pool_create(struct runtime *runtime, struct executor *executor,
                const struct pool_options *options, struct pool **out)
{
    struct list made;
    struct pool *pool;
    bool shown;
    int status = check_options(options);

    if (status != 0)
        return status;
    pool = calloc(1, sizeof *pool);
    if (!pool)
        return WEIR_ENOMEM;
    list_init(&made);
    init_fields(pool, runtime, options);
    status = begin_outlets(pool, options);
    if (status == 0)
        status = atomic_load(&pool->members) && pool->nobody ? create_actor(pool, executor, options)
                                                             : WEIR_ENOMEM;
    if (status != 0) {
        free_pool(pool, executor);
        return status;
    }
    status = populate(pool, executor, options, &made, &shown);
    if (status != 0) {
        subscription_abort(pool, executor);
        uncreate(pool, &made, shown, executor);
        return status;
    }
    if (options->subscribe)
        subscription_commit(pool, executor, options->subscribe, options->fan_out);
    actor_begin(pool->actor, executor);
    *out = pool;
    return 0;
}

struct pool *pool_find(struct runtime *runtime, weir_pid pid)
{
    struct router *router = actor_find_router(runtime, pid);

    return router ? pool_of_router(router) : NULL;
}

void pool_end_trial(struct pool *pool)
{
    /* Release pairs with the acquire in escalation_appeal. */
    atomic_store_explicit(&pool->on_trial, false, memory_order_release);
}

/* --- settings ------------------------------------------------------------------------------- */

/* Wakes the senders that wait for one worker alone; the caller wakes those of the pool. */
static void set_limit_locked(struct list *places, uint32_t limit, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct place, link)->actor;

        mailbox_set_limit(&actor->mailbox, limit);
        room_wake(actor, UINT32_MAX, executor);
    }
}

void pool_set_limit_locked(struct pool *pool, uint32_t limit, struct executor *executor)
{
    pool->settings.mailbox = limit;
    set_limit_locked(&pool->places, limit, executor);
    set_limit_locked(&pool->prepared, limit, executor);
    pulling_set_bounds_locked(pool);
}

static void set_bytes_limit_locked(struct list *places, uint64_t limit, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct place, link)->actor;

        mailbox_set_bytes_limit(&actor->mailbox, limit);
        room_wake(actor, UINT32_MAX, executor);
    }
}

void pool_set_bytes_limit_locked(struct pool *pool, uint64_t limit, struct executor *executor)
{
    pool->settings.mailbox_bytes = limit;
    set_bytes_limit_locked(&pool->places, limit, executor);
    set_bytes_limit_locked(&pool->prepared, limit, executor);
    pulling_set_bounds_locked(pool);
}

void pool_set_limit(struct pool *pool, uint32_t limit, struct executor *executor)
{
    pthread_mutex_lock(&pool->lock);
    pool_set_limit_locked(pool, limit, executor);
    pthread_mutex_unlock(&pool->lock);
    pool_wake_waiters(pool, executor);
}

void pool_set_route(struct pool *pool, enum weir_route route)
{
    atomic_store_explicit(&pool->route, route, memory_order_relaxed);
    atomic_store_explicit(&pool->owner.shares, route == WEIR_ROUTE_PULL, memory_order_relaxed);
    fullness_forget(&pool->owner);
}

/* Makes workers that wait for room at a former target retry at the present target. */
static void look_again_locked(struct list *places, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);
        struct actor *actor = place->actor;

        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_ROOM);
        children_look_again(place, executor);
    }
}

void pool_look_again_locked(struct pool *pool, struct executor *executor)
{
    look_again_locked(&pool->places, executor);
    look_again_locked(&pool->leavers, executor);
    look_again_locked(&pool->closers, executor);
}

void pool_set_wiring_locked(struct pool *pool, struct wiring *wiring, struct executor *executor)
{
    outlet_set_locked(&pool->outlets, wiring, executor);
    pool_look_again_locked(pool, executor);
}

void pool_set_wiring(struct pool *pool, struct wiring *wiring, struct executor *executor)
{
    pthread_mutex_lock(&pool->lock);
    pool_set_wiring_locked(pool, wiring, executor);
    pthread_mutex_unlock(&pool->lock);
}

void pool_pause(struct pool *pool, bool paused, struct executor *executor)
{
    pthread_mutex_lock(&pool->lock);
    /* Release pairs with the acquire in route.c: a message that is sent after this call returned is
     * refused. */
    atomic_store_explicit(&pool->paused, paused, memory_order_release);
    pthread_mutex_unlock(&pool->lock);
    if (!paused)
        pool_wake_waiters(pool, executor);
}

/* --- ending --------------------------------------------------------------------------------- */

static bool is_empty_locked(struct pool *pool)
{
    return list_empty(&pool->places) && list_empty(&pool->leavers) && list_empty(&pool->closers) &&
           list_empty(&pool->prepared) && pool->child_count == 0;
}

void pool_end_if_empty(struct pool *pool, struct executor *executor)
{
    uint32_t signals;
    bool ends;

    pthread_mutex_lock(&pool->lock);
    signals = pool->killed ? SIGNAL_SHUTDOWN | SIGNAL_KILL : SIGNAL_SHUTDOWN;
    ends = atomic_load_explicit(&pool->closing, memory_order_relaxed) && !pool->ending &&
           is_empty_locked(pool);
    pool->ending |= ends;
    pthread_mutex_unlock(&pool->lock);
    if (!ends)
        return;
    pulling_discard(pool, executor);
    (void)actor_signal(pool->actor, actor_serial_of(pool->pid), executor, signals);
}

void pool_actor_ended(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;

    if (atomic_load_explicit(&pool->has_subscribed, memory_order_acquire))
        events_forget(pool->runtime, executor, pool->pid);
    pthread_mutex_lock(&pool->lock);
    pool->manager = NULL;
    pthread_mutex_unlock(&pool->lock);
    pool_give_up_name(pool, executor);
    waiters_dissolve(&pool->waiters, executor);
    if (nesting_leave(pool, executor) != 0) {
        /* Relaxed: its creator, who may release it, sees it ended before that. */
        atomic_fetch_add_explicit(&pool->holders, 1, memory_order_relaxed);
        lose(pool);
    }
    /* Done before the pool above can end: when that has ended, all pools in it have. */
    pthread_mutex_lock(&pool->lock);
    pool->ended = true;
    pthread_mutex_unlock(&pool->lock);
    if (parent) {
        pool_wake_waiters(parent, executor); /* a key may have another owner now */
        pool_end_if_empty(parent, executor);
    }
}

static void dismiss_all_locked(struct pool *pool, struct executor *executor)
{
    struct list leaving;

    list_init(&leaving);
    pool->target = 0;
    pulling_set_bounds_locked(pool); /* before a member can find the queue empty */
    resize_choose_locked(pool, UINT32_MAX, &leaving);
    resize_dismiss_locked(pool, &leaving, executor);
    pool->epoch++;
}

void pool_close(struct pool *pool, struct executor *executor)
{
    struct pool *child;
    uint32_t order = 0;

    pthread_mutex_lock(&pool->lock);
    pulling_close_locked(pool);
    /* Senders read `closing` before the members, so the members may stay published: all of them are
     * closed. */
    atomic_store_explicit(&pool->closing, true, memory_order_release);
    dismiss_all_locked(pool, executor);
    pthread_mutex_unlock(&pool->lock);
    while ((child = nesting_next_open(pool, &order)))
        pool_close(child, executor);
    outcome_tell(pool, executor);
    /* also of the pools above: a broadcast skips this pool now */
    pool_wake_waiters(pool, executor);
    pool_end_if_empty(pool, executor);
}

/* Marks the pool and the pools in it, before any of their workers is ordered to leave. */
static void mark_removed(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    /* Release pairs with the acquire in places.c, discard. */
    atomic_store_explicit(&pool->removed, true, memory_order_release);
    for (uint32_t i = 0; i < pool->child_count; i++)
        mark_removed(pool->children[i]);
    pthread_mutex_unlock(&pool->lock);
}

void pool_remove(struct pool *pool, struct executor *executor)
{
    mark_removed(pool);
    pool_close(pool, executor);
}

void pool_give_up_name(struct pool *pool, struct executor *executor)
{
    names_remove(&pool->runtime->names, pool->path, pool->pid, &executor->reader);
}

static void stop_places_locked(struct list *places, struct executor *executor, uint32_t signals)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct place, link)->actor;

        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, signals);
    }
}

/* Depth is bounded by the configuration; parents lock before children, always. */
static void stop_members(struct pool *pool, struct executor *executor, uint32_t signals)
{
    pthread_mutex_lock(&pool->lock);
    stop_places_locked(&pool->places, executor, signals);
    stop_places_locked(&pool->leavers, executor, signals);
    stop_places_locked(&pool->closers, executor, signals);
    for (uint32_t i = 0; i < pool->child_count; i++)
        stop_members(pool->children[i], executor, signals);
    pthread_mutex_unlock(&pool->lock);
}

/* Marks the pool and the pools in it, before any of them can end. */
static void mark_killed(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->killed = true;
    for (uint32_t i = 0; i < pool->child_count; i++)
        mark_killed(pool->children[i]);
    pthread_mutex_unlock(&pool->lock);
}

void pool_stop_now(struct pool *pool, struct executor *executor)
{
    if (!atomic_load_explicit(&pool->closing, memory_order_acquire))
        pool_close(pool, executor);
    stop_members(pool, executor, SIGNAL_STOP);
}

void pool_kill(struct pool *pool, struct executor *executor)
{
    mark_killed(pool);
    if (!atomic_load_explicit(&pool->closing, memory_order_acquire))
        pool_close(pool, executor);
    stop_members(pool, executor, SIGNAL_STOP | SIGNAL_KILL);
}

bool pool_has_ended(struct pool *pool)
{
    bool ended;

    pthread_mutex_lock(&pool->lock);
    ended = pool->ended;
    pthread_mutex_unlock(&pool->lock);
    return ended;
}

static void free_retired(struct retired *retired, struct reader *reader)
{
    struct pool *pool = (struct pool *)(void *)((char *)retired - offsetof(struct pool, retired));
    struct executor *executor = (struct executor *)(void *)((char *)reader -
                                                            offsetof(struct executor, reader));
    struct message *message;

    /* Of a pool that did not end: no requester is left to notify. */
    while ((message = message_list_take(&pool->outcomes)))
        message_destroy(&executor->cache, message);
    free_pool(pool, executor);
}

void pool_destroy(struct pool *pool, struct executor *executor)
{
    if (!pool || !is_last_holder(pool))
        return;
    pool->retired.free = free_retired;
    reader_retire(&executor->reader, &pool->retired);
}
