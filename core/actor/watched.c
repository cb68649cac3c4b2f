/* SPDX-License-Identifier: MIT */
#include "actor/watched.h"

#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/runtime.h"

#define EVENTS_ALL ((uint32_t)WEIR_READABLE | (uint32_t)WEIR_WRITABLE)

static const struct poller *poller_of(const struct actor *actor)
{
    return &actor->runtime->options.poller;
}

static struct watched *find(struct actor_ext *ext, uint64_t token)
{
    struct table_node *node = ext ? table_first(&ext->watched, token) : NULL;

    return node ? TABLE_ENTRY(node, struct watched, node) : NULL;
}

/* Begins a watch with the poller; its message is made beforehand. */
static int begin(struct actor *actor, int descriptor, uint32_t events, uint64_t *out_token)
{
    const struct poller *poller = poller_of(actor);
    struct message *message = message_create(&actor->executor->cache, NULL, 0);
    struct polls *polls = &actor->runtime->polls;
    weir_pid pid = actor_pid(actor);
    int status;

    if (!message)
        return WEIR_ENOMEM;
    message->public.kind = MESSAGE_READY;
    status = polls_add(polls, pid, message, out_token);
    if (status == 0) {
        lock_expect_none_of_core();
        status = poller->begin(poller->context, descriptor, events, *out_token);
        if (status == 0)
            return 0;
        message = polls_take(polls, *out_token, &pid);
    }
    message_destroy(&actor->executor->cache, message);
    return status;
}

int watched_begin(struct actor *actor, int descriptor, uint32_t events, weir_ready *ready,
                  void *context, uint64_t *out_watch)
{
    struct watched *entry;
    struct actor_ext *ext;
    uint64_t token;
    int status;

    if (descriptor < 0 || events == 0 || (events & ~EVENTS_ALL) || !ready)
        return WEIR_EINVALID;
    if (!poller_of(actor)->begin)
        return WEIR_EUNSUPPORTED;
    ext = actor_ext_get(actor);
    entry = ext ? malloc(sizeof *entry) : NULL;
    if (!entry)
        return WEIR_ENOMEM;
    status = begin(actor, descriptor, events, &token);
    if (status != 0) {
        free(entry);
        return status;
    }
    *entry = (struct watched){ .ready = ready, .context = context, .descriptor = descriptor };
    table_add(&ext->watched, &entry->node, token);
    if (out_watch)
        *out_watch = token;
    return 0;
}

/* The poller may have reported it already: then its message finds no entry. */
static void drop(struct actor *actor, struct watched *entry)
{
    const struct poller *poller = poller_of(actor);
    weir_pid pid;
    struct message *message = polls_take(&actor->runtime->polls, entry->node.hash, &pid);

    lock_expect_none_of_core();
    if (message)
        poller->end(poller->context, entry->descriptor, entry->node.hash);
    message_destroy(&actor->executor->cache, message);
    table_remove(&actor->ext->watched, &entry->node);
    free(entry);
}

int watched_end(struct actor *actor, uint64_t watch)
{
    struct watched *entry = find(actor->ext, watch);

    if (!entry)
        return WEIR_EUNKNOWN;
    drop(actor, entry);
    return 0;
}

void watched_arrived(struct actor *actor, struct message *message)
{
    struct watched *entry = find(actor->ext, message->reference);
    int readiness = message->status;
    struct watched watched;

    message_destroy(&actor->executor->cache, message);
    if (!entry)
        return;
    /* The entry is removed before the callback, which may begin another watch. */
    watched = *entry;
    table_remove(&actor->ext->watched, &entry->node);
    free(entry);
    actor->flags &= (uint8_t)~ACTOR_WAITS;
    callback_begin_brief(actor, NOTE_WATCH);
    watched.ready(&actor->self, actor->memory, watched.context, watched.descriptor, readiness);
    callback_end(actor);
}

void watched_end_all(struct actor *actor)
{
    struct table_node *taken = table_take_all(&actor->ext->watched);

    while (taken) {
        struct watched *entry = TABLE_ENTRY(taken, struct watched, node);

        taken = taken->next;
        drop(actor, entry);
    }
}
