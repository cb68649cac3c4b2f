/* SPDX-License-Identifier: MIT */
#include "pool/change.h"

#include <stdlib.h>

#include "actor/fullness.h"
#include "actor/newcomer.h"
#include "pool/elastic.h"
#include "pool/escalation.h"
#include "pool/lease_group.h"
#include "pool/manager.h"
#include "pool/moving_keys.h"
#include "pool/nesting.h"
#include "pool/outcome.h"
#include "pool/outlet.h"
#include "pool/places.h"
#include "pool/pulling.h"
#include "pool/rebalance.h"
#include "pool/resize.h"
#include "pool/route_ops.h"
#include "pool/settings.h"
#include "pool/unwanted.h"

bool change_replaces_workers(const struct pool_change_options *options)
{
    return options->spec && !options->live;
}

/* The number of workers that must be open before the commit. */
static uint32_t to_prepare_locked(const struct pool *pool,
                                  const struct pool_change_options *options)
{
    if (change_replaces_workers(options))
        return options->size;
    return options->size > pool->target ? options->size - pool->target : 0;
}

static void move(struct list *node, struct list *to)
{
    list_remove(node);
    list_append(to, node);
}

static void move_all(struct list *from, struct list *to)
{
    while (!list_empty(from))
        move(from->next, to);
}

static void begin_prepared_locked(struct pool_change *change, struct list *made,
                                  struct executor *executor)
{
    for (struct list *node = made->next; node != made; node = node->next)
        LIST_ENTRY(node, struct place, link)->standing = PLACE_PREPARED;
    resize_begin_locked(made, change->options.opener, executor);
    move_all(made, &change->pool->prepared);
}

/* The spec of the pool's workers from the commit on; NULL: it has none. */
static struct spec *next_spec_locked(const struct pool_change *change)
{
    if (change->options.nests)
        return NULL;
    return change->options.spec ? change->options.spec : change->pool->spec;
}

/* Allocates the members that senders see from the commit on. */
static int prepare_members_locked(struct pool_change *change)
{
    const struct pool_change_options *options = &change->options;

    change->next = members_create(options->nests ? change->pool->child_count + options->joining
                                                 : options->size);
    return change->next ? 0 : WEIR_ENOMEM;
}

static int prepare_outlet_locked(struct pool_change *change)
{
    if (!change->options.wiring)
        return 0;
    return outlet_prepare_locked(&change->pool->outlets, next_spec_locked(change),
                                 &change->options.wiring, &change->outlet);
}

static void abort_outlet_locked(struct pool_change *change, struct executor *executor)
{
    if (change->outlet)
        outlet_abort_locked(change->outlet, executor);
    change->outlet = NULL;
}

static void commit_outlet_locked(struct pool_change *change, struct executor *executor)
{
    struct pool *pool = change->pool;

    if (!change->outlet && !change->options.wiring)
        return;
    if (change->outlet)
        outlet_commit_locked(&pool->outlets, change->outlet, executor);
    else
        outlet_set_locked(&pool->outlets, change->options.wiring, executor);
    change->options.wiring = NULL;
    pool_look_again_locked(pool, executor);
}

/* Creates workers with the dispatcher and outputs of the new configuration. */
static int make_workers_locked(struct pool_change *change, struct executor *executor,
                               struct list *made)
{
    const struct pool_change_options *options = &change->options;
    struct pool *pool = change->pool;
    struct dispatcher *dispatcher = pool->dispatcher;
    struct outlet *outlet = pool->outlets.of_new;
    int status;

    if (options->dispatcher)
        pool->dispatcher = options->dispatcher;
    if (change->outlet)
        pool->outlets.of_new = change->outlet;
    status = resize_make_locked(pool, executor, next_spec_locked(change),
                                to_prepare_locked(pool, options), made);
    pool->dispatcher = dispatcher;
    pool->outlets.of_new = outlet;
    return status;
}

static int prepare_workers_locked(struct pool_change *change, struct executor *executor)
{
    struct list made;
    int status;

    list_init(&made);
    status = make_workers_locked(change, executor, &made);
    if (status != 0)
        return status;
    begin_prepared_locked(change, &made, executor);
    return 0;
}

static int prepare_locked(struct pool_change *change, struct executor *executor)
{
    struct pool *pool = change->pool;
    int status;

    if (flags_is_closing(&pool->flags))
        return WEIR_ECLOSED;
    status = prepare_members_locked(change);
    if (status == 0)
        status = prepare_outlet_locked(change);
    if (status == 0 && next_spec_locked(change))
        status = prepare_workers_locked(change, executor);
    if (status != 0)
        abort_outlet_locked(change, executor);
    return status;
}

static void free_change(struct pool_change *change)
{
    members_destroy(change->next);
    wiring_destroy(change->options.wiring);
    spec_unref(change->options.spec);
    spec_unref(change->options.manager);
    free(change);
}

int pool_change_prepare(struct pool *pool, struct executor *executor,
                        const struct pool_change_options *options, struct pool_change **out)
{
    struct pool_change *change = calloc(1, sizeof *change);
    int status;

    if (!change) {
        wiring_destroy(options->wiring);
        return WEIR_ENOMEM;
    }
    change->pool = pool;
    change->options = *options;
    if (options->spec)
        spec_ref(options->spec);
    if (options->manager)
        spec_ref(options->manager);
    lock_acquire(&pool->lock);
    status = prepare_locked(change, executor);
    lock_release(&pool->lock);
    if (status == 0) {
        *out = change;
        return 0;
    }
    free_change(change);
    return status;
}

/* --- committing ----------------------------------------------------------------------------- */

/* Opens the mailbox of a prepared worker; a worker that is not open yet opens it itself later. */
static void let_in_locked(struct pool *pool, struct place *place, struct executor *executor)
{
    place->standing = PLACE_MEMBER;
    if (!place->opened)
        return;
    if (newcomer_waits(place->actor)) /* it sees the signal before its first message */
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_WORK);
    mailbox_open(&place->actor->mailbox);
    pool_place_publish_locked(pool, place);
}

/* Makes prepared workers members until there are `size`; the others leave. */
static void take_in_locked(struct pool *pool, uint32_t size, struct list *leaving,
                           struct executor *executor)
{
    uint32_t count = 0;

    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        count++;
    while (!list_empty(&pool->prepared)) {
        struct place *place = LIST_ENTRY(pool->prepared.next, struct place, link);

        if (count < size) {
            move(&place->link, &pool->places);
            let_in_locked(pool, place, executor);
            count++;
        } else {
            move(&place->link, leaving);
        }
    }
    if (count > size)
        resize_choose_locked(pool, count - size, leaving);
}

static void respec_locked(struct pool *pool, struct spec *spec, struct executor *executor)
{
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->made_of == spec)
            continue;
        spec_unref(place->respec);
        place->respec = spec_ref(spec);
        place->made_of = spec;
        place->names_pools = spec_names_pools(spec);
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_RESPEC);
    }
}

static void commit_members_locked(struct pool_change *change, struct executor *executor)
{
    const struct pool_change_options *options = &change->options;
    struct pool *pool = change->pool;
    uint32_t before = pool->target;
    struct handover *handover = NULL;
    struct list leaving;

    list_init(&leaving);
    if (route_table[options->settings.route].has_keys)
        handover = moving_keys_begin_locked(pool, executor);
    moving_keys_hold_locked(&pool->prepared, handover);
    moving_keys_leave_locked(pool, handover);
    if (change_replaces_workers(options))
        move_all(&pool->places, &leaving);
    take_in_locked(pool, options->size, &leaving, executor);
    if (options->spec && options->live)
        respec_locked(pool, options->spec, executor);
    /* The pool was resized between prepare and commit: workers that leave since are recalled. If
     * some have ended already, the target is the number of the remaining workers. */
    (void)resize_recall_locked(pool, options->size - resize_count_locked(pool), executor);
    pool->target = resize_count_locked(pool);
    pulling_leave_behind(pool, false);
    resize_publish_locked(pool, change->next, executor);
    change->next = NULL;
    resize_dismiss_locked(pool, &leaving, executor);
    if (pool->target != before)
        resize_count(pool, RESIZE_BY_RELOAD);
    if (pool->target > before)
        rebalance_ask_locked(pool, executor);
    if (change_replaces_workers(options) || pool->target != before)
        pool->epoch++;
}

/* The workers leave, after they have finished the pool's own queue: no other member takes from it.
 * */
static void commit_nesting_locked(struct pool_change *change, struct executor *executor)
{
    struct pool *pool = change->pool;
    struct list leaving;

    list_init(&leaving);
    move_all(&pool->places, &leaving);
    pool->target = 0;
    pool_show_settings(pool, &change->options.settings);
    fullness_forget(&pool->owner);
    nesting_show_locked(pool, change->next, executor);
    change->next = NULL;
    /* A sender that the queue refuses sees new members and tries again. */
    pulling_set_bounds_locked(pool);
    pulling_leave_behind(pool, true);
    resize_dismiss_locked(pool, &leaving, executor);
    pool->epoch++;
}

/* Returns the former spec of its workers, with its reference; NULL: the spec has not changed. */
static struct spec *commit_spec_locked(struct pool_change *change)
{
    struct pool *pool = change->pool;
    struct spec *old = pool->spec;

    if (!change->options.nests && !change->options.spec)
        return NULL;
    pool->spec = change->options.nests ? NULL : spec_ref(change->options.spec);
    return old;
}

/* `settings` are those of the change. */
static void publish_settings_locked(struct pool *pool, struct pool_settings settings,
                                    struct executor *executor)
{
    bool may_pull = owner_may_give(&pool->owner) || route_table[settings.route].pulls;

    escalation_complete(&settings.restart);
    escalation_set_locked(pool, &settings.restart, executor);
    pool->settings = settings;
    elastic_set_locked(pool);
    pool_set_limits_locked(pool, executor);
    pool_show_settings(pool, &settings);
    fullness_forget(&pool->owner);
    if (may_pull) /* new members check the queue, which may still have messages */
        pulling_begin_locked(pool, executor);
}

static void commit_settings_locked(struct pool_change *change, struct executor *executor)
{
    const struct pool_change_options *options = &change->options;
    struct pool *pool = change->pool;

    if (options->dispatcher)
        pool->dispatcher = options->dispatcher;
    publish_settings_locked(pool, options->settings, executor);
    commit_outlet_locked(change, executor);
    if (options->renews_manager)
        manager_set_locked(pool, options->manager, executor);
}

/* Takers of a pool that has lost `lease` are refused; those of a group that has other members look
 * for a free worker. */
static void settle_takers(struct pool *pool, struct executor *executor, bool gave_leases)
{
    if (gave_leases && !leases_are_given(&pool->leases))
        unwanted_refuse_takers(pool, executor, WEIR_EUNSUPPORTED);
    else if (leases_are_given(&pool->leases) && !route_ops_of(pool)->pulls)
        lease_group_joined(pool, executor);
}

void pool_change_commit(struct pool_change *change, struct executor *executor)
{
    struct pool *pool = change->pool;
    bool gave_leases = leases_are_given(&pool->leases);
    struct spec *old;

    lock_acquire(&pool->lock);
    if (flags_is_closing(&pool->flags)) {
        lock_release(&pool->lock);
        pool_change_abort(change, executor);
        return;
    }
    old = commit_spec_locked(change);
    /* New members are never leased: they get messages of another route soon. */
    if (!change->options.settings.lease.on)
        pulling_end_leases_locked(pool);
    if (change->options.nests)
        commit_nesting_locked(change, executor);
    else if (pool->spec)
        commit_members_locked(change, executor);
    commit_settings_locked(change, executor);
    lock_release(&pool->lock);
    spec_unref(old);
    pool_wake_waiters(pool, executor);
    elastic_wake(pool, executor);
    pulling_end_if_left(pool, executor);
    settle_takers(pool, executor, gave_leases);
    lease_group_stopped(pool, executor);
    outcome_notify(pool, executor);
    free_change(change);
}

void pool_change_abort(struct pool_change *change, struct executor *executor)
{
    struct pool *pool;
    struct list leaving;

    if (!change)
        return;
    pool = change->pool;
    list_init(&leaving);
    lock_acquire(&pool->lock);
    move_all(&pool->prepared, &leaving);
    resize_dismiss_locked(pool, &leaving, executor);
    abort_outlet_locked(change, executor);
    lock_release(&pool->lock);
    free_change(change);
}

/* --- stopping first ------------------------------------------------------------------------- */

int pool_change_stop(struct pool *pool, struct executor *executor)
{
    struct members *none = members_create(0);
    struct list leaving;

    if (!none)
        return WEIR_ENOMEM;
    list_init(&leaving);
    lock_acquire(&pool->lock);
    move_all(&pool->places, &leaving);
    resize_publish_locked(pool, none, executor);
    resize_dismiss_locked(pool, &leaving, executor);
    lock_release(&pool->lock);
    return 0;
}

bool pool_change_has_stopped(struct pool *pool)
{
    bool stopped;

    lock_acquire(&pool->lock);
    stopped = list_empty(&pool->leavers) && list_empty(&pool->closers);
    lock_release(&pool->lock);
    return stopped;
}

/* Opens as many workers as are missing: the pool may have been resized since. */
static int reopen_locked(struct pool *pool, struct executor *executor)
{
    uint32_t present = resize_count_locked(pool);
    struct members *next = members_create(pool->target);
    struct list made;
    int status = next ? 0 : WEIR_ENOMEM;

    list_init(&made);
    if (status == 0 && present < pool->target)
        status = resize_make_locked(pool, executor, pool->spec, pool->target - present, &made);
    if (status != 0) {
        members_destroy(next);
        return status;
    }
    resize_begin_locked(&made, NULL, executor);
    move_all(&made, &pool->places);
    resize_publish_locked(pool, next, executor);
    return 0;
}

int pool_change_reopen(struct pool *pool, struct executor *executor)
{
    int status = 0;

    lock_acquire(&pool->lock);
    if (!flags_is_closing(&pool->flags))
        status = reopen_locked(pool, executor);
    lock_release(&pool->lock);
    return status;
}
