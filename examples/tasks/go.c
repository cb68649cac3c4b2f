/* SPDX-License-Identifier: MIT */
/* The program, and the tasks that its parts share: go.h. */
#include <sched.h>

#include "go.h"

int count(struct weir_task *task, void *argument)
{
    (void)task;
    atomic_fetch_add((_Atomic int *)argument, 1);
    return 0;
}

int square(struct weir_task *task, void *argument)
{
    int *number = argument;

    (void)task;
    *number *= *number;
    return 0;
}

int fail(struct weir_task *task, void *argument)
{
    (void)task;
    (void)argument;
    return 7;
}

/* Works until the result is not wanted any more. */
int work_while_wanted(struct weir_task *task, void *argument)
{
    (void)argument;
    while (weir_task_is_wanted(task))
        sched_yield();
    return 0;
}

int wait_at_gate(struct weir_task *task, void *argument)
{
    struct gate *gate = argument;

    (void)task;
    atomic_store(&gate->arrived, true);
    while (!atomic_load(&gate->open))
        sched_yield();
    return 0;
}

void await_arrival(struct gate *gate)
{
    while (!atomic_load(&gate->arrived))
        sched_yield();
}

/* ants.NewPool(4), pond.New(4, 64), tunny.NewCallback(4) */
weir_pid make_pool(struct weir_runtime *runtime, const char *path)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid pool;

    options.path = path;
    options.workers = 4;
    options.limit = 16; /* for each worker: 64 tasks may wait */
    options.route = WEIR_ROUTE_PULL;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    return pool;
}

/* ants.WithLogger(logger) */
static void log_line(void *context, enum weir_log_level level, const char *component,
                     const char *event, const struct weir_field *fields)
{
    (void)level;
    (void)fields;
    fprintf(context, "%s: %s\n", component, event);
}

int main(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_runtime *runtime;

    options.threads = 4;
    options.memory = 64 << 20; /* GOMEMLIMIT: for the messages, which is where a queue grows */
    options.log = log_line;
    options.log_context = stderr;
    EXPECT(weir_runtime_create(&options, &runtime) == 0);
    like_ants(runtime);
    like_tunny(runtime);
    like_pond(runtime);
    like_go(runtime);
    EXPECT(weir_runtime_shutdown(runtime, WEIR_FOR_EVER) == 0);
    weir_runtime_destroy(runtime);
    return 0;
}
