/* SPDX-License-Identifier: MIT */
#include "pool/manager.h"

#include <stdlib.h>
#include <string.h>

#include "actor/request.h"
#include "actor/runtime.h"
#include "pool/ending.h"
#include "pool/figures.h"
#include "pool/outcome.h"
#include "pool/places.h"
#include "pool/resize.h"

/* A control message under way. */
struct pool_request {
    struct actor *actor; /* the pool's own */
    struct pool *pool;
    struct message *message;
};

static bool is_tagged(const struct message *message, const char *name)
{
    return message->public.tag && strcmp(message->public.tag->name, name) == 0;
}

/* A plain message needs no reply. */
static int reply(const struct pool_request *request, const char *tag, const void *data, size_t size)
{
    struct actor *actor = request->actor;
    struct message *message;

    if (request->message->public.kind != WEIR_REQUEST)
        return 0;
    message = message_create(&actor->executor->cache, tag_table_get(&actor->runtime->tags, tag),
                             size);
    if (!message)
        return WEIR_ENOMEM;
    if (size > 0)
        memcpy(message->public.data, data, size);
    /* The requester may have given up. */
    if (request_reply(actor, request->message, message) != 0)
        message_destroy(&actor->executor->cache, message);
    return 0;
}

/* --- more, fewer ----------------------------------------------------------------------------- */

enum change {
    CHANGE_NONE,
    CHANGE_ADD,
    CHANGE_REMOVE,
    CHANGE_RESIZE,
};

static enum change change_of(const struct message *message)
{
    if (is_tagged(message, WEIR_POOL_ADD))
        return CHANGE_ADD;
    if (is_tagged(message, WEIR_POOL_REMOVE))
        return CHANGE_REMOVE;
    return is_tagged(message, WEIR_POOL_RESIZE) ? CHANGE_RESIZE : CHANGE_NONE;
}

static int change_size(const struct pool_request *request, enum change change)
{
    const struct weir_message *message = &request->message->public;
    struct executor *executor = request->actor->executor;
    struct weir_pool_count wanted;
    struct weir_resized resized;
    int status;

    if (message->size != sizeof wanted)
        return WEIR_EINVALID;
    memcpy(&wanted, message->data, sizeof wanted);
    if (change == CHANGE_RESIZE)
        status = pool_resize(request->pool, executor, wanted.count, &resized);
    else
        status = pool_add(request->pool, executor,
                          change == CHANGE_ADD ? (int64_t)wanted.count : -(int64_t)wanted.count,
                          &resized);
    if (status == 0)
        resize_report(request->pool, RESIZE_BY_REQUEST, "a request", &resized);
    if (status == 0)
        status = reply(request, message->tag->name, &resized, sizeof resized);
    if (status == 0 && wanted.tell)
        (void)outcome_ask(request->pool, executor, message->from, resized.epoch);
    return status;
}

/* --- figures --------------------------------------------------------------------------------- */

static int reply_stats(const struct pool_request *request)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    pool_stats(request->pool, &stats);
    return reply(request, WEIR_POOL_STATS, &stats, sizeof stats);
}

static int reply_members(const struct pool_request *request)
{
    uint32_t max = pool_members(request->pool, NULL, 0, 0);
    struct weir_member *members = calloc((size_t)max + 1, sizeof *members);
    uint32_t count;
    int status;

    if (!members)
        return WEIR_ENOMEM;
    count = pool_members(request->pool, members, sizeof *members, max);
    status = reply(request, WEIR_POOL_MEMBERS, members,
                   (count < max ? count : max) * sizeof *members);
    free(members);
    return status;
}

static int set_paused(const struct pool_request *request, bool paused)
{
    pool_pause(request->pool, paused, request->actor->executor);
    return reply(request, request->message->public.tag->name, NULL, 0);
}

int manager_handle(struct actor *actor, struct message *message)
{
    struct pool_request request = { actor, pool_of_router(actor->router), message };
    enum change change = change_of(message);

    if (change != CHANGE_NONE)
        return change_size(&request, change);
    if (is_tagged(message, WEIR_POOL_STATS))
        return reply_stats(&request);
    if (is_tagged(message, WEIR_POOL_MEMBERS))
        return reply_members(&request);
    if (is_tagged(message, WEIR_POOL_PAUSE))
        return set_paused(&request, true);
    if (is_tagged(message, WEIR_POOL_RESUME))
        return set_paused(&request, false);
    return WEIR_EUNSUPPORTED;
}

/* --- a behaviour as manager ------------------------------------------------------------------ */

void manager_set_locked(struct pool *pool, struct spec *spec, struct executor *executor)
{
    if (!pool->manager)
        return; /* it has ended */
    spec_unref(pool->manager->respec);
    pool->manager->respec = spec ? spec_ref(spec) : NULL;
    spec_unref(pool->manager_spec);
    pool->manager_spec = spec ? spec_ref(spec) : NULL;
    pool->has_manager = spec != NULL;
    pool->manager_is_new = true;
    (void)actor_signal(pool->actor, actor_serial_of(pool->pid), executor, SIGNAL_RESPEC);
}

static struct pool *pool_of_manager(const struct place *place)
{
    return (struct pool *)(void *)((char *)place->owner - offsetof(struct pool, managing));
}

/* Takes the spec that was set since the last call. */
static bool take_spec(struct place *place, struct spec **out_spec)
{
    struct pool *pool = pool_of_manager(place);
    bool is_new;

    lock_acquire(&pool->lock);
    is_new = pool->manager_is_new;
    *out_spec = is_new ? pool->manager->respec : NULL;
    pool->manager->respec = is_new ? NULL : pool->manager->respec;
    pool->manager_is_new = false;
    lock_release(&pool->lock);
    return is_new;
}

static void ended(struct place *place)
{
    pool_actor_ended(pool_of_manager(place), place->actor->executor);
}

const struct owner_ops manager_owner_ops = {
    .replaces = true,
    .ended = ended,
    .take_spec = take_spec,
};
