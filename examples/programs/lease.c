/* SPDX-License-Identifier: MIT */
/* Takes a worker for itself, asks it twice, and returns it: as with a connection of a pool. */
#include <stdio.h>

#include <weir/runtime.h>

/* What a worker keeps while it lives, such as a connection. */
struct counter {
    int value;
};

static int count(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, NULL, sizeof(int));
    struct counter *counter = state;

    if (!reply)
        return WEIR_POSTPONE;
    *(int *)reply->data = ++counter->value;
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

/* The lease is over: the next holder begins at 0. */
static int reset(struct weir_self *self, void *state)
{
    struct counter *counter = state;

    (void)self;
    counter->value = 0;
    return 0;
}

static const struct weir_behaviour counting = {
    .name = "counting",
    .summary = "counts the requests of the holder of its lease",
    .state_size = sizeof(struct counter),
    .handle = count,
    .returned = reset,
};

/* Asks the leased worker, and prints its answer. */
static int ask(struct weir_runtime *runtime, const struct weir_lease *lease)
{
    struct weir_message *message = weir_runtime_message_new(runtime, NULL, 0);
    struct weir_answer answer = WEIR_ANSWER;
    int status = WEIR_ENOMEM;

    if (message)
        status = weir_runtime_lease_ask(runtime, lease, message, 1000, &answer);
    if (status == 0) {
        printf("request %d\n", *(const int *)answer.message->data);
        weir_runtime_message_free(runtime, answer.message);
    }
    return status;
}

int main(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    struct weir_runtime *runtime;
    struct weir_lease lease;
    weir_pid counters;
    int status;

    pool.path = "counters";
    pool.behaviour = &counting;
    pool.workers = 2;
    pool.route = WEIR_ROUTE_PULL;
    pool.lease = 1;
    if (weir_runtime_create(&options, &runtime) != 0 ||
        weir_runtime_add_pool(runtime, &pool, &counters) != 0)
        return 70;
    status = weir_runtime_take(runtime, counters, 1000, &lease); /* waits for a free worker */
    if (status == 0) {
        status = ask(runtime, &lease);
        if (status == 0)
            status = ask(runtime, &lease);
        (void)weir_runtime_return(runtime, &lease, status == 0 ? WEIR_DONE : WEIR_FAIL);
    }
    if (status != 0)
        printf("no answer: %s\n", weir_status_text(status));
    weir_runtime_destroy(runtime);
    return status != 0;
}
