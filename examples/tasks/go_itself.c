/* SPDX-License-Identifier: MIT */
/* Go's own channels, wait groups and limits: go.h. */
#include "go.h"

static int swallow(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour channel_behaviour = { .name = "channel", .handle = swallow };

static struct weir_message *make_message(struct weir_runtime *runtime)
{
    struct weir_message *message = weir_runtime_message_new(runtime, NULL, 0);

    EXPECT(message);
    return message;
}

/* ch := make(chan T); one goroutine receives. */
static void use_channel(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct weir_message *message = make_message(runtime);
    weir_pid channel;
    int status;

    options.path = "channel";
    options.behaviour = &channel_behaviour;
    options.limit = WEIR_UNBUFFERED;
    EXPECT(weir_runtime_add_pool(runtime, &options, &channel) == 0);
    /* ch <- v */
    EXPECT(weir_runtime_send_wait(runtime, channel, message, WEIR_FOR_EVER) == 0);
    /* sync.WaitGroup's Wait */
    EXPECT(weir_runtime_wait_idle(runtime, channel, WEIR_FOR_EVER) == 0);
    /* select { case ch <- v: default: } */
    message = make_message(runtime);
    status = weir_runtime_send(runtime, channel, WEIR_NORMAL, message);
    EXPECT(status == 0 || status == WEIR_EFULL); /* FULL: the worker is in its last turn */
    if (status != 0)
        weir_runtime_message_free(runtime, message);
    /* close(ch), twice; ch <- v panics in Go */
    EXPECT(weir_runtime_close(runtime, channel) == 0);
    EXPECT(weir_runtime_close_wait(runtime, channel, WEIR_FOR_EVER) == 0);
    message = make_message(runtime);
    status = weir_runtime_send_wait(runtime, channel, message, WEIR_FOR_EVER);
    EXPECT(status == WEIR_ETERMINATED || status == WEIR_EUNKNOWN);
    weir_runtime_message_free(runtime, message);
}

/* select { case <-one: case <-two: } */
static void await_several(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct gate gate = { false, false };
    uint64_t references[2];
    _Atomic int ran = 0;
    uint32_t first;

    EXPECT(weir_runtime_submit_request(runtime, pool, wait_at_gate, &gate, WEIR_FOR_EVER,
                                       &references[0]) == 0);
    EXPECT(weir_runtime_submit_request(runtime, pool, count, &ran, WEIR_FOR_EVER, &references[1]) ==
           0);
    EXPECT(weir_runtime_await_any(runtime, references, 2, WEIR_FOR_EVER, &first, &answer) == 0);
    EXPECT(first == 1 && weir_task_result(&answer) == 0);
    weir_runtime_message_free(runtime, answer.message);
    atomic_store(&gate.open, true);
    EXPECT(weir_runtime_await(runtime, references[0], &answer) == 0);
    weir_runtime_message_free(runtime, answer.message);
}

/* GOMAXPROCS; but for one pool, whose tasks wait for a disk, say. */
static weir_pid make_pool_with_threads(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid pool;

    EXPECT(weir_runtime_add_dispatcher(runtime, "disk", 8, 0) == 0);
    options.path = "disk";
    options.dispatcher = "disk";
    options.workers = 8;
    options.route = WEIR_ROUTE_PULL;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    return pool;
}

void like_go(struct weir_runtime *runtime)
{
    weir_pid pool = make_pool_with_threads(runtime);

    use_channel(runtime);
    await_several(runtime, pool);
    /* close(ch), twice */
    EXPECT(weir_runtime_close(runtime, pool) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}
