/* Messages from threads outside: see weir/runtime.h. */
#include "actor/asking.h"
#include "actor/inspect.h"
#include "actor/send.h"
#include "actor/send_wait.h"
#include "embed/part.h"

const struct weir_tag *weir_runtime_tag(struct weir_runtime *runtime, const char *name)
{
    return tag_table_get(&runtime->core->tags, name);
}

struct weir_message *weir_runtime_message_new(struct weir_runtime *runtime,
                                              const struct weir_tag *tag, size_t size)
{
    struct executor *executor = runtime_borrow(runtime->core);
    struct message *message;

    if (!executor)
        return NULL;
    message = message_create(&executor->cache, tag, size);
    runtime_give_back(executor);
    return message ? &message->public : NULL;
}

void weir_runtime_message_free(struct weir_runtime *runtime, struct weir_message *message)
{
    struct executor *executor = message ? runtime_borrow(runtime->core) : NULL;

    if (!message)
        return;
    if (!executor) {
        message_release(runtime->core->memory, message_of(message));
        return;
    }
    message_destroy(&executor->cache, message_of(message));
    runtime_give_back(executor);
}

int weir_runtime_send(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                      struct weir_message *message)
{
    struct executor *executor = runtime_enter(runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    message->from = 0;
    status = send_message(runtime->core, executor, to, lane, message_of(message));
    runtime_leave(executor);
    return status;
}

int weir_runtime_send_wait(struct weir_runtime *runtime, weir_pid to, struct weir_message *message,
                           uint64_t timeout_ms)
{
    message->from = 0;
    return send_wait(runtime->core, to, message_of(message), timeout_ms);
}

int weir_runtime_request(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                         struct weir_message *message, uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct asking_options options = { .to = to, .lane = lane, .timeout_ms = timeout_ms };
    struct executor *executor = runtime_enter(runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = asking_send(runtime->core, executor, &options, message_of(message), out_reference);
    runtime_leave(executor);
    return status;
}

int weir_runtime_await(struct weir_runtime *runtime, uint64_t reference, struct weir_answer *out)
{
    struct asking_answer answer;
    int status;

    if (!asking_can_show(out))
        return WEIR_EINVALID;
    if (runtime_is_own_thread(runtime->core))
        return WEIR_EDEADLK;
    status = askings_await(runtime->core->askings, reference, &answer);
    asking_show(&answer, out);
    return status;
}

int weir_runtime_cancel(struct weir_runtime *runtime, uint64_t reference)
{
    struct asking_answer answer;
    int status = asking_cancel(runtime->core, reference, &answer);

    if (status == 0 && answer.reply)
        weir_runtime_message_free(runtime, &answer.reply->public);
    return status;
}

int weir_runtime_inspect(struct weir_runtime *runtime, weir_pid pid, const char *const *items,
                         uint64_t timeout_ms, struct weir_answer *out)
{
    const struct inspect_options options = { .to = pid, .items = items, .timeout_ms = timeout_ms };
    struct asking_answer answer = { 0 };
    struct executor *executor;
    uint64_t reference;
    int status = WEIR_EDEADLK;

    if (!asking_can_show(out))
        return WEIR_EINVALID;
    if (!runtime_is_own_thread(runtime->core)) {
        executor = runtime_enter(runtime->core);
        if (!executor)
            return WEIR_ENOMEM;
        status = inspect_ask(runtime->core, executor, &options, &reference);
        runtime_leave(executor);
    }
    if (status == 0)
        status = askings_await(runtime->core->askings, reference, &answer);
    asking_show(&answer, out);
    return status;
}
