/* SPDX-License-Identifier: MIT */
/* Messages from threads outside: see weir/runtime.h. */
#include "embed/part.h"

const struct weir_tag *weir_runtime_tag(struct weir_runtime *runtime, const char *name)
{
    return runtime_tag(runtime->core, name);
}

struct weir_message *weir_runtime_message_new(struct weir_runtime *runtime,
                                              const struct weir_tag *tag, size_t size)
{
    return runtime_message_new(runtime->core, tag, size);
}

void weir_runtime_message_free(struct weir_runtime *runtime, struct weir_message *message)
{
    runtime_message_free(runtime->core, message);
}

int weir_runtime_send(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                      struct weir_message *message)
{
    return runtime_send(runtime->core, to, lane, message);
}

int weir_runtime_send_wait(struct weir_runtime *runtime, weir_pid to, struct weir_message *message,
                           uint64_t timeout_ms)
{
    return runtime_send_wait(runtime->core, to, message, timeout_ms);
}

int weir_runtime_request(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                         struct weir_message *message, uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct request_options options = { .to = to, .lane = lane, .timeout_ms = timeout_ms };

    return runtime_request(runtime->core, &options, message, out_reference);
}

int weir_runtime_on_answer(struct weir_runtime *runtime, uint64_t reference,
                           void (*call)(void *context), void *context)
{
    return runtime_on_answer(runtime->core, reference, call, context);
}

int weir_runtime_await(struct weir_runtime *runtime, uint64_t reference, struct weir_answer *out)
{
    return runtime_await(runtime->core, reference, out);
}

int weir_runtime_cancel(struct weir_runtime *runtime, uint64_t reference)
{
    return runtime_cancel(runtime->core, reference);
}

int weir_runtime_inspect(struct weir_runtime *runtime, weir_pid pid, const char *const *items,
                         uint64_t timeout_ms, struct weir_answer *out)
{
    const struct request_options options = { .to = pid, .timeout_ms = timeout_ms };

    return runtime_inspect_wait(runtime->core, &options, items, out);
}
