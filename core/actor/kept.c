/* SPDX-License-Identifier: MIT */
#include "actor/kept.h"

#include "actor/actor_ext.h"
#include "actor/place.h"
#include "actor/runtime.h"
#include "message/message_index.h"

#define NS_PER_MS 1000000u
#define SEARCHED_MAX 32 /* a walk over so many takes about as long as a lookup in an index */

/* 0 = no limit. */
static uint64_t limit_ns(const struct actor *actor)
{
    /* Relaxed: a changed limit is in effect from one of the next checks on. */
    return atomic_load_explicit(&actor->runtime->kept_warning_ns, memory_order_relaxed);
}

/* NULL: they are in the list. */
static struct message_index *index_of(const struct actor *actor)
{
    return actor->ext ? actor->ext->kept_index : NULL;
}

/* Puts them into the list, in order. */
static void drop_index(struct actor *actor)
{
    if (!index_of(actor))
        return;
    message_index_destroy(index_of(actor), &actor->kept.queue);
    actor->ext->kept_index = NULL;
}

static void append(struct actor *actor, struct message *message)
{
    if (index_of(actor) && message_index_append(index_of(actor), message)) {
        actor->kept.count++;
        return;
    }
    drop_index(actor); /* memory is out */
    message_list_append(&actor->kept, message);
}

/* Among the first ones of the list. */
static struct message *search(const struct actor *actor, uint64_t address)
{
    struct message *message = message_queue_first(&actor->kept.queue);

    for (uint32_t i = 0; i < actor->kept.count && i < SEARCHED_MAX; i++) {
        if ((uint64_t)(uintptr_t)message == address)
            return message;
        message = message_queue_next(message);
    }
    return NULL;
}

static void make_index(struct actor *actor)
{
    struct actor_ext *ext = actor_ext_get(actor);

    if (ext)
        ext->kept_index = message_index_create(&actor->kept.queue, actor->kept.count);
}

struct message *kept_find(struct actor *actor, uint64_t address)
{
    struct message *message;

    if (index_of(actor))
        return message_index_find(index_of(actor), address);
    message = search(actor, address);
    if (message || actor->kept.count <= SEARCHED_MAX)
        return message;
    make_index(actor);
    return index_of(actor) ? message_index_find(index_of(actor), address)
                           : message_list_find(&actor->kept, address); /* memory is out */
}

struct message *kept_first(const struct actor *actor)
{
    return index_of(actor) ? message_index_first(index_of(actor))
                           : message_queue_first(&actor->kept.queue);
}

struct message *kept_next(const struct actor *actor, const struct message *message)
{
    if (index_of(actor))
        return message_index_next(index_of(actor), message);
    return message == actor->kept.queue.last ? NULL : message_queue_next(message);
}

void kept_remove(struct actor *actor, struct message *message)
{
    if (!index_of(actor)) {
        (void)message_list_remove(&actor->kept, message);
        return;
    }
    message_index_remove(index_of(actor), message);
    if (--actor->kept.count == 0)
        drop_index(actor);
}

struct message *kept_take(struct actor *actor)
{
    drop_index(actor);
    return message_list_take(&actor->kept);
}

struct message_list kept_take_all(struct actor *actor)
{
    struct message_list all;

    drop_index(actor);
    all = actor->kept;
    actor->kept = (struct message_list){ 0 };
    return all;
}

void kept_add(struct actor *actor, struct message *message)
{
    uint64_t limit = limit_ns(actor);

    message->public.reserved |= MESSAGE_KEPT;
    message->kept_ns = actor->executor->now_ns;
    append(actor, message);
    actor_disturb(actor);
    /* When memory is out, there is no warning. */
    if (limit && actor_ext_get(actor))
        actor_ext_arm(actor, message->kept_ns + limit);
}

void kept_return(struct actor *actor, struct message *message)
{
    append(actor, message);
    actor_disturb(actor);
}

bool kept_has(struct actor *actor, const struct message *message)
{
    return kept_find(actor, (uint64_t)(uintptr_t)message) &&
           (message->public.reserved & MESSAGE_KEPT);
}

static void log_kept(const struct actor *actor, const struct message *message, uint64_t kept_for_ns)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_WARNING, place_subject(actor),
              "message is kept for long", weir_uint("ms", kept_for_ns / NS_PER_MS),
              weir_str("plugin", actor->spec->plugin),
              weir_uint("worker", actor->place ? actor->place->index : 0),
              weir_str("tag", message_tag_name(message)), weir_uint("kept", actor->kept.count),
              weir_uint("in_hand_max", actor->spec->in_hand_max),
              weir_str("effect", "in hand until the worker settles it"));
}

uint64_t kept_time(struct actor *actor, uint64_t now_ns)
{
    struct message *message = kept_first(actor);
    uint64_t limit = limit_ns(actor);

    for (; limit && message; message = kept_next(actor, message)) {
        if (message->kept_ns == TIMER_NEVER)
            continue;
        if (message->kept_ns + limit > now_ns)
            return message->kept_ns + limit;
        log_kept(actor, message, now_ns - message->kept_ns);
        message->kept_ns = TIMER_NEVER; /* reported */
    }
    return TIMER_NEVER;
}
