/* Task pools, and waiting for them: see weir/tasks.h. */
#include <string.h>

#include "embed/part.h"
#include "embed/task.h"
#include "embed/use.h"

int weir_runtime_add_task_pool(struct weir_runtime *runtime,
                               const struct weir_pool_options *options, weir_pid *out_pool)
{
    struct weir_pool_options known;

    if (options->behaviour || options->settings || options->route == WEIR_ROUTE_HASH ||
        options->route == WEIR_ROUTE_BROADCAST)
        return WEIR_EINVALID; /* tasks have no key, and each is to run once */
    use_copy(&known, sizeof known, options, options->size);
    known.behaviour = &task_behaviour;
    known.settings = runtime->task_tag;
    return weir_runtime_add_pool(runtime, &known, out_pool);
}

/* --- submitting ----------------------------------------------------------------------------- */

static struct submission submission_of(struct weir_runtime *runtime, weir_pid pool,
                                       const struct weir_task_call *calls)
{
    return (struct submission){
        .to = pool, .tag = runtime->task_tag, .payload = calls, .size = sizeof *calls
    };
}

int weir_runtime_submit(struct weir_runtime *runtime, weir_pid pool, weir_task_function *function,
                        void *argument, uint64_t timeout_ms)
{
    const struct weir_task_call call = { function, argument };
    const struct submission submission = submission_of(runtime, pool, &call);

    return function ? runtime_submit(runtime->core, &submission, timeout_ms) : WEIR_EINVALID;
}

int weir_runtime_submit_many(struct weir_runtime *runtime, weir_pid pool,
                             const struct weir_task_call *calls, uint32_t count,
                             uint64_t timeout_ms, uint32_t *out_count)
{
    const struct submission submission = submission_of(runtime, pool, calls);

    return runtime_submit_many(runtime->core, &submission, count, timeout_ms, out_count);
}

static struct weir_message *task_message(struct weir_runtime *runtime, weir_task_function *function,
                                         void *argument)
{
    const struct weir_task_call call = { function, argument };
    struct weir_message *message = runtime_message_new(runtime->core, runtime->task_tag,
                                                       sizeof call);

    if (message)
        memcpy(message->data, &call, sizeof call);
    return message;
}

/* Makes a request for a task. With `waits` it waits for room. */
static int request(struct weir_runtime *runtime, weir_pid pool, const struct weir_task_call *call,
                   bool waits, uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct request_options options = { .to = pool,
                                             .lane = WEIR_NORMAL,
                                             .timeout_ms = timeout_ms };
    struct weir_message *message = NULL;
    int status = call->function ? 0 : WEIR_EINVALID;

    if (status == 0) {
        message = task_message(runtime, call->function, call->argument);
        status = message ? 0 : WEIR_ENOMEM;
    }
    if (status == 0)
        status = waits ? runtime_request_wait(runtime->core, &options, message, out_reference)
                       : runtime_request(runtime->core, &options, message, out_reference);
    if (status != 0)
        runtime_message_free(runtime->core, message);
    return status;
}

int weir_runtime_submit_request(struct weir_runtime *runtime, weir_pid pool,
                                weir_task_function *function, void *argument, uint64_t timeout_ms,
                                uint64_t *out_reference)
{
    const struct weir_task_call call = { function, argument };

    return request(runtime, pool, &call, false, timeout_ms, out_reference);
}

int weir_runtime_submit_wait(struct weir_runtime *runtime, weir_pid pool,
                             weir_task_function *function, void *argument, uint64_t timeout_ms,
                             int *out_result)
{
    const struct weir_task_call call = { function, argument };
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;
    int status = WEIR_EDEADLK;

    if (!runtime_is_own_thread(runtime->core))
        status = request(runtime, pool, &call, true, timeout_ms, &reference);
    if (status != 0)
        return status;
    status = runtime_await(runtime->core, reference, &answer);
    if (status == 0)
        *out_result = weir_task_result(&answer);
    runtime_message_free(runtime->core, answer.message);
    return status;
}

/* --- waiting -------------------------------------------------------------------------------- */

int weir_runtime_wait_idle(struct weir_runtime *runtime, weir_pid pool, uint64_t timeout_ms)
{
    struct part *part;
    int status = WEIR_ETIMEOUT;

    if (runtime_is_own_thread(runtime->core))
        return WEIR_EDEADLK;
    part = part_find_pool(runtime, pool);
    if (!part)
        return WEIR_EUNKNOWN;
    if (pool_wait_idle(runtime->core, part->pool, timeout_ms))
        status = 0;
    part_unref(part);
    return status;
}

int weir_runtime_request_wait(struct weir_runtime *runtime, weir_pid to,
                              struct weir_message *message, uint64_t timeout_ms,
                              uint64_t *out_reference)
{
    const struct request_options options = { .to = to, .timeout_ms = timeout_ms };

    return runtime_request_wait(runtime->core, &options, message, out_reference);
}

int weir_runtime_await_any(struct weir_runtime *runtime, const uint64_t *references, uint32_t count,
                           uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out)
{
    return runtime_await_any(runtime->core, references, count, timeout_ms, out_index, out);
}
