/* SPDX-License-Identifier: MIT */
/* Groups: see weir/tasks.h. */
#include <stdlib.h>

#include "embed/part.h"

struct weir_group {
    struct weir_runtime *runtime; /* const */
    struct group *core;           /* const */
};

int weir_runtime_group_create(struct weir_runtime *runtime, uint32_t flags,
                              struct weir_group **out_group)
{
    struct weir_group *group = calloc(1, sizeof *group);
    int status;

    if (!group)
        return WEIR_ENOMEM;
    group->runtime = runtime;
    status = group_create(runtime->core, flags, &group->core);
    if (status != 0) {
        free(group);
        return status;
    }
    *out_group = group;
    return 0;
}

int weir_runtime_group_submit_many(struct weir_group *group, weir_pid pool,
                                   const struct weir_task_call *calls, uint32_t count,
                                   uint64_t timeout_ms, uint32_t *out_count)
{
    const struct submission submission = {
        .to = pool, .calls = calls, .count = count, .group = group->core
    };

    return runtime_submit(group->runtime->core, &submission, timeout_ms, out_count);
}

int weir_runtime_group_submit(struct weir_group *group, weir_pid pool, weir_task_function *function,
                              void *argument, uint64_t timeout_ms)
{
    const struct weir_task_call call = { function, argument };
    uint32_t taken;

    return weir_runtime_group_submit_many(group, pool, &call, 1, timeout_ms, &taken);
}

int weir_runtime_group_send(struct weir_group *group, weir_pid to, struct weir_message *message,
                            uint64_t timeout_ms)
{
    message->from = 0;
    return runtime_send_grouped(group->runtime->core, group->core, to, message, timeout_ms);
}

int weir_runtime_group_wait(struct weir_group *group, uint64_t timeout_ms,
                            struct weir_group_ended *out)
{
    return group_wait(group->core, timeout_ms, out);
}

void weir_runtime_group_cancel(struct weir_group *group)
{
    group_cancel(group->core);
}

void weir_runtime_group_destroy(struct weir_group *group)
{
    if (!group)
        return;
    group_destroy(group->core);
    free(group);
}
