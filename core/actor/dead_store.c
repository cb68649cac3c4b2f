/* SPDX-License-Identifier: MIT */
#include "actor/dead_store.h"

#include <string.h>

#include "actor/find.h"
#include "actor/origin.h"
#include "actor/runtime.h"
#include "base/lock.h"

_Static_assert(NAMES_LENGTH_MAX <= DEAD_RECORD_NAME_MAX, "a name fits");

/* The argument of a task is a pointer. */
static bool has_payload(const struct message *message)
{
    return !message->public.tag || strcmp(message->public.tag->name, TAG_TASK) != 0;
}

/* The PID that a replay sends it to. */
static weir_pid target_of(const struct dead_letter_way *way, weir_pid self)
{
    weir_pid target = way->output != DEAD_LETTER_DIRECT ? way->led_to : way->to;

    return target ? target : self;
}

/* The name by which a replay finds the receiver, also in another process. "": no name leads there,
 * since the receiver is one worker of a pool, or a child. */
static const char *name_target(struct runtime *runtime, const struct dead_letter_way *way,
                               weir_pid self, const char *path, char out[NAMES_LENGTH_MAX + 1])
{
    const weir_pid target = way ? target_of(way, self) : self;
    const struct actor *actor = actor_find(runtime, target);

    if (!way)
        return path;
    if (way->is_leased || !actor || actor->kind == ACTOR_WORKER)
        return "";
    if (target == self)
        return path;
    names_of(&runtime->names, target, out);
    return out;
}

uint64_t dead_store_append(struct runtime *runtime, const struct message *message, weir_pid self,
                           const char *path, const struct dead_letter_way *way,
                           enum dead_reason reason, const char *detail)
{
    const struct dead_store *store = &runtime->options.dead_store;
    char from[NAMES_LENGTH_MAX + 1], to[NAMES_LENGTH_MAX + 1];
    const struct dead_record record = {
        .path = path,
        .to = name_target(runtime, way, self, path, to),
        .from = from,
        .reason = dead_reason_name(reason),
        .detail = detail ? detail : "",
        .tag = message_tag_name(message),
        .from_pid = message->public.from,
        .key = message->public.key,
        .attempt = message->public.attempt,
        .kind = message->public.kind,
        .lane = message->public.lane,
        .payload = has_payload(message) ? message->public.data : NULL,
        .size = message->public.size,
    };

    if (!store->append || message_is_of_core(message))
        return 0;
    names_of(&runtime->names, message->public.from, from);
    lock_expect_none_of_core();
    return store->append(store->context, &record, origin_is_followed(message));
}

int runtime_stored(struct runtime *runtime, uint64_t number, bool is_stored)
{
    struct executor *executor = runtime_enter(runtime);
    struct message *message;
    bool was_stored;
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = storing_end(&runtime->storing, number, is_stored);
    while (status == 0 && (message = storing_take(&runtime->storing, number, &was_stored)))
        origin_stored(runtime, executor, message, was_stored);
    runtime_leave(executor);
    return status;
}
