/*
 * The calls of ants, tunny and pond, written with libweir: docs/guide/pools-from-go.md shows these
 * functions. Ends with 0 when each function does what the page says.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/runtime.h>

#define EXPECT(condition)                                                                          \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    while (0)

static int count(struct weir_task *task, void *argument)
{
    (void)task;
    atomic_fetch_add((_Atomic int *)argument, 1);
    return 0;
}

static int square(struct weir_task *task, void *argument)
{
    int *number = argument;

    (void)task;
    *number *= *number;
    return 0;
}

static int fail(struct weir_task *task, void *argument)
{
    (void)task;
    (void)argument;
    return 7;
}

/* Works until the result is not wanted any more. */
static int work_while_wanted(struct weir_task *task, void *argument)
{
    (void)argument;
    while (weir_task_is_wanted(task))
        sched_yield();
    return 0;
}

/* ants.NewPool(4), pond.New(4, 64), tunny.NewCallback(4) */
static weir_pid make_pool(struct weir_runtime *runtime, const char *path)
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

static void like_ants(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    _Atomic int ran = 0;

    /* pool.Submit(count) */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, WEIR_FOR_EVER) == 0);
    /* the same with WithNonblocking(true): WEIR_EFULL is ErrPoolOverload, WEIR_ECLOSED is
     * ErrPoolClosed */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) == 0);
    /* pool.Tune(2) */
    EXPECT(weir_runtime_resize(runtime, pool, 2, NULL) == 0);
    /* pool.Cap(), pool.Running(), pool.Free() */
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    EXPECT(stats.target == 2 && stats.busy <= 4);
    printf("free: %d\n", (int)stats.target - (int)stats.busy);
    /* pool.ReleaseTimeout(time.Second) */
    EXPECT(weir_runtime_close(runtime, pool) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, 100000) == 0);
    /* pool.IsClosed() */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) != 0);
    EXPECT(atomic_load(&ran) == 2);
}

static void like_tunny(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;
    int number = 6, result, status;

    /* pool.Process(&number) */
    EXPECT(weir_runtime_submit_wait(runtime, pool, square, &number, WEIR_FOR_EVER, &result) == 0);
    EXPECT(result == 0 && number == 36);
    /* pool.ProcessTimed(nil, time.Millisecond): ErrJobTimedOut; tunny calls Interrupt, and a task
     * asks weir_task_is_wanted */
    status = weir_runtime_submit_wait(runtime, pool, work_while_wanted, NULL, 1, &result);
    EXPECT(status == WEIR_ETIMEOUT || status == 0); /* 0: the task saw it, and returned first */
    /* pool.ProcessCtx(context, nil), and the cancel of the context by another thread */
    EXPECT(weir_runtime_submit_request(runtime, pool, work_while_wanted, NULL, WEIR_FOR_EVER,
                                       &reference) == 0);
    EXPECT(weir_runtime_cancel(runtime, reference) == 0);
    EXPECT(weir_runtime_await(runtime, reference, &answer) == WEIR_EUNKNOWN);
    /* pool.SetSize(8) */
    EXPECT(weir_runtime_resize_wait(runtime, pool, 8, WEIR_FOR_EVER, NULL) == 0);
    /* pool.Close() */
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

/* tunny's Worker.BlockUntilReady: the worker has a device that needs some time to warm up. */
struct device {
    bool is_warm;
};

static void warm_up(struct weir_self *self, void *state, void *context)
{
    struct device *device = state;

    (void)context;
    device->is_warm = true;
    EXPECT(weir_set_demand(self, 1) == 0);
}

/* The worker is open, and gets no message yet. */
static int open_device(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    EXPECT(weir_set_demand(self, 0) == 0);
    return weir_after(self, 10, warm_up, NULL, NULL);
}

static int use_device(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct device *device = state;

    (void)self;
    (void)message;
    EXPECT(device->is_warm);
    return WEIR_DONE;
}

static const struct weir_behaviour device_behaviour = {
    .name = "device", .state_size = sizeof(struct device), .open = open_device, .handle = use_device
};

static void like_a_worker_of_tunny(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct weir_message *message = weir_runtime_message_new(runtime, NULL, 0);
    weir_pid pool;

    options.path = "devices";
    options.behaviour = &device_behaviour;
    EXPECT(message && weir_runtime_add_pool(runtime, &options, &pool) == 0);
    EXPECT(weir_runtime_send_wait(runtime, pool, message, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_wait_idle(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

static void like_pond(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_group *group;
    int numbers[100];

    /* group, context := pool.GroupContext(parent) */
    EXPECT(weir_runtime_group_create(runtime, WEIR_GROUP_FIRST_ERROR, &group) == 0);
    /* group.Submit(...) */
    for (int i = 0; i < 100; i++) {
        numbers[i] = i;
        EXPECT(weir_runtime_group_submit(group, pool, square, &numbers[i], WEIR_FOR_EVER) == 0);
    }
    /* err := group.Wait() */
    EXPECT(weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended) == 0);
    EXPECT(ended.done == 100 && ended.first_error == 0 && numbers[9] == 81);
    /* the first error cancels the context, and what has not begun */
    EXPECT(weir_runtime_group_submit(group, pool, fail, NULL, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended) == 0);
    EXPECT(ended.first_error == 7);
    EXPECT(weir_runtime_group_submit(group, pool, fail, NULL, 0) == WEIR_ECANCELLED);
    weir_runtime_group_destroy(group);
    /* pool.StopAndWait() */
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

int main(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_runtime *runtime;

    options.threads = 4;
    EXPECT(weir_runtime_create(&options, &runtime) == 0);
    like_ants(runtime, make_pool(runtime, "ants"));
    like_tunny(runtime, make_pool(runtime, "tunny"));
    like_a_worker_of_tunny(runtime);
    like_pond(runtime, make_pool(runtime, "pond"));
    EXPECT(weir_runtime_shutdown(runtime, WEIR_FOR_EVER) == 0);
    weir_runtime_destroy(runtime);
    return 0;
}
