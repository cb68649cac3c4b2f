/* SPDX-License-Identifier: MIT */
#include "actor/host_table_messages.h"

#include "actor/callback.h"
#include "actor/giving.h"
#include "actor/kept.h"
#include "actor/origin.h"
#include "actor/output.h"
#include "actor/own.h"
#include "actor/put_back.h"
#include "actor/request.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/stash.h"
#include "actor/wanted.h"
#include "message/blob.h"

__attribute__((noinline)) static void log_no_memory(struct actor *actor, size_t size)
{
    uint64_t limit = memory_limit(actor->runtime->memory);

    log_event(&actor->runtime->options.log, size > limit ? WEIR_LOG_ERROR : WEIR_LOG_WARNING,
              place_path(actor),
              size > limit ? "a message is larger than host.memory" : "host.memory is reached",
              weir_uint("size", size), weir_uint("memory", limit),
              weir_str("effect", size > limit ? "it will never be made" : "it is not made now"));
}

/* Under a cap on memory. Out of line, so that host_message_new saves no registers for it. */
__attribute__((noinline)) static struct message *new_counted(struct actor *actor,
                                                             const struct weir_tag *tag,
                                                             size_t size)
{
    struct message *message = message_create_counted(&actor->executor->cache, tag, size);

    if (!message)
        log_no_memory(actor, size);
    return message;
}

struct weir_message *host_message_new(struct weir_self *self, const struct weir_tag *tag,
                                      size_t size)
{
    struct actor *actor = actor_of_self(self);
    struct cache *cache = &actor->executor->cache;
    struct message *message = memory_is_counted(&cache->share) ? new_counted(actor, tag, size)
                                                               : message_create(cache, tag, size);

    return message ? &message->public : NULL;
}

struct weir_message *host_message_labelled(struct weir_self *self, const struct weir_tag *tag,
                                           size_t size, const char *label)
{
    const bool identifies = actor_of_self(self)->runtime->options.keeps_identities;
    const size_t room = message_label_room(label);
    const size_t more = room + (identifies ? MESSAGE_IDENTITY_ROOM : 0);
    struct weir_message *message = size <= SIZE_MAX - more
                                       ? host_message_new(self, tag, size + more)
                                       : NULL;

    if (message)
        message_set_label(message_of(message), size, label, room);
    return message;
}

int host_set_identity(struct weir_self *self, struct weir_message *message, const void *bytes,
                      size_t size)
{
    if (!(message->reserved & MESSAGE_LABELLED) || size == 0)
        return WEIR_EINVALID;
    if (!actor_of_self(self)->runtime->options.keeps_identities)
        return 0;
    return message_set_identity(message_of(message), weir_key(bytes, size)) ? 0 : WEIR_EINVALID;
}

int host_message_fits(struct weir_self *self, size_t size)
{
    uint64_t limit = memory_limit(actor_of_self(self)->runtime->memory);

    return limit == 0 || message_room_max(size) <= limit ? 0 : WEIR_EINVALID;
}

int host_set_origin(struct weir_self *self, struct weir_message *message, uint64_t token)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : origin_set(actor, message_of(message), token);

    callback_leave_host(actor);
    return status;
}

/* The current message or a kept one. Compares addresses first: it may be settled and freed. */
static bool is_in_hand(struct actor *actor, const struct message *message)
{
    return message == actor->current || kept_find(actor, (uint64_t)(uintptr_t)message);
}

/* True when the plugin owns the message and the message has no origin; else misuse is reported. */
static bool is_free(struct actor *actor, const struct message *message)
{
    if (message->public.reserved & (MESSAGE_GIVEN | MESSAGE_KEPT) || message == actor->current)
        return giving_refused(actor);
    return !(message->public.reserved & MESSAGE_TRACKED);
}

static int join(struct actor *actor, struct message *message, struct message *with)
{
    if (!is_free(actor, message) || !is_in_hand(actor, with))
        return WEIR_EINVALID;
    return origin_is_followed(with) ? origin_join(message, with) : 0;
}

int host_join(struct weir_self *self, struct weir_message *message, struct weir_message *with)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : join(actor, message_of(message), message_of(with));

    callback_leave_host(actor);
    return status;
}

int host_detach(struct weir_self *self, struct weir_message *message)
{
    if (!is_free(actor_of_self(self), message_of(message)))
        return WEIR_EINVALID;
    message->reserved |= MESSAGE_DETACHED;
    return 0;
}

int host_send_chain(struct weir_self *self, weir_pid to, struct weir_message *const *messages,
                    uint32_t count)
{
    struct actor *actor = callback_enter_host(self);
    /* The public part is the first of a message, so both arrays of pointers are the same. */
    struct message *const *chain = (struct message *const *)(const void *)messages;
    int taken = callback_is_left(actor) ? WEIR_ETERMINATED : WEIR_EINVALID;

    if (!callback_is_left(actor) && count <= INT32_MAX && giving_begin_chain(actor, chain, count)) {
        for (uint32_t i = 0; i < count; i++) {
            messages[i]->from = actor_pid(actor);
            own_mark(actor, to, chain[i]);
        }
        taken = output_refuses(actor, to)
                    ? WEIR_EFULL
                    : send_chain(actor->runtime, actor->executor, to, chain, count);
        taken = giving_end_chain(chain, count, taken);
    }
    if (taken == WEIR_EFULL)
        executor_give_way(actor->executor);
    callback_leave_host(actor);
    return taken;
}

int host_stash(struct weir_self *self, struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : stash_put(actor, message_of(message));

    callback_leave_host(actor);
    return status;
}

uint32_t host_unstash(struct weir_self *self, uint32_t count)
{
    struct actor *actor = callback_enter_host(self);
    uint32_t given = callback_is_left(actor) ? 0 : stash_give(actor, count);

    callback_leave_host(actor);
    return given;
}

int host_put_back(struct weir_self *self, struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : put_back(actor, message_of(message));

    callback_leave_host(actor);
    return status;
}

struct weir_blob *host_blob_new(struct weir_self *self, size_t size)
{
    struct actor *actor = actor_of_self(self);
    struct blob *blob = blob_create_counted(&actor->executor->cache.share, size);

    if (!blob && memory_limit(actor->runtime->memory))
        log_no_memory(actor, size);
    return blob ? &blob->public : NULL;
}

struct weir_message *host_message_with_blob(struct weir_self *self, const struct weir_tag *tag,
                                            struct weir_blob *blob)
{
    struct message *message = message_create_with_blob(&actor_of_self(self)->executor->cache, tag,
                                                       blob_of(blob));

    return message ? &message->public : NULL;
}

struct weir_blob *host_message_blob(struct weir_self *self, const struct weir_message *message)
{
    struct blob *blob = message_blob(message_of(message));

    (void)self;
    return blob ? &blob->public : NULL;
}

uint64_t host_time_left(struct weir_self *self, const struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    uint64_t left = callback_is_left(actor) ? 0 : wanted_time_left_ms(actor, message_of(message));

    callback_leave_host(actor);
    return left;
}

int host_rename(struct weir_self *self, const char *from, const char *to)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : names_rename(&actor->runtime->names, from, to,
                                                        actor_pid(actor), &actor->executor->reader);

    callback_leave_host(actor);
    return status;
}
