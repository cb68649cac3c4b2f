/* SPDX-License-Identifier: MIT */
/* Long turns, and what a thread was doing when it crashed: face/turns.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actor/lifecycle.h"
#include "actor/place.h"
#include "actor/runtime.h"
#include "dispatch/put_offline.h"
#include "dispatch/watchdog.h"
#include "face/turns.h"
#include "message/peek.h"
#include "pool/pool.h"

struct long_turns {
    struct runtime *runtime;                             /* const */
    struct watchdog *watchdogs[RUNTIME_DISPATCHERS_MAX]; /* made when first needed */
};

int long_turns_create(struct runtime *runtime, struct long_turns **out)
{
    struct long_turns *turns = calloc(1, sizeof *turns);

    if (!turns)
        return WEIR_ENOMEM;
    turns->runtime = runtime;
    *out = turns;
    return 0;
}

void long_turns_destroy(struct long_turns *turns)
{
    for (size_t i = 0; turns && i < RUNTIME_DISPATCHERS_MAX; i++)
        free(turns->watchdogs[i]);
    free(turns);
}

static struct watchdog *watchdog_of(struct long_turns *turns, uint32_t index)
{
    if (!turns->watchdogs[index]) {
        turns->watchdogs[index] = malloc(sizeof *turns->watchdogs[index]);
        if (turns->watchdogs[index])
            watchdog_init(turns->watchdogs[index]);
    }
    return turns->watchdogs[index];
}

static bool look_at(struct long_turns *turns, uint32_t index, const char *unwatched,
                    uint64_t now_ns, uint64_t limit_ns, struct long_turn *out)
{
    struct dispatcher *dispatcher = turns->runtime->dispatchers[index];
    struct watchdog *watchdog = watchdog_of(turns, index);

    if (!watchdog || !dispatcher_try_name(dispatcher, out->name) ||
        (unwatched && strcmp(out->name, unwatched) == 0))
        return false;
    out->dispatcher = dispatcher;
    out->at.dispatcher = index;
    out->at.thread = watchdog_check(watchdog, dispatcher, now_ns, limit_ns, &out->watched_ns);
    if (out->at.thread == IDLE_NOBODY)
        return false;
    out->at.turns = watchdog->sights[out->at.thread].turns;
    out->kernel_id = atomic_load_explicit(
        &dispatcher_executor(dispatcher, out->at.thread)->kernel_id, memory_order_relaxed);
    return true;
}

bool long_turns_look(struct long_turns *turns, const char *unwatched, uint64_t now_ns,
                     uint64_t limit_ns, struct long_turn *out)
{
    /* Acquire pairs with the release with which a dispatcher is counted: it is seen whole. */
    uint32_t count = atomic_load_explicit(&turns->runtime->dispatcher_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (look_at(turns, i, unwatched, now_ns, limit_ns, out))
            return true;
    return false;
}

bool long_turns_last(const struct long_turns *turns)
{
    for (uint32_t i = 0; i < RUNTIME_DISPATCHERS_MAX; i++)
        if (turns->watchdogs[i] &&
            watchdog_sees_turn(turns->watchdogs[i], turns->runtime->dispatchers[i]))
            return true;
    return false;
}

bool long_turns_signal(struct long_turns *turns, const struct long_turn *turn, int number,
                       void *value)
{
    if (dispatcher_try_signal(turn->dispatcher, turn->at.thread, number, value))
        return true;
    turns->watchdogs[turn->at.dispatcher]->sights[turn->at.thread].reported = false;
    return false;
}

/* NULL: memory was overwritten. On the thread, inside the callback, or by a thread that holds it
 * there. */
static const char *callback_name(const struct note *note)
{
    static const char *const names[] = {
#define NOTE_CALLBACK(name, text) [NOTE_##name] = (text),
        NOTE_CALLBACK_LIST(NOTE_CALLBACK)
#undef NOTE_CALLBACK
    };

    return note->callback < sizeof names / sizeof names[0] ? names[note->callback] : NULL;
}

bool executor_read_turn(const struct executor *executor, struct turn_note *out)
{
    const struct actor *actor = atomic_load_explicit(&executor->current, memory_order_relaxed);
    const struct message *message = actor ? actor->current : NULL;

    if (!actor || !actor->spec)
        return false;
    *out = (struct turn_note){
        .path = place_path(actor),
        .plugin = actor->spec->plugin,
        .callback = callback_name(executor->note),
        .tag = message && message->public.tag ? message->public.tag->name : NULL,
        .generation = actor->spec->generation,
        .worker = actor->place ? actor->place->index : 0,
    };
    return true;
}

bool long_turns_read(const struct long_turn *turn,
                     void (*read)(void *context, const struct turn_note *note), void *context)
{
    struct executor *executor = dispatcher_executor(turn->dispatcher, turn->at.thread);
    struct turn_note note;
    bool is_read;

    if (!executor_try_hold(executor))
        return false;
    is_read = atomic_load_explicit(&executor->turns, memory_order_relaxed) == turn->at.turns &&
              executor_read_turn(executor, &note);
    if (is_read)
        read(context, &note);
    executor_release(executor);
    return is_read;
}

/* --- the turn of a worker -------------------------------------------------------------------- */

/* The thread adds to its turns before and after each of them, and names the actor within. So an
 * actor that is named between two equal counts runs in that turn. */
static bool runs_in(const struct executor *executor, const struct actor *actor, uint64_t *out_turns)
{
    /* Acquire pairs with the release of run_turn; the second read comes after that of `current`. */
    uint64_t turns = atomic_load_explicit(&executor->turns, memory_order_acquire);

    *out_turns = turns;
    return atomic_load_explicit(&executor->current, memory_order_acquire) == actor &&
           atomic_load_explicit(&executor->turns, memory_order_relaxed) == turns;
}

static bool find_turn(const struct actor *actor, struct turn_at *out)
{
    struct runtime *runtime = actor->runtime;
    uint32_t dispatchers = atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire);

    for (out->dispatcher = 0; out->dispatcher < dispatchers; out->dispatcher++) {
        struct dispatcher *dispatcher = runtime->dispatchers[out->dispatcher];
        uint32_t threads = dispatcher_slot_count(dispatcher);

        for (out->thread = 0; out->thread < threads; out->thread++)
            if (runs_in(dispatcher_executor(dispatcher, out->thread), actor, &out->turns))
                return true;
    }
    return false;
}

static const struct actor *find_locked(const struct list *places, uint32_t index, weir_pid pid)
{
    for (const struct list *node = places->next; node != places; node = node->next) {
        const struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->index == index && (pid == 0 || actor_pid(place->actor) == pid))
            return place->actor;
    }
    return NULL;
}

bool pool_find_turn(struct pool *pool, uint32_t index, weir_pid pid, struct turn_at *out)
{
    const struct list *lists[] = { &pool->places, &pool->leavers, &pool->closers };
    struct turn_at at = { 0 };
    const struct actor *actor = NULL;
    bool found;

    lock_acquire(&pool->lock);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !actor; i++)
        actor = find_locked(lists[i], index, pid);
    found = actor && find_turn(actor, &at);
    lock_release(&pool->lock);
    if (found)
        *out = at;
    return found;
}

/* --- callbacks ------------------------------------------------------------------------------ */

void callback_watch_begin(struct callback_watch *watch, struct executor *executor)
{
    struct runtime *runtime = executor->runtime;

    /* Relaxed: for people. */
    atomic_store_explicit(&executor->kernel_id, gettid(), memory_order_relaxed);
    watch->executor = executor;
    watch->note = vault_map(sizeof *watch->note);
    if (watch->note)
        executor->note = watch->note;
    executor->identifies = runtime->options.keeps_identities;
    /* With the first name there is a first chunk. */
    (void)tag_table_label(&runtime->tags, "weir");
    watch->names = atomic_load_explicit(&runtime->tags.vault.first, memory_order_acquire);
}

void callback_watch_end(struct callback_watch *watch)
{
    watch->executor->note = &watch->executor->own_note;
    vault_unmap(watch->note, sizeof *watch->note);
    watch->note = NULL;
    watch->executor = NULL;
}

static const char *name_of(const struct callback_watch *watch, const struct weir_tag *tag)
{
    return vault_holds(watch->names, tag, sizeof *tag) ? vault_text(watch->names, tag->name) : NULL;
}

/* The message in hand. What cannot be read, or is not what the note says, is left out. */
static void read_message(const struct callback_watch *watch, struct callback_note *out)
{
    const struct actor *actor;
    const struct message *message;
    struct message_peek peek;

    if (!peek_bytes(&actor, &watch->executor->current, sizeof actor) || !actor ||
        !peek_bytes(&message, &actor->current, sizeof message) || !message ||
        !message_peek(message, watch->note->tag, &peek))
        return;
    out->attempt = peek.attempt;
    static_assert(sizeof out->message_label == sizeof peek.label, "a label fits");
    memcpy(out->message_label, peek.label, sizeof peek.label);
}

/* A pointer in the note comes from memory that a plugin may have overwritten: it is followed into
 * the vault and nowhere else. */
bool callback_watch_read(const struct callback_watch *watch, struct callback_note *out)
{
    const struct note *note = watch->note;

    if (!note || !note->label)
        return false;
    *out = (struct callback_note){
        .place = vault_text(watch->names, note->place),
        .code = vault_text(watch->names, note->label),
        .tag = name_of(watch, note->tag),
        .worker = note->worker,
        .identity = note->inside ? note->identity : 0,
        .callback = callback_name(note),
        .inside = note->inside,
    };
    if (note->inside)
        read_message(watch, out);
    return true;
}
