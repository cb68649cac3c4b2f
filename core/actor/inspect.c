/* SPDX-License-Identifier: MIT */
#include "actor/inspect.h"

#include <string.h>

#include "actor/callback.h"
#include "actor/external_request.h"
#include "actor/inspection.h"
#include "actor/items.h"
#include "actor/request.h"
#include "actor/router.h"
#include "actor/runtime.h"

#define TAG_ANSWER "weir.inspected/1"

/* --- requests ------------------------------------------------------------------------------- */

/* Longer names are truncated, as in the answer. */
static size_t size_of(const char *item)
{
    return strnlen(item, WEIR_INSPECT_ITEM_MAX) + 1;
}

int inspect_make(struct cache *cache, const char *const *items, struct message **out)
{
    struct message *message;
    size_t count = 0, size = 0;
    char *at;

    for (; items && items[count]; count++)
        size += size_of(items[count]);
    if (count > WEIR_INSPECT_ITEMS_MAX)
        return WEIR_EINVALID;
    message = message_create(cache, NULL, size);
    if (!message)
        return WEIR_ENOMEM;
    at = message->public.data;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, items[i], size_of(items[i]) - 1); /* the payload is zeroed: its NUL is there */
        at += size_of(items[i]);
    }
    *out = message;
    return 0;
}

int inspect_ask(struct runtime *runtime, struct executor *executor,
                const struct inspect_options *options, uint64_t *out_reference)
{
    const struct external_request_options given = {
        .to = options->to,
        .timeout_ms = options->timeout_ms,
        .inspects = true,
        .on_answer = options->on_answer,
        .on_answer_context = options->on_answer_context
    };
    struct message *message = NULL;
    int status = inspect_make(&executor->cache, options->items, &message);

    if (status == 0)
        status = external_request_send(runtime, executor, &given, message, out_reference);
    if (status != 0)
        message_destroy(&executor->cache, message);
    return status;
}

/* --- answering ------------------------------------------------------------------------------ */

/* Adds the behaviour's items; between two incarnations there are only the host's figures. */
static void ask_behaviour(struct actor *actor, struct inspection *inspection)
{
    if (!actor->spec || !actor->memory || !actor->spec->behaviour->inspect)
        return;
    callback_begin(actor, NOTE_INSPECT);
    actor->spec->behaviour->inspect(&actor->self, actor->memory, &inspection->public);
    callback_end(actor);
}

static void look(struct actor *actor, struct inspection *inspection)
{
    if (actor->router)
        actor->router->ops->inspect(actor->router, inspection);
    items_of_actor(inspection, actor);
    ask_behaviour(actor, inspection);
}

/* Takes the inspect. A failure becomes the status of the answer. */
static void answer(struct actor *actor, struct message *message,
                   const struct inspection *inspection)
{
    const struct weir_tag *tag = tag_table_get(&actor->runtime->tags, TAG_ANSWER);
    struct message *reply = message_create(&actor->executor->cache, tag, inspection->size);

    message->public.kind = WEIR_REQUEST;
    if (!reply) {
        request_answer(actor->runtime, actor->executor, message, WEIR_ENOMEM, "");
        return;
    }
    if (inspection->size > 0)
        memcpy(reply->public.data, inspection->text, inspection->size);
    if (request_reply(actor, message, reply) != 0)
        message_destroy(&actor->executor->cache, reply);
    message_destroy(&actor->executor->cache, message);
}

static bool is_alike(const struct message *one, const struct message *other)
{
    return one->public.kind == MESSAGE_INSPECT && one->public.size == other->public.size &&
           (one->public.size == 0 ||
            memcmp(one->public.data, other->public.data, one->public.size) == 0);
}

/* Answers waiting inspects for the same items with the same figures. */
static void answer_alike(struct actor *actor, const struct message *message,
                         const struct inspection *inspection)
{
    struct message_queue waiting = actor->control;
    struct message *other;

    actor->control = (struct message_queue){ 0 };
    while ((other = message_queue_take(&waiting))) {
        if (is_alike(other, message))
            answer(actor, other, inspection);
        else
            message_queue_append(&actor->control, other);
    }
}

void inspect_arrived(struct actor *actor, struct message *message)
{
    struct inspection inspection;

    inspection_init(&inspection, message->public.data, message->public.size);
    look(actor, &inspection);
    answer_alike(actor, message, &inspection);
    answer(actor, message, &inspection);
    inspection_finish(&inspection);
}
