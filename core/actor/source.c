#include "actor/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/children.h"
#include "actor/end.h"
#include "actor/find.h"
#include "actor/incarnation.h"
#include "actor/leave.h"
#include "actor/misuse.h"
#include "actor/output.h"
#include "actor/router.h"
#include "actor/runtime.h"
#include "actor/spawn.h"

#define SCARCE_LOOK_NS 10000000u /* 10 ms between attempts, since freed memory wakes no source */
/* the most messages that one `produce` may return: the outbox holds them if the hint is wrong */
#define CREDIT_MAX 256

/* Starts the successor. Under the lock, under which the owner removes a successor before it frees
 * it. */
static void start_successor_locked(struct source *source, struct executor *executor)
{
    if (!source->held_successor)
        return;
    position_move(&source->held_successor->position, &source->position);
    source_go(source->held_successor, executor);
    source->held_successor = NULL;
}

static struct source *source_of(const struct place *place)
{
    return (struct source *)(void *)((char *)place->owner - offsetof(struct source, owner));
}

static void ended(struct place *place)
{
    struct source *source = source_of(place);

    names_remove(&source->runtime->names, source->path, source->pid,
                 &place->actor->executor->reader);
    pthread_mutex_lock(&source->lock);
    children_add_progress(place, &source->last);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, &source->ledger);
    children_add_ledger(place, &source->ledger);
    /* A source that never produced still has the position that it got. */
    if (position_is_left(&place->from) && !source->position.data)
        position_move(&source->position, &place->from);
    source->place = NULL;
    start_successor_locked(source, place->actor->executor);
    pthread_mutex_unlock(&source->lock);
    atomic_store_explicit(&source->ended, true, memory_order_release);
}

static bool take_spec(struct place *place, struct spec **out_spec)
{
    struct source *source = source_of(place);

    pthread_mutex_lock(&source->lock);
    *out_spec = place->respec;
    place->respec = NULL;
    pthread_mutex_unlock(&source->lock);
    return *out_spec != NULL;
}

static const struct owner_ops owner_ops = {
    .replaces = true,
    .ended = ended,
    .take_spec = take_spec,
};

static int init_wiring(struct source *source, const struct source_options *options)
{
    struct wiring *wiring = wiring_create(options->output_count ? options->output_count : 1);

    if (!wiring)
        return WEIR_ENOMEM;
    wiring->bindings[0] = (struct binding){ options->target, options->when_full };
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
    return 0;
}

static void destroy(struct source *source)
{
    wiring_destroy(atomic_load(&source->wiring.wiring));
    position_clear(&source->position);
    dead_letters_finish(&source->dead);
    pthread_mutex_destroy(&source->lock);
    free(source);
}

int source_create(struct runtime *runtime, struct executor *executor,
                  const struct source_options *options, struct source **out)
{
    struct source *source = calloc(1, sizeof *source);
    int status;

    if (!source)
        return WEIR_ENOMEM;
    source->runtime = runtime;
    atomic_init(&source->going, !options->held);
    atomic_init(&source->admitted, !options->held);
    (void)snprintf(source->path, sizeof source->path, "%s", options->path);
    dead_letters_init(&source->dead, options->dead_letters);
    pthread_mutex_init(&source->lock, NULL);
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

/* A signal to its own turn follows: see show_names. */
static void admit(struct source *source)
{
    /* Release pairs with the acquire in source_is_admitted. */
    atomic_store_explicit(&source->admitted, true, memory_order_release);
}

static struct progress_sum add_up_locked(struct source *source)
{
    struct progress_sum sum = { 0 };

    if (source->place)
        children_add_progress(source->place, &sum);
    else
        sum = source->last;
    return sum;
}

static struct progress_sum add_up(struct source *source)
{
    struct progress_sum sum;

    pthread_mutex_lock(&source->lock);
    sum = add_up_locked(source);
    pthread_mutex_unlock(&source->lock);
    return sum;
}

/* From now on the figures of `former` count as those of `latter`, too. Owner. */
static void count_on(struct source *former, struct source *latter)
{
    if (latter->former)
        return; /* through another source */
    if (former->latter) {
        pthread_mutex_lock(&former->latter->lock);
        former->latter->former = NULL;
        pthread_mutex_unlock(&former->latter->lock);
    }
    former->latter = latter;
    pthread_mutex_lock(&latter->lock);
    latter->former = former;
    pthread_mutex_unlock(&latter->lock);
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
    pthread_mutex_lock(&latter->lock);
    latter->emitted_before += own;
    latter->former = source->former;
    pthread_mutex_unlock(&latter->lock);
}

static void set_successor_locked(struct source *source, struct source *successor,
                                 struct executor *executor)
{
    source->held_successor = successor;
    source->successor = successor;
    successor->predecessor = source;
    admit(successor);
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
    pthread_mutex_lock(&first->lock);
    if (first->held_successor == source) {
        waits = true;
        source->predecessor = NULL;
        set_successor_locked(first, successor, executor);
    }
    pthread_mutex_unlock(&first->lock);
    return waits;
}

void source_succeed(struct source *source, struct source *successor, struct executor *executor)
{
    count_on(source, successor);
    if (replace_waiting(source, successor, executor))
        return;
    pthread_mutex_lock(&source->lock);
    set_successor_locked(source, successor, executor);
    pthread_mutex_unlock(&source->lock);
}

void source_inherit(struct source *to, struct source *from)
{
    count_on(from, to);
    position_move(&to->position, &from->position);
    to->position.lost = false; /* the loss was reported when its args were changed */
}

/* Removes all references to a source that is freed. */
static void unlink_neighbours(struct source *source)
{
    struct source *first = source->predecessor;

    if (first) {
        pthread_mutex_lock(&first->lock);
        if (first->held_successor == source)
            first->held_successor = NULL;
        pthread_mutex_unlock(&first->lock);
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
    admit(source);
    atomic_store_explicit(&source->going, true, memory_order_release);
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_ROOM);
}

void source_set_wiring(struct source *source, struct wiring *wiring, struct executor *executor)
{
    wiring_publish(&source->wiring, wiring, &executor->reader);
    (void)actor_signal(source->actor, actor_serial_of(source->pid), executor, SIGNAL_ROOM);
    pthread_mutex_lock(&source->lock); /* the place lives */
    children_look_again(source->place, executor);
    pthread_mutex_unlock(&source->lock);
}

void source_respec(struct source *source, struct spec *spec, struct executor *executor)
{
    struct spec *missed = spec;

    pthread_mutex_lock(&source->lock);
    if (source->place) {
        missed = source->place->respec;
        source->place->respec = spec;
    }
    pthread_mutex_unlock(&source->lock);
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

    pthread_mutex_lock(&source->lock);
    if (source->place) {
        /* Acquire pairs with the release in incarnation_open: the status is of an open. */
        uint32_t opens = atomic_load_explicit(&source->place->opens, memory_order_acquire);

        status = opens ? atomic_load_explicit(&source->place->open_status, memory_order_relaxed)
                       : 1;
    }
    pthread_mutex_unlock(&source->lock);
    return status;
}

void source_opening_reason(struct source *source, char *text, size_t size)
{
    pthread_mutex_lock(&source->lock);
    (void)snprintf(text, size, "%s", source->place ? place_open_reason(source->place) : "");
    pthread_mutex_unlock(&source->lock);
}

uint64_t source_emitted(struct source *source)
{
    uint64_t emitted = 0;

    pthread_mutex_lock(&source->lock);
    if (source->former)
        emitted = source_emitted(source->former);
    emitted += add_up_locked(source).emitted + source->emitted_before;
    pthread_mutex_unlock(&source->lock);
    return emitted;
}

void source_ledger(struct source *source, struct ledger_reading *out)
{
    pthread_mutex_lock(&source->lock);
    if (source->place) {
        ledger_read(&source->actor->ledger, &source->actor->mailbox, out);
        children_add_ledger(source->place, out);
    } else {
        *out = source->ledger;
    }
    pthread_mutex_unlock(&source->lock);
}

/* --- in its own turn ------------------------------------------------------------------------ */

/* The pool that it feeds; NULL: it has ended, and messages to it become dead `no_target`. */
static struct router *target_of(struct actor *actor)
{
    const struct wiring *wiring = wiring_get(actor->place->wiring);
    weir_pid pid = wiring ? wiring->bindings[0].target : 0;
    struct router *target = actor_find_router(actor->runtime, pid);

    return target && target->ops->is_closing(target) ? NULL : target;
}

/* The room in the pool that it feeds; joins the wait queue when there is none. */
static uint32_t credit_of(struct actor *actor)
{
    struct router *target = target_of(actor);
    uint32_t room;

    if (!target)
        return CREDIT_MAX;
    room = target->ops->room(target, actor->executor);
    if (room == 0) {
        wait_queue_join(target->waiters, &actor->place->waiter, 1, actor->executor);
        room = target->ops->room(target, actor->executor); /* second check: see wait_queue.h */
    }
    if (room > 0) {
        wait_queue_use(&actor->place->waiter, 1);
        wait_queue_leave(&actor->place->waiter, actor->executor);
    }
    return room < CREDIT_MAX ? room : CREDIT_MAX;
}

/* Passes the position to the behaviour. False: the behaviour refused it. */
static bool hand_over(struct actor *actor, const struct position *position)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;
    struct position *left = &actor->place->left;

    if (behaviour->resume) {
        callback_begin(actor);
        behaviour->resume(&actor->self, actor->memory, position->data, position->size);
        callback_end(actor);
    }
    if (!left->lost)
        return true;
    position_clear(left);
    return false;
}

/* Ends the source: without a position it would send messages a second time. */
static void end_without_position(struct actor *actor)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, place_path(actor),
              "position of the source is lost",
              weir_str("effect", "it ends unfinished, and does not begin again"));
    runtime_raise_exit_status(actor->runtime, EX_TEMPFAIL);
    leave_begin(actor, LEAVING_FINISHES, WEIR_END_NORMAL);
    mailbox_close(&actor->mailbox);
}

/* Starts at the position of its predecessor: once, before it produces. False: it cannot. */
static bool resume(struct actor *actor, struct source *source)
{
    struct place *place = actor->place;

    if (position_is_left(&source->position))
        position_move(&place->from, &source->position);
    if (place->from.lost) {
        end_without_position(actor);
        return false;
    }
    if (!place->from.data)
        return true;
    if (!hand_over(actor, &place->from)) {
        incarnation_fail(actor, WEIR_END_CRASH);
        return false;
    }
    position_clear(&place->from);
    return true;
}

static void exhausted(struct actor *actor)
{
    struct source *source = source_of(actor->place);

    leave_begin(actor, LEAVING_FINISHES, WEIR_END_NORMAL);
    mailbox_close(&actor->mailbox);
    atomic_store_explicit(&source->exhausted, true, memory_order_release);
}

/* Tries again after SCARCE_LOOK_NS. */
static void wait_for_memory(struct actor *actor)
{
    if (actor_ext_get(actor))
        actor_ext_arm(actor, executor_look_at_clock(actor->executor) + SCARCE_LOOK_NS);
}

bool source_is_admitted(struct actor *actor)
{
    const struct source *source = source_of(actor->place);

    return atomic_load_explicit(&source->admitted, memory_order_acquire);
}

/* Publishes the names that it registered in an `open` before it was admitted; a later open
 * publishes its own. */
static void show_names(struct actor *actor, struct source *source)
{
    if (source->shown || !source_is_admitted(actor))
        return;
    source->shown = true;
    if (actor->ext && actor->ext->has_names)
        names_publish(&actor->runtime->names, source->pid);
}

static bool has_alarm(const struct actor_ext *ext)
{
    for (uint32_t i = 0; i < ext->alarm_count; i++)
        if (ext->alarms[i].id)
            return true;
    return false;
}

/* False only if no callback can follow. A source with `handle` may get messages from any actor that
 * knows its PID; arrays that were used once count as in use. */
static bool may_be_woken(const struct actor *actor)
{
    const struct actor_ext *ext = actor->ext;

    return actor->spec->behaviour->handle || atomic_load(&actor->place->children) ||
           (ext && (has_alarm(ext) || !table_is_empty(&ext->watched) || ext->pending_count > 0 ||
                    ext->port || ext->origins_open > 0));
}

bool source_step(struct actor *actor)
{
    struct source *source = source_of(actor->place);
    uint32_t credit;
    int produced;

    show_names(actor, source);
    if (actor->leaving || (actor->flags & ACTOR_WAITS) ||
        !atomic_load_explicit(&source->going, memory_order_acquire))
        return false;
    if (memory_is_scarce(actor->runtime->memory)) {
        wait_for_memory(actor);
        return false;
    }
    if (!resume(actor, source))
        return true;
    credit = credit_of(actor);
    if (credit == 0)
        return false;
    callback_begin(actor);
    produced = actor->spec->behaviour->produce(&actor->self, actor->memory, credit);
    callback_end(actor);
    if (produced == WEIR_END)
        exhausted(actor);
    else if (produced == WEIR_WAIT) {
        actor->flags |= ACTOR_WAITS;
        if (!may_be_woken(actor))
            misuse_report(actor, MISUSE_IDLE, produced);
    } else if (produced != WEIR_MORE) {
        if (produced > WEIR_END)
            misuse_report(actor, MISUSE_PRODUCED, produced);
        else if (!actor_ext_detail(actor)[0])
            actor_ext_set_detail(actor, weir_status_text(produced));
        incarnation_fail(actor, WEIR_END_CRASH);
    }
    return true;
}
