/* SPDX-License-Identifier: MIT */
#include "pool/creation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/end.h"
#include "actor/find.h"
#include "actor/runtime.h"
#include "actor/spawn.h"
#include "actor/wait_queue.h"
#include "pool/elastic.h"
#include "pool/ending.h"
#include "pool/escalation.h"
#include "pool/manager.h"
#include "pool/nesting.h"
#include "pool/outlet.h"
#include "pool/places.h"
#include "pool/pool_router.h"
#include "pool/pulling.h"
#include "pool/resize.h"
#include "pool/route_ops.h"
#include "pool/scaler.h"
#include "pool/settings.h"
#include "pool/subscription.h"

static struct wiring *make_wiring(const struct pool_options *options)
{
    struct wiring *wiring = wiring_create(options->output_count);

    for (uint32_t i = 0; wiring && options->outputs && i < options->output_count; i++)
        wiring->bindings[i] = options->outputs[i];
    for (uint32_t i = 0; wiring && options->rates && i < options->output_count; i++)
        if (options->rates[i].messages && wiring_set_rate(wiring, i, &options->rates[i]) != 0) {
            wiring_destroy(wiring);
            return NULL;
        }
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
    pool->router = (struct router){ &pool_router_ops, &pool->waiters, &pool->leases,
                                    &pool->askers };
    pool->number = atomic_fetch_add(&runtime->pool_numbers, 1);
    pool->parent = options->parent;
    pool->depth = options->parent ? options->parent->depth + 1 : 0;
    pool->dispatcher = options->dispatcher;
    pool->spec = options->spec ? spec_ref(options->spec) : NULL;
    pool->manager_spec = options->manager ? spec_ref(options->manager) : NULL;
    pool->settings = options->settings;
    escalation_complete(&pool->settings.restart);
    (void)snprintf(pool->path, sizeof pool->path, "%s", options->path);
    pool->owner.ops = &pool_owner_ops;
    pool->owner.above = options->parent ? &options->parent->owner : NULL;
    pool->owner.waiters = &pool->waiters;
    pool->owner.leases = &pool->leases;
    pool_show_settings(pool, &pool->settings);
    pool->managing.ops = &manager_owner_ops;
    atomic_init(&pool->on_trial, options->apart);
    atomic_init(&pool->members, members_create(0));
    atomic_init(&pool->holders, 1);
    pool->nobody = members_create(0);
    wait_queue_init(&pool->waiters);
    pulling_init(&pool->pull, pool->depth);
    leases_init(&pool->leases, pool->depth);
    dead_letters_init(&pool->dead, options->dead_letters);
    lock_init_nested(&pool->lock, LOCK_POOL, pool->depth);
    list_init(&pool->outlets.used);
    list_init(&pool->places);
    list_init(&pool->backed_up);
    list_init(&pool->leavers);
    list_init(&pool->closers);
    list_init(&pool->prepared);
    elastic_set_locked(pool); /* no other thread has it yet */
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
    scaler_finish(pool);
    while (pool->lost) {
        struct pool *lost = pool->lost;

        pool->lost = lost->next_lost;
        if (is_last_holder(lost))
            free_pool(lost, executor);
    }
    pulling_finish(&pool->pull, executor);
    leases_finish(&pool->leases);
    members_destroy(atomic_load(&pool->members));
    members_destroy(pool->join_members);
    members_destroy(pool->nobody);
    outlet_end(&pool->outlets);
    wait_queue_finish(&pool->waiters);
    dead_letters_finish(&pool->dead);
    lock_finish(&pool->lock);
    spec_unref(pool->spec);
    spec_unref(pool->manager_spec);
    free(pool->children);
    askers_finish(&pool->askers);
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
    status = scaler_reserve(pool, actor.dispatcher);
    if (status == 0)
        status = actor_create(pool->runtime, executor, &actor, &pool->actor);
    if (status == 0)
        pool->pid = pool->leases.pool = actor_pid(pool->actor);
    else
        place_destroy(pool->manager);
    return status;
}

/* A taker waits in the one queue of a pool of workers, or in that of a group. */
static bool fits_leases(const struct pool_options *options)
{
    const struct route_ops *ops = &route_table[options->settings.route];

    if (!options->settings.lease.on)
        return true;
    if (!options->spec)
        return route_takes_any(ops);
    return ops->pulls && options->settings.mailbox != WEIR_UNBUFFERED;
}

static int check_options(const struct pool_options *options)
{
    const struct route_ops *ops = &route_table[options->settings.route];

    if (!options->path || !options->path[0] || strlen(options->path) >= PLACE_PATH_MAX - 16)
        return WEIR_EINVALID;
    if (ops->pulls && !options->spec)
        return WEIR_EINVALID;
    if (!fits_leases(options))
        return WEIR_EINVALID;
    if (options->settings.scale.on && (options->settings.size_max == 0 || ops->copies))
        return WEIR_EINVALID;
    if (options->size > POOL_SIZE_MAX || options->settings.size_max > POOL_SIZE_MAX)
        return WEIR_EINVALID;
    if ((options->spec && !options->spec->behaviour->handle) ||
        (options->manager && !options->manager->behaviour->handle))
        return WEIR_EINVALID;
    return 0;
}

/*
 * Undoes a creation that failed after the actor was made; senders may use the pool now. If memory
 * was out to publish the parent's members without it, the pool is still `shown`: it answers CLOSED
 * from now on, and is freed with its parent.
 */
static void uncreate(struct pool *pool, struct list *made, bool shown, struct executor *executor)
{
    resize_unmake_locked(made, executor);
    scaler_finish(pool);
    if (shown) {
        lock_acquire(&pool->lock);
        flags_set(&pool->flags, FLAGS_CLOSING, FLAGS_CLOSING);
        lock_release(&pool->lock);
    }
    end_unborn(pool->actor, executor);
    if (!shown) {
        pool_destroy(pool, executor);
        return;
    }
    nesting_lose(pool); /* in place of its creator */
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

/* Fills a pool that has joined its parent already: if the parent has closed it since, it stays
 * empty. */
static int populate_locked(struct pool *pool, struct executor *executor,
                           const struct pool_options *options, struct list *made)
{
    uint32_t size = options->size;
    bool is_closed = flags_is_closing(&pool->flags);
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
    lock_acquire(&pool->lock);
    status = populate_locked(pool, executor, options, made);
    lock_release(&pool->lock);
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
    pool = aligned_alloc(alignof(struct pool), sizeof *pool);
    if (!pool)
        return WEIR_ENOMEM;
    memset((void *)pool, 0, sizeof *pool);
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
    if (options->size > options->settings.size_min) /* it may not need all of them */
        elastic_wake(pool, executor);
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

void pool_join(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;
    bool parent_closes;

    lock_acquire(&parent->lock);
    parent_closes = flags_is_closing(&parent->flags);
    nesting_add_locked(parent, pool);
    pool_end_trial(pool);
    lock_release(&parent->lock);
    if (parent_closes)
        pool_close(pool, executor);
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
    /* Threads may still wait for room in a pool that has not ended: see runtime_is_ending. */
    wait_queue_dissolve(&pool->waiters, executor);
    pool->retired.free = free_retired;
    reader_retire(&executor->reader, &pool->retired);
}
