/* SPDX-License-Identifier: MIT */
/* Messages of threads outside: face/messages.h. */
#include "actor/external_await.h"
#include "actor/external_request.h"
#include "actor/inspect.h"
#include "actor/leases.h"
#include "actor/origin.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/send_wait.h"
#include "face/messages.h"

int runtime_lookup(struct runtime *runtime, const char *name, weir_pid *out_pid)
{
    return names_find(&runtime->names, name, out_pid);
}

const struct weir_tag *runtime_tag(struct runtime *runtime, const char *name)
{
    return tag_table_get(&runtime->tags, name);
}

struct weir_message *runtime_message_new(struct runtime *runtime, const struct weir_tag *tag,
                                         size_t size)
{
    struct executor *executor = runtime_borrow(runtime);
    struct message *message;

    if (!executor)
        return NULL;
    message = message_create(&executor->cache, tag, size);
    runtime_give_back(executor);
    return message ? &message->public : NULL;
}

/* Somebody has to learn that the message is never sent. */
static bool free_tracked(struct runtime *runtime, struct message *message)
{
    struct executor *executor = runtime_enter(runtime);

    if (!executor)
        return false;
    origin_free(runtime, executor, message);
    runtime_leave(executor);
    return true;
}

void runtime_message_free(struct runtime *runtime, struct weir_message *message)
{
    struct executor *executor;

    if (!message ||
        ((message->reserved & MESSAGE_TRACKED) && free_tracked(runtime, message_of(message))))
        return;
    executor = runtime_borrow(runtime);
    if (!executor) {
        message_release(runtime->memory, message_of(message));
        return;
    }
    message_destroy(&executor->cache, message_of(message));
    runtime_give_back(executor);
}

int runtime_send(struct runtime *runtime, weir_pid to, enum weir_lane lane,
                 struct weir_message *message)
{
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    message->from = 0;
    status = send_message(runtime, executor, to, lane, message_of(message));
    runtime_leave(executor);
    return status;
}

int runtime_send_wait(struct runtime *runtime, weir_pid to, struct weir_message *message,
                      uint64_t timeout_ms)
{
    message->from = 0;
    return send_wait(runtime, to, message_of(message), timeout_ms);
}

/* --- requests ------------------------------------------------------------------------------- */

int runtime_request(struct runtime *runtime, const struct request_options *options,
                    struct weir_message *message, uint64_t *out_reference)
{
    const struct external_request_options given = {
        .to = options->to,
        .lane = options->lane,
        .timeout_ms = options->timeout_ms,
        .on_answer = options->on_answer,
        .on_answer_context = options->on_answer_context
    };
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = external_request_send(runtime, executor, &given, message_of(message), out_reference);
    runtime_leave(executor);
    return status;
}

int runtime_request_wait(struct runtime *runtime, const struct request_options *options,
                         struct weir_message *message, uint64_t *out_reference)
{
    const struct external_request_options request = { .to = options->to,
                                                      .timeout_ms = options->timeout_ms };

    return external_request_send_wait(runtime, &request, message_of(message), out_reference);
}

int runtime_inspect(struct runtime *runtime, const struct request_options *options,
                    const char *const *items, uint64_t *out_reference)
{
    const struct inspect_options inspect = { .to = options->to,
                                             .items = items,
                                             .timeout_ms = options->timeout_ms,
                                             .on_answer = options->on_answer,
                                             .on_answer_context = options->on_answer_context };
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = inspect_ask(runtime, executor, &inspect, out_reference);
    runtime_leave(executor);
    return status;
}

static void explain(struct runtime *runtime, struct external_request_answer *answer)
{
    struct executor *executor = answer->pool ? runtime_enter(runtime) : NULL;

    if (!executor)
        return;
    external_request_explain(runtime, answer);
    runtime_leave(executor);
}

int runtime_await(struct runtime *runtime, uint64_t reference, struct weir_answer *out)
{
    struct external_request_answer answer = { 0 };
    int status;

    if (!external_request_can_show(out))
        return WEIR_EINVALID;
    if (runtime_is_own_thread(runtime))
        return WEIR_EDEADLK;
    status = external_requests_await(runtime->external_requests, reference, &answer);
    explain(runtime, &answer);
    external_request_show(&answer, out);
    return status;
}

int runtime_await_any(struct runtime *runtime, const uint64_t *references, uint32_t count,
                      uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out)
{
    struct external_request_answer answer = { 0 };
    int status;

    if (!external_request_can_show(out))
        return WEIR_EINVALID;
    if (runtime_is_own_thread(runtime))
        return WEIR_EDEADLK;
    status = external_requests_await_any(runtime->external_requests, references, count, timeout_ms,
                                         out_index, &answer);
    explain(runtime, &answer);
    external_request_show(&answer, out);
    return status;
}

int runtime_inspect_wait(struct runtime *runtime, const struct request_options *options,
                         const char *const *items, struct weir_answer *out)
{
    const struct external_request_answer nothing = { 0 };
    uint64_t reference;
    int status = WEIR_EDEADLK;

    if (!external_request_can_show(out))
        return WEIR_EINVALID;
    if (!runtime_is_own_thread(runtime))
        status = runtime_inspect(runtime, options, items, &reference);
    if (status == 0)
        return runtime_await(runtime, reference, out);
    external_request_show(&nothing, out);
    return status;
}

int runtime_on_answer(struct runtime *runtime, uint64_t reference, void (*call)(void *context),
                      void *context)
{
    return external_requests_on_answer(runtime->external_requests, reference, call, context);
}

bool runtime_is_answered(struct runtime *runtime, uint64_t reference)
{
    return external_requests_is_answered(runtime->external_requests, reference);
}

/* Takes the reply to a request that is given up. */
static void drop_reply(struct runtime *runtime, struct message *reply)
{
    struct executor *executor = runtime_enter(runtime);

    if (executor) {
        leases_return_unwanted(runtime, executor, reply);
        runtime_leave(executor);
    }
    runtime_message_free(runtime, &reply->public);
}

int runtime_cancel(struct runtime *runtime, uint64_t reference)
{
    struct external_request_answer answer;
    int status = external_requests_cancel(runtime->external_requests, reference, &answer);

    if (answer.reply)
        drop_reply(runtime, answer.reply);
    return status;
}
