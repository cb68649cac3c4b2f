/* SPDX-License-Identifier: MIT */
/* Task pools, and waiting for them: see weir/tasks.h. */
#include "embed/part.h"
#include "embed/use.h"
#include "embed/valid.h"

static const struct weir_behaviour task_behaviour = {
    .name = "task",
    .summary = "runs functions of the program",
    .handle = weir_task_handle,
};

int weir_runtime_add_task_pool(struct weir_runtime *runtime,
                               const struct weir_pool_options *options, weir_pid *out_pool)
{
    struct weir_pool_options known;

    if (options->behaviour || options->settings)
        return valid_report(
            runtime, "runtime", WEIR_EINVALID,
            &(struct refusal){ "behaviour", "a task pool has its own", WEIR_EINVALID });
    if (options->route == WEIR_ROUTE_HASH || options->route == WEIR_ROUTE_BROADCAST)
        return valid_report(runtime, "runtime", WEIR_EINVALID,
                            &(struct refusal){ "route",
                                               "tasks have no key, and each is to run once",
                                               WEIR_EINVALID });
    use_copy(&known, sizeof known, options, options->size);
    known.behaviour = &task_behaviour;
    return weir_runtime_add_pool(runtime, &known, out_pool);
}

/* --- submitting ----------------------------------------------------------------------------- */

int weir_runtime_submit_many(struct weir_runtime *runtime, weir_pid pool,
                             const struct weir_task_call *calls, uint32_t count,
                             uint64_t timeout_ms, uint32_t *out_count)
{
    const struct submission submission = { .to = pool, .calls = calls, .count = count };

    return runtime_submit(runtime->core, &submission, timeout_ms, out_count);
}

int weir_runtime_submit(struct weir_runtime *runtime, weir_pid pool, weir_task_function *function,
                        void *argument, uint64_t timeout_ms)
{
    const struct weir_task_call call = { function, argument };
    uint32_t taken;

    return weir_runtime_submit_many(runtime, pool, &call, 1, timeout_ms, &taken);
}

int weir_runtime_submit_request(struct weir_runtime *runtime, weir_pid pool,
                                weir_task_function *function, void *argument, uint64_t timeout_ms,
                                uint64_t *out_reference)
{
    const struct weir_task_call call = { function, argument };

    return runtime_submit_request(runtime->core, pool, &call, false, timeout_ms, out_reference);
}

int weir_runtime_submit_wait(struct weir_runtime *runtime, weir_pid pool,
                             weir_task_function *function, void *argument, uint64_t timeout_ms,
                             int *out_result)
{
    const struct weir_task_call call = { function, argument };

    return runtime_submit_wait(runtime->core, pool, &call, timeout_ms, out_result);
}

/* --- waiting -------------------------------------------------------------------------------- */

int weir_runtime_wait_idle(struct weir_runtime *runtime, weir_pid pool, uint64_t timeout_ms)
{
    return runtime_wait_idle(runtime->core, pool, timeout_ms);
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
