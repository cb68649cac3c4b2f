/* SPDX-License-Identifier: MIT */
/* The calls of tunny, and its interface Worker: go.h. */
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "go.h"

static void use_pool(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;
    int number = 6, result, status;

    /* pool.Process(&number) */
    EXPECT(weir_runtime_submit_wait(runtime, pool, square, &number, WEIR_FOR_EVER, &result) == 0);
    EXPECT(result == 0 && number == 36);
    /* pool.ProcessTimed(nil, time.Millisecond): ErrJobTimedOut; tunny calls Interrupt, and a task
     * asks weir_task_is_wanted */
    status = weir_runtime_submit_wait(runtime, pool, work_while_wanted, NULL, 1, &result);
    /* 0: the task saw it, and returned first; WEIR_ETIMEOUT: it had not begun */
    EXPECT(status == WEIR_ERUNNING || status == WEIR_ETIMEOUT || status == 0);
    /* pool.ProcessCtx(context, nil), and the cancel of the context by another thread */
    EXPECT(weir_runtime_submit_request(runtime, pool, work_while_wanted, NULL, WEIR_FOR_EVER,
                                       &reference) == 0);
    status = weir_runtime_cancel(runtime, reference);
    EXPECT(status == 0 || status == WEIR_ERUNNING);
    EXPECT(weir_runtime_await(runtime, reference, &answer) == WEIR_EUNKNOWN);
    /* pool.SetSize(8), pool.GetSize(), pool.QueueLength() */
    EXPECT(weir_runtime_resize_wait(runtime, pool, 8, WEIR_FOR_EVER, NULL) == 0);
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    EXPECT(stats.live == 8 && stats.queued == 0);
    /* pool.Close(), twice */
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == WEIR_EUNKNOWN);
}

/* pool.ProcessCtx(context, nil) for several tasks, and the cancel of the context */
static void cancel_a_group(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_group *group;

    EXPECT(weir_runtime_group_create(runtime, 0, &group) == 0);
    for (int i = 0; i < 8; i++)
        EXPECT(weir_runtime_group_submit(group, pool, work_while_wanted, NULL, WEIR_FOR_EVER) == 0);
    weir_runtime_group_cancel(group);
    EXPECT(weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended) == 0);
    EXPECT(ended.done + ended.cancelled == 8);
    weir_runtime_group_destroy(group);
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

static void use_devices(struct weir_runtime *runtime)
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

/* Worker.Process, Worker.Interrupt and Worker.Terminate of tunny.New(4, constructor) */
struct doublers {
    _Atomic int opened, closed;
};

struct doubler {
    struct doublers *all;
};

static int open_doubler(struct weir_self *self, const void *settings, void *state)
{
    struct doubler *doubler = state;

    (void)self;
    doubler->all = (struct doublers *)(uintptr_t)settings;
    atomic_fetch_add(&doubler->all->opened, 1);
    return 0;
}

static int reply_twice(struct weir_self *self, const struct weir_message *message, int number)
{
    struct weir_message *reply = weir_message_new(self, NULL, sizeof number);

    if (!reply)
        return WEIR_FAIL;
    number *= 2;
    memcpy(reply->data, &number, sizeof number);
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

/* A 0 takes for ever; so it asks whether anybody still waits. */
static int double_number(struct weir_self *self, void *state, const struct weir_message *message)
{
    int number;

    (void)state;
    memcpy(&number, message->data, sizeof number);
    while (number == 0 && weir_is_wanted(self, message))
        sched_yield();
    return number == 0 ? WEIR_REJECT : reply_twice(self, message, number);
}

static void close_doubler(struct weir_self *self, void *state, int reason)
{
    struct doubler *doubler = state;

    (void)self;
    (void)reason;
    atomic_fetch_add(&doubler->all->closed, 1);
}

static const struct weir_behaviour doubler_behaviour = { .name = "doubler",
                                                         .state_size = sizeof(struct doubler),
                                                         .open = open_doubler,
                                                         .handle = double_number,
                                                         .close = close_doubler };

static struct weir_message *make_number(struct weir_runtime *runtime, int number)
{
    struct weir_message *message = weir_runtime_message_new(runtime, NULL, sizeof number);

    EXPECT(message);
    memcpy(message->data, &number, sizeof number);
    return message;
}

static void use_doublers(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct weir_answer answer = WEIR_ANSWER;
    struct doublers all = { 0 };
    uint64_t reference;
    weir_pid pool;
    int number, status;

    options.path = "doublers";
    options.workers = 4;
    options.behaviour = &doubler_behaviour;
    options.settings = &all;
    EXPECT(weir_runtime_add_pool(runtime, &options, &pool) == 0);
    /* pool.Process(21) */
    EXPECT(weir_runtime_request_wait(runtime, pool, make_number(runtime, 21), WEIR_FOR_EVER,
                                     &reference) == 0);
    EXPECT(weir_runtime_await(runtime, reference, &answer) == 0);
    memcpy(&number, answer.message->data, sizeof number);
    weir_runtime_message_free(runtime, answer.message);
    EXPECT(number == 42);
    /* pool.ProcessTimed(0, time.Millisecond) */
    EXPECT(weir_runtime_request_wait(runtime, pool, make_number(runtime, 0), 1, &reference) == 0);
    status = weir_runtime_await(runtime, reference, &answer);
    EXPECT(status == WEIR_ERUNNING || status == WEIR_ETIMEOUT || status == WEIR_EREJECTED);
    /* pool.Close() */
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
    /* A worker that the end of the pool has overtaken neither opens nor closes. */
    EXPECT(atomic_load(&all.closed) > 0 && all.closed == all.opened);
}

void like_tunny(struct weir_runtime *runtime)
{
    use_pool(runtime, make_pool(runtime, "tunny"));
    cancel_a_group(runtime, make_pool(runtime, "tunny"));
    use_devices(runtime);
    use_doublers(runtime);
}
