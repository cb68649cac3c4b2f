/* Groups: see weir/tasks.h. */
#include <stdlib.h>

#include "embed/part.h"

struct weir_group {
    struct weir_runtime *runtime; /* const */
    struct group *core;           /* const */
};

/* The size of struct weir_group_ended in its first version: all of it. */
#define ENDED_SIZE_MIN (offsetof(struct weir_group_ended, open) + sizeof(uint64_t))

int weir_runtime_group_create(struct weir_runtime *runtime, uint32_t flags,
                              struct weir_group **out_group)
{
    struct weir_group *group;
    int status;

    if (flags & ~(uint32_t)WEIR_GROUP_FIRST_ERROR)
        return WEIR_EINVALID;
    group = calloc(1, sizeof *group);
    if (!group)
        return WEIR_ENOMEM;
    group->runtime = runtime;
    status = group_create(runtime->core, flags & WEIR_GROUP_FIRST_ERROR, &group->core);
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
    const struct submission submission = { .to = pool,
                                           .tag = group->runtime->task_tag,
                                           .payload = calls,
                                           .size = sizeof *calls,
                                           .group = group->core };

    return runtime_submit_many(group->runtime->core, &submission, count, timeout_ms, out_count);
}

int weir_runtime_group_submit(struct weir_group *group, weir_pid pool, weir_task_function *function,
                              void *argument, uint64_t timeout_ms)
{
    const struct weir_task_call call = { function, argument };
    uint32_t taken;

    return function ? weir_runtime_group_submit_many(group, pool, &call, 1, timeout_ms, &taken)
                    : WEIR_EINVALID;
}

int weir_runtime_group_send(struct weir_group *group, weir_pid to, struct weir_message *message,
                            uint64_t timeout_ms)
{
    return runtime_send_grouped(group->runtime->core, group->core, to, message, timeout_ms);
}

static void show(struct group *group, struct weir_group_ended *out)
{
    struct group_figures figures;

    group_look(group, &figures);
    out->size = sizeof *out;
    out->first_error = figures.first_error;
    out->done = figures.done;
    out->failed = figures.failed;
    out->cancelled = figures.cancelled;
    out->open = figures.open;
}

int weir_runtime_group_wait(struct weir_group *group, uint64_t timeout_ms,
                            struct weir_group_ended *out)
{
    bool in_time;

    if (out && out->size < ENDED_SIZE_MIN)
        return WEIR_EINVALID;
    if (runtime_is_own_thread(group->runtime->core))
        return WEIR_EDEADLK;
    in_time = group_wait(group->core, timeout_ms);
    if (out)
        show(group->core, out);
    return in_time ? 0 : WEIR_ETIMEOUT;
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
