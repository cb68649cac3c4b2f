/* SPDX-License-Identifier: MIT */
#include "pool/resize.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/end.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"
#include "actor/spawn.h"
#include "pool/backed_up.h"
#include "pool/elastic.h"
#include "pool/lease_group.h"
#include "pool/moving_keys.h"
#include "pool/outcome.h"
#include "pool/outlet.h"
#include "pool/pulling.h"
#include "pool/rebalance.h"
#include "pool/rendezvous.h"
#include "pool/route_ops.h"
#include "pool/settings.h"
#include "pool/takers.h"

/* --- making --------------------------------------------------------------------------------- */

static void mark_numbers(const struct list *places, bool *used, uint32_t count)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        uint32_t index = LIST_ENTRY(node, struct place, link)->index;

        if (index < count)
            used[index] = true;
    }
}

static uint32_t length_of(const struct list *places)
{
    uint32_t count = 0;

    for (struct list *node = places->next; node != places; node = node->next)
        count++;
    return count;
}

static void append_all(struct list *to, struct list *from)
{
    while (!list_empty(from)) {
        struct list *node = from->next;

        list_remove(node);
        list_append(to, node);
    }
}

uint32_t resize_count_locked(struct pool *pool)
{
    return length_of(&pool->places);
}

/* Flags the numbers in use; NULL when memory is out. */
static bool *numbers_in_use_locked(struct pool *pool, uint32_t count)
{
    bool *used = calloc(count, sizeof *used);

    if (used) {
        mark_numbers(&pool->places, used, count);
        mark_numbers(&pool->leavers, used, count);
        mark_numbers(&pool->closers, used, count);
        mark_numbers(&pool->prepared, used, count);
    }
    return used;
}

int resize_make_one_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                           uint32_t index, struct place **out)
{
    struct actor_options options = { .dispatcher = pool->dispatcher,
                                     .spec = spec,
                                     .kind = ACTOR_WORKER,
                                     .limit = pool->settings.mailbox,
                                     .bytes_limit = pool->settings.mailbox_bytes };
    char path[PLACE_PATH_MAX + 16];
    struct place *place;
    struct actor *actor;
    int status;

    (void)snprintf(path, sizeof path, "%s#%u", pool->path, index);
    status = place_create(path, index, &place);
    if (status != 0)
        return status;
    place->owner = &pool->owner;
    place->label = pool->label;
    place->gives_notice = true;
    place->dead = &pool->dead;
    place->misuses = &pool->misuses;
    place->made_of = spec;
    place->names_pools = spec_names_pools(spec);
    place->epoch = pool->epoch + 1;
    place_shut(place, executor_time(executor));
    options.place = place;
    status = actor_create(pool->runtime, executor, &options, &actor);
    if (status != 0) {
        place_destroy(place);
        return status;
    }
    place_label(place);
    outlet_join_locked(&pool->outlets, place);
    *out = place;
    return 0;
}

static struct members *present_locked(const struct pool *pool)
{
    /* Relaxed: written under the lock. */
    return atomic_load_explicit(&pool->members, memory_order_relaxed);
}

/* Whether all numbers and seats below the number of members are in use, and no others. */
static bool is_dense_locked(const struct pool *pool)
{
    return present_locked(pool)->is_dense && list_empty(&pool->leavers) &&
           list_empty(&pool->closers) && list_empty(&pool->prepared);
}

/* The numbers behind those of the members, without a look at each. */
static int make_next_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                            uint32_t count, struct list *made)
{
    uint32_t first = present_locked(pool)->count;
    int status = 0;

    for (uint32_t i = 0; status == 0 && i < count; i++) {
        struct place *place;

        status = resize_make_one_locked(pool, executor, spec, first + i, &place);
        if (status == 0)
            list_append(made, &place->link);
    }
    return status;
}

static int make_lowest_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                              uint32_t count, struct list *made)
{
    uint32_t numbers = length_of(&pool->places) + length_of(&pool->leavers) +
                       length_of(&pool->closers) + length_of(&pool->prepared) + count + 1;
    bool *used = numbers_in_use_locked(pool, numbers);
    int status = used ? 0 : WEIR_ENOMEM;

    for (uint32_t i = 0, index = 0; status == 0 && i < count; i++) {
        struct place *place;

        while (used[index])
            index++;
        status = resize_make_one_locked(pool, executor, spec, index++, &place);
        if (status == 0)
            list_append(made, &place->link);
    }
    free(used);
    return status;
}

int resize_make_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                       uint32_t count, struct list *out_places)
{
    struct list made;
    int status;

    list_init(&made);
    status = is_dense_locked(pool) ? make_next_locked(pool, executor, spec, count, &made)
                                   : make_lowest_locked(pool, executor, spec, count, &made);
    if (status != 0)
        resize_unmake_locked(&made, executor);
    else
        append_all(out_places, &made);
    return status;
}

void resize_unmake_locked(struct list *places, struct executor *executor)
{
    while (!list_empty(places)) {
        struct place *place = LIST_ENTRY(places->next, struct place, link);

        list_remove(&place->link);
        outlet_leave_locked(place, executor);
        end_unborn(place->actor, executor);
    }
}

void resize_begin_locked(struct list *places, struct dispatcher *opener, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        place->opener = opener;
        if (pool_of_place(place)->settings.lease.on)
            takers_come(place, false, 0); /* not at once: no time */
        actor_begin(place->actor, executor);
    }
}

/* --- publishing ----------------------------------------------------------------------------- */

/* Marks the taken seats in `next`. When a recalled worker has the seat of another member, the
 * second of the two gives it up. */
static void take_seats(const struct list *places, struct members *next)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->seat >= next->count)
            continue;
        if (next->members[place->seat].seat)
            place->seat = PLACE_NO_SEAT;
        else
            next->members[place->seat].seat = 1;
    }
}

/* Gives each new member the lowest free seat. `next` has a row for each member, so there are enough
 * seats. */
static void give_seats(const struct list *places, struct members *next)
{
    uint32_t free = 0;

    take_seats(places, next);
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->seat != PLACE_NO_SEAT)
            continue;
        while (next->members[free].seat)
            free++;
        place->seat = free++;
    }
}

static struct member member_at(const struct place *place)
{
    return (struct member){
        .actor = place->actor,
        .serial = actor_serial_of(actor_pid(place->actor)),
        .index = place->index,
        .seat = place->seat,
    };
}

static bool is_dense(const struct members *members)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->members[i].index != i || members->members[i].seat != i)
            return false;
    return true;
}

void resize_publish_locked(struct pool *pool, struct members *next, struct executor *executor)
{
    uint32_t count = 0;

    give_seats(&pool->places, next);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        next->members[count++] = member_at(LIST_ENTRY(node, struct place, link));
    next->count = count;
    rendezvous_sort(next);
    next->is_dense = is_dense(next);
    members_publish(&pool->members, next, &executor->reader);
}

/* The last places are the new ones, with the next numbers: they get the next seats. */
static void publish_more_locked(struct pool *pool, struct members *next, struct executor *executor)
{
    struct list *node = pool->places.previous;

    for (uint32_t i = next->count; i-- > present_locked(pool)->count; node = node->previous) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        place->seat = i;
        next->members[i] = member_at(place);
    }
    members_publish(&pool->members, next, &executor->reader);
}

/* --- leaving -------------------------------------------------------------------------------- */

static bool is_idle(const struct place *place, uint32_t stay)
{
    (void)stay;
    if (leases_are_given(place->owner->leases)) /* a leased worker sleeps, too */
        return atomic_load_explicit(&place->noted, memory_order_relaxed) == PLACE_FREE;
    return actor_is_idle(place->actor);
}

static bool is_broken(const struct place *place, uint32_t stay)
{
    (void)stay;
    return !place->opened;
}

static bool is_beyond(const struct place *place, uint32_t stay)
{
    return place->index >= stay;
}

static bool is_any(const struct place *place, uint32_t stay)
{
    (void)place;
    (void)stay;
    return true;
}

/* How many workers stay, and how many leave. */
struct parting {
    uint32_t stay;
    uint32_t go;
};

/* The last ones first, so that low numbers stay. */
static void choose(struct list *places, bool (*fits)(const struct place *place, uint32_t stay),
                   struct parting *parting, struct list *out)
{
    struct list *node = places->previous;

    while (node != places && parting->go > 0) {
        struct list *previous = node->previous;

        if (fits(LIST_ENTRY(node, struct place, link), parting->stay)) {
            list_remove(node);
            list_append(out, node);
            parting->go--;
        }
        node = previous;
    }
}

static uint32_t count_of(const struct list *places)
{
    uint32_t count = 0;

    for (const struct list *node = places->next; node != places; node = node->next)
        count++;
    return count;
}

void resize_choose_locked(struct pool *pool, uint32_t count, struct list *out_leaving)
{
    uint32_t all = count_of(&pool->places);
    struct parting parting = { all > count ? all - count : 0, count };
    /* With keys, the owners depend only on the number of members. */
    bool has_keys = route_ops_of(pool)->has_keys;

    choose(&pool->places, is_broken, &parting, out_leaving);
    choose(&pool->places, has_keys ? is_beyond : is_idle, &parting, out_leaving);
    choose(&pool->places, is_any, &parting, out_leaving);
}

static uint32_t signals_of(const struct pool *pool)
{
    /* A closing pool finishes its accepted messages; the remove mode is for workers that leave
     * while others stay. */
    if (flags_is_closing(&pool->flags) &&
        !atomic_load_explicit(&pool->removed, memory_order_relaxed))
        return SIGNAL_DRAIN;
    switch (pool->settings.remove.mode) {
    case WEIR_REMOVE_REROUTE:
        return SIGNAL_DRAIN | SIGNAL_REROUTE;
    case WEIR_REMOVE_DISCARD:
        return SIGNAL_DRAIN | SIGNAL_DISCARD;
    default:
        return SIGNAL_DRAIN;
    }
}

uint64_t resize_leave_due_ns(const struct pool *pool, struct executor *executor)
{
    if (pool->settings.remove.timeout_ms == 0)
        return 0;
    return clock_after_ms(&executor->clock, pool->settings.remove.timeout_ms);
}

void resize_dismiss_locked(struct pool *pool, struct list *leaving, struct executor *executor)
{
    uint64_t due_ns = resize_leave_due_ns(pool, executor);

    for (struct list *node = leaving->next; node != leaving; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        rebalance_left_locked(pool, place, executor);
        backed_up_left_locked(pool, place);
        place->standing = PLACE_LEAVING;
        place->ordered_due_ns = due_ns;
        mailbox_close(&place->actor->mailbox);
        room_queue_wake(place->actor, UINT32_MAX, executor);
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           signals_of(pool));
    }
    append_all(&pool->leavers, leaving);
}

/* --- resizing ------------------------------------------------------------------------------- */

uint32_t resize_recall_locked(struct pool *pool, uint32_t count, struct executor *executor)
{
    struct list *node = pool->leavers.next;
    uint32_t recalled = 0;

    while (node != &pool->leavers && recalled < count &&
           pool->settings.remove.mode == WEIR_REMOVE_DRAIN) {
        struct list *next = node->next;
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->made_of == pool->spec) {
            list_remove(node);
            list_append(&pool->places, node);
            place->standing = PLACE_MEMBER;
            if (place->opened) /* at once, also when it is busy; the signal STAY does the rest */
                mailbox_open(&place->actor->mailbox);
            else
                rebalance_recalled_locked(pool, place);
            recalled++;
            (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                               SIGNAL_STAY);
        }
        node = next;
    }
    return recalled;
}

static uint32_t recallable_locked(struct pool *pool)
{
    uint32_t count = 0;

    for (struct list *node = pool->leavers.next; node != &pool->leavers; node = node->next)
        if (LIST_ENTRY(node, struct place, link)->made_of == pool->spec)
            count++;
    return pool->settings.remove.mode == WEIR_REMOVE_DRAIN ? count : 0;
}

static int grow_locked(struct pool *pool, struct executor *executor, uint32_t count)
{
    uint32_t recallable = recallable_locked(pool);
    uint32_t to_recall = count < recallable ? count : recallable;
    struct handover *handover;
    struct list made;
    int status;

    list_init(&made);
    status = resize_make_locked(pool, executor, pool->spec, count - to_recall, &made);
    if (status != 0)
        return status;
    handover = moving_keys_begin_locked(pool, executor);
    moving_keys_hold_locked(&made, handover);
    moving_keys_leave_locked(pool, handover);
    rebalance_made_locked(pool, &made);
    (void)resize_recall_locked(pool, to_recall, executor);
    resize_begin_locked(&made, NULL, executor);
    append_all(&pool->places, &made);
    return 0;
}

/* Whether all present members stay as they are, and only new ones come behind them. */
static bool appends_locked(const struct pool *pool, uint32_t target)
{
    return target > pool->target && is_dense_locked(pool) &&
           present_locked(pool)->count == pool->target;
}

static int change_locked(struct pool *pool, struct executor *executor, uint32_t target)
{
    bool appends = appends_locked(pool, target);
    struct members *next = appends ? members_extend(present_locked(pool), target)
                                   : members_create(target);
    struct list leaving;
    int status = 0;

    if (!next)
        return WEIR_ENOMEM;
    list_init(&leaving);
    if (target > pool->target)
        status = grow_locked(pool, executor, target - pool->target);
    else
        resize_choose_locked(pool, pool->target - target, &leaving);
    if (status != 0) {
        members_destroy(next);
        return status;
    }
    if (appends)
        publish_more_locked(pool, next, executor);
    else
        resize_publish_locked(pool, next, executor);
    if (target > pool->target && !appends)
        rebalance_ask_locked(pool, executor); /* recalled workers are open already */
    resize_dismiss_locked(pool, &leaving, executor);
    pool->target = target;
    pulling_set_bounds_locked(pool);
    pool->epoch++;
    pool_wake_waiters(pool, executor); /* a key may have another owner now */
    return 0;
}

/* Fills `out_target` with the target for the number that was requested. */
static int bound_locked(const struct pool *pool, int64_t wanted, uint32_t *out_target)
{
    int64_t max = pool->settings.size_max ? pool->settings.size_max : POOL_SIZE_MAX;
    int64_t min = pool->settings.size_min;
    int64_t bounded = wanted < min ? min : wanted > max ? max : wanted;

    if (flags_is_closing(&pool->flags))
        return WEIR_ECLOSED;
    if (!pool->spec || (bounded != wanted && !pool->settings.clamp))
        return WEIR_EINVALID;
    *out_target = (uint32_t)bounded;
    return 0;
}

int resize_set_locked(struct pool *pool, struct executor *executor, int64_t wanted,
                      struct weir_resized *out)
{
    uint32_t before = pool->target;
    uint32_t target = before;
    int status = bound_locked(pool, wanted, &target);

    if (status == 0 && target != before)
        status = change_locked(pool, executor, target);
    if (status == 0 && out)
        *out = (struct weir_resized){
            .changed = target > before ? target - before : before - target,
            .size = target,
            .epoch = pool->epoch,
        };
    return status;
}

/* A resize that the pool's own law did not cause: to `size`, or by `more` workers if that is -1. */
static int resize_by_hand(struct pool *pool, struct executor *executor, int64_t size, int64_t more,
                          struct weir_resized *out)
{
    bool is_suspended = false;
    uint32_t target;
    int status;

    lock_acquire(&pool->lock);
    status = resize_set_locked(pool, executor, size >= 0 ? size : (int64_t)pool->target + more,
                               out);
    if (status == 0)
        is_suspended = elastic_suspend_locked(pool);
    target = pool->target;
    lock_release(&pool->lock);
    if (is_suspended)
        elastic_log_suspended(pool, target);
    lease_group_stopped(pool, executor); /* the others leave, or it does not grow any more */
    outcome_notify(pool, executor);
    return status;
}

int pool_resize(struct pool *pool, struct executor *executor, uint32_t target,
                struct weir_resized *out)
{
    return resize_by_hand(pool, executor, target, 0, out);
}

int pool_add(struct pool *pool, struct executor *executor, int64_t count, struct weir_resized *out)
{
    return resize_by_hand(pool, executor, -1, count, out);
}

const char *resize_by_name(enum resize_by by)
{
    static const char *const names[RESIZE_BY_COUNT] = {
        [RESIZE_BY_SCALE] = "scale",     [RESIZE_BY_OPERATOR] = "operator",
        [RESIZE_BY_PROGRAM] = "program", [RESIZE_BY_PLUGIN] = "plugin",
        [RESIZE_BY_REQUEST] = "request", [RESIZE_BY_RELOAD] = "reload",
    };

    return names[by];
}

void resize_count(struct pool *pool, enum resize_by by)
{
    /* Relaxed: a figure for people. */
    atomic_fetch_add_explicit(&pool->resizes[by], 1, memory_order_relaxed);
}

uint64_t pool_resizes(const struct pool *pool, enum resize_by by)
{
    return atomic_load_explicit(&pool->resizes[by], memory_order_relaxed);
}

void resize_report(struct pool *pool, enum resize_by by, const char *who,
                   const struct weir_resized *resized)
{
    if (resized->changed == 0)
        return;
    resize_count(pool, by);
    log_event(&pool->runtime->options.log, WEIR_LOG_INFO, pool->path, "resized",
              weir_uint("size", resized->size), weir_uint("changed", resized->changed),
              weir_uint("epoch", resized->epoch), weir_str("by", who ? who : resize_by_name(by)));
}
