/* SPDX-License-Identifier: MIT */
#include "actor/source.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/children.h"
#include "actor/end.h"
#include "actor/misuse.h"
#include "actor/runtime.h"
#include "actor/spawn.h"

/* Starts the successor. Under the lock, under which the owner removes a successor before it frees
 * it. */
static void start_successor_locked(struct source *source, struct executor *executor)
{
    if (!source->waiting_successor)
        return;
    position_move(&source->waiting_successor->position, &source->position);
    source_go(source->waiting_successor, executor);
    source->waiting_successor = NULL;
}

/* The next incarnation starts at the position that this one left. */
static void closed(struct place *place)
{
    struct source *source = source_of(place);

    /* An incarnation that has not taken over the position that it got has none of its own. */
    if (position_is_left(&source->from))
        position_clear(&source->left);
    else
        position_move(&source->from, &source->left);
}

static void ended(struct place *place)
{
    struct source *source = source_of(place);

    names_remove(&source->runtime->names, source->path, source->pid,
                 &place->actor->executor->reader);
    lock_acquire(&source->lock);
    children_add_progress(place, &source->last);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, &source->ledger);
    children_add_ledger(place, &source->ledger);
    /* A source that never produced still has the position that it got. */
    if (position_is_left(&source->from) && !source->position.data)
        position_move(&source->position, &source->from);
    source->place = NULL;
    start_successor_locked(source, place->actor->executor);
    lock_release(&source->lock);
    atomic_store_explicit(&source->ended, true, memory_order_release);
}

static bool take_spec(struct place *place, struct spec **out_spec)
{
    struct source *source = source_of(place);

    lock_acquire(&source->lock);
    *out_spec = place->respec;
    place->respec = NULL;
    lock_release(&source->lock);
    return *out_spec != NULL;
}

static const struct owner_ops owner_ops = {
    .replaces = true,
    .closed = closed,
    .ended = ended,
    .take_spec = take_spec,
};

static int init_wiring(struct source *source, const struct source_options *options)
{
    struct wiring *wiring = wiring_create(options->output_count ? options->output_count : 1);

    if (!wiring)
        return WEIR_ENOMEM;
    wiring->bindings[0] = (struct binding){ options->target, options->when_full };
    if (options->rate && wiring_set_rate(wiring, 0, options->rate) != 0) {
        wiring_destroy(wiring);
        return WEIR_ENOMEM;
    }
    if (options->replaces)
        wiring_share_tokens(wiring, 0, wiring_get(&options->replaces->wiring), 0);
    atomic_init(&source->wiring.wiring, wiring);
    return 0;
}

static int create_actor(struct source *source, struct executor *executor,
                        const struct source_options *options)
{
    struct actor_options actor = {
        .dispatcher = options->dispatcher, .spec = options->spec, .kind = ACTOR_SOURCE, .limit = 64
    };
    const char *label = tag_table_label(&source->runtime->tags, source->path);
    int status = label ? place_create(options->path, 0, &source->place) : WEIR_ENOMEM;

    if (status != 0)
        return status;
    source->place->label = label;
    source->place->dead = &source->dead;
    source->place->misuses = &source->misuses;
    source->place->gives_notice = true;
    source->place->opener = options->opener;
    source->place->wiring = &source->wiring;
    source->owner.ops = &owner_ops;
    source->place->owner = &source->owner;
    actor.place = source->place;
    status = actor_create(source->runtime, executor, &actor, &source->actor);
    if (status != 0) {
        place_destroy(source->place);
        return status;
    }
    source->pid = actor_pid(source->actor);
    place_label(source->place);
    if (place_make_outbox(source->place))
        return 0;
    end_unborn(source->actor, executor);
    return WEIR_ENOMEM;
}

static void destroy(struct source *source)
{
    wiring_destroy(atomic_load(&source->wiring.wiring));
    position_clear(&source->left);
    position_clear(&source->from);
    position_clear(&source->position);
    dead_letters_finish(&source->dead);
    lock_finish(&source->lock);
    free(source);
}

/* The figures of a source include those of the former ones: a new source locks before them. */
static uint32_t depth_of_next(struct runtime *runtime)
{
    return UINT32_MAX - atomic_fetch_add(&runtime->source_numbers, 1);
}

int source_create(struct runtime *runtime, struct executor *executor,
                  const struct source_options *options, struct source **out)
{
    struct source *source = calloc(1, sizeof *source);
    int status;

    if (!source)
        return WEIR_ENOMEM;
    source->runtime = runtime;
    atomic_init(&source->going, !options->waits_for_go);
    atomic_init(&source->admitted, !options->waits_for_go);
    (void)snprintf(source->path, sizeof source->path, "%s", options->path);
    dead_letters_init(&source->dead, options->dead_letters);
    lock_init_nested(&source->lock, LOCK_SOURCE, depth_of_next(runtime));
    status = init_wiring(source, options);
    if (status == 0)
        status = create_actor(source, executor, options);
    if (status == 0 && options->registered) {
        status = names_add(&runtime->names, source->path, source->pid, &executor->reader);
        if (status != 0)
            end_unborn(source->actor, executor);
    }
    if (status != 0) {
        destroy(source);
        return status;
    }
    *out = source;
    actor_begin(source->actor, executor);
    return 0;
}

/* --- taking over ---------------------------------------------------------------------------- */

/* A signal to its own turn follows: see show_names in producing.c. */
static void admit(struct source *source)
{
    /* Release pairs with the acquire in source_is_admitted. */
    atomic_store_explicit(&source->admitted, true, memory_order_release);
}

bool source_is_admitted(const struct actor *actor)
{
    const struct source *source = source_of(actor->place);

    /* Acquire pairs with the release in admit. */
    return atomic_load_explicit(&source->admitted, memory_order_acquire);
}

/* It produces from now on, or when its predecessor has ended: at its own rate. */
static void take_effect(struct source *source, struct executor *executor)
{
    admit(source);
    wiring_apply_rates(wiring_get(&source->wiring), executor_look_at_clock(executor));
}

static struct progress_sum add_up_locked(struct source *source)
{
    struct progress_sum sum = { 0 };

    if (source->place)
        children_add_progress(source->place, &sum);
    else
        progress_add(&sum, &source->last);
    return sum;
}

static struct progress_sum add_up(struct source *source)
{
    struct progress_sum sum;

    lock_acquire(&source->lock);
    sum = add_up_locked(source);
    lock_release(&source->lock);
    return sum;
}

/* From now on the figures of `former` count as those of `latter`, too. Owner. */
static void count_on(struct source *former, struct source *latter)
{
    if (latter->former)
        return; /* through another source */
    if (former->latter) {
        lock_acquire(&former->latter->lock);
        former->latter->former = NULL;
        lock_release(&former->latter->lock);
    }
    former->latter = latter;
    lock_acquire(&latter->lock);
    latter->former = former;
    lock_release(&latter->lock);
}

/* The source has ended, and is freed: its successor keeps its figures. Owner. */
static void hand_figures_on(struct source *source)
{
    const uint64_t own = add_up(source).emitted + source->emitted_before;
    struct source *latter = source->latter;

    if (source->former)
        source->former->latter = latter;
    if (!latter)
        return;
    lock_acquire(&latter->lock);
    latter->emitted_before += own;
    latter->former = source->former;
    lock_release(&latter->lock);
}

static void set_successor_locked(struct source *source, struct source *successor,
                                 struct executor *executor)
{
    source->waiting_successor = successor;
    source->successor = successor;
    successor->predecessor = source;
    take_effect(successor, executor);
    (void)actor_signal(successor->actor, actor_serial_of(successor->pid), executor, SIGNAL_ROOM);
    if (!source->place) /* it has ended already */
        start_successor_locked(source, executor);
}

/* True when `source` was still waiting itself; then its predecessor gets `successor` instead. */
static bool replace_waiting(struct source *source, struct source *successor,
                            struct executor *executor)
{
    struct source *first = source->predecessor;
    bool waits = false;

    if (!first)
        return false;
    lock_acquire(&first->lock);
    if (first->waiting_successor == source) {
        waits = true;
        source->predecessor = NULL;
        set_successor_locked(first, successor, executor);
    }
    lock_release(&first->lock);
    return waits;
}

bool source_is_paused(const struct source *source)
{
    return wiring_is_paused(&source->wiring);
}

/* Before the new one may produce. */
void source_pause_as(struct source *to, const struct source *from)
{
    wiring_set_pause(&to->wiring, WIRING_PAUSED, source_is_paused(from));
}

void source_succeed(struct source *source, struct source *successor, struct executor *executor)
{
    count_on(source, successor);
    source_pause_as(successor, source);
    if (replace_waiting(source, successor, executor))
        return;
    lock_acquire(&source->lock);
    set_successor_locked(source, successor, executor);
    lock_release(&source->lock);
}

void source_inherit(struct source *to, struct source *from)
{
    count_on(from, to);
    source_pause_as(to, from);
    position_move(&to->position, &from->position);
    to->position.lost = false; /* the loss was reported when its args were changed */
}

/* Removes all references to a source that is freed. */
static void unlink_neighbours(struct source *source)
{
    struct source *first = source->predecessor;

    if (first) {
        lock_acquire(&first->lock);
        if (first->waiting_successor == source)
            first->waiting_successor = NULL;
        lock_release(&first->lock);
        first->successor = NULL;
    }
    if (source->successor)
        source->successor->predecessor = NULL;
}

void source_close(struct source *source, struct executor *executor)
{
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_DRAIN);
}

void source_go(struct source *source, struct executor *executor)
{
    take_effect(source, executor);
    atomic_store_explicit(&source->going, true, memory_order_release);
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_ROOM);
}

void source_set_wiring(struct source *source, struct wiring *wiring, struct executor *executor)
{
    wiring_publish(&source->wiring, wiring, executor);
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_ROOM);
    lock_acquire(&source->lock); /* the place lives */
    children_look_again(source->place, executor);
    lock_release(&source->lock);
}

void source_pause(struct source *source, bool paused, struct executor *executor)
{
    wiring_set_pause(&source->wiring, WIRING_PAUSED, paused);
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_ROOM);
    lock_acquire(&source->lock);
    if (source->place)
        children_look_again(source->place, executor);
    lock_release(&source->lock);
}

void source_respec(struct source *source, struct spec *spec, struct executor *executor)
{
    struct spec *missed = spec;

    lock_acquire(&source->lock);
    if (source->place) {
        missed = source->place->respec;
        source->place->respec = spec;
    }
    lock_release(&source->lock);
    /* an earlier spec that never took effect, or this one if the source has ended */
    spec_unref(missed);
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_RESPEC);
}

void source_stop_now(struct source *source, struct executor *executor)
{
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_STOP);
}

void source_destroy(struct source *source, struct executor *executor)
{
    (void)executor;
    if (!source)
        return;
    unlink_neighbours(source);
    hand_figures_on(source);
    destroy(source);
}

/* --- figures -------------------------------------------------------------------------------- */

uint32_t source_progress(struct source *source, struct pool_progress *out, uint32_t max)
{
    const struct progress_sum sum = add_up(source);

    return progress_list(&sum, out, max);
}

int source_opening(struct source *source)
{
    int status = 0;

    lock_acquire(&source->lock);
    if (source->place) {
        /* Acquire pairs with the release in open_actor: the status is of an open. */
        uint32_t opens = atomic_load_explicit(&source->place->opens, memory_order_acquire);

        status = opens ? atomic_load_explicit(&source->place->open_status, memory_order_relaxed)
                       : 1;
    }
    lock_release(&source->lock);
    return status;
}

void source_opening_reason(struct source *source, char *text, size_t size)
{
    lock_acquire(&source->lock);
    (void)snprintf(text, size, "%s", source->place ? place_open_reason(source->place) : "");
    lock_release(&source->lock);
}

bool source_is_throttled(struct source *source)
{
    return add_up(source).throttled > 0;
}

bool source_is_waiting(struct source *source)
{
    bool waits;

    lock_acquire(&source->lock);
    waits = source->place && children_wait_for_room(source->place);
    lock_release(&source->lock);
    return waits;
}

uint64_t source_emitted(struct source *source)
{
    uint64_t emitted = 0;

    lock_acquire(&source->lock);
    if (source->former)
        emitted = source_emitted(source->former);
    emitted += add_up_locked(source).emitted + source->emitted_before;
    lock_release(&source->lock);
    return emitted;
}

void source_ledger(struct source *source, struct ledger_reading *out)
{
    lock_acquire(&source->lock);
    if (source->place) {
        ledger_read(&source->actor->ledger, &source->actor->mailbox, out);
        children_add_ledger(source->place, out);
    } else {
        *out = source->ledger;
    }
    lock_release(&source->lock);
}
