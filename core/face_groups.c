/* SPDX-License-Identifier: MIT */
/* Tasks, and other messages of groups, from threads outside: face/groups.h. */
#include <string.h>

#include "actor/group.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/send_wait.h"
#include "face/messages.h"

#define NS_PER_MS 1000000u

/* Joins and sends, in a read section. Takes the message on 0. */
static int join_and_send(struct runtime *runtime, struct executor *executor, struct group *group,
                         weir_pid to, struct message *message)
{
    int status = group ? group_join(group, message) : 0;

    if (status != 0)
        return status;
    status = send_message(runtime, executor, to, WEIR_NORMAL, message);
    if (status != 0 && group)
        group_part(group, message, executor);
    return status;
}

/* Joins, and sends when there is room. Takes the message on 0. */
static int join_and_wait(struct runtime *runtime, struct group *group, weir_pid to,
                         struct message *message, uint64_t timeout_ms)
{
    struct executor *executor;
    int status = group ? group_join(group, message) : 0;

    if (status != 0)
        return status;
    status = send_wait(runtime, to, message, timeout_ms);
    if (status == 0 || !group)
        return status;
    executor = runtime_enter(runtime);
    group_part(group, message, executor);
    if (executor)
        runtime_leave(executor);
    return status;
}

int runtime_send_grouped(struct runtime *runtime, struct group *group, weir_pid to,
                         struct weir_message *message, uint64_t timeout_ms)
{
    struct executor *executor;
    int status;

    if (message->kind == WEIR_REQUEST || (message->reserved & MESSAGE_TRACKED))
        return WEIR_EINVALID;
    if (timeout_ms != 0 && runtime_is_own_thread(runtime))
        return WEIR_EDEADLK;
    executor = runtime_enter(runtime);
    if (!executor)
        return WEIR_ENOMEM;
    status = join_and_send(runtime, executor, group, to, message_of(message));
    runtime_leave(executor);
    if (status == WEIR_EFULL && timeout_ms != 0)
        status = join_and_wait(runtime, group, to, message_of(message), timeout_ms);
    return status;
}

/* --- many ----------------------------------------------------------------------------------- */

/* A number of tasks on their way. */
struct shipment {
    struct runtime *runtime;
    const struct submission *what;
    uint32_t taken;
    struct message *refused; /* the message of the next task; NULL: not made */
};

static struct message *make_next(struct shipment *shipment, struct executor *executor)
{
    const struct submission *what = shipment->what;
    struct message *message = shipment->refused;

    shipment->refused = NULL;
    if (message)
        return message;
    message = message_create(&executor->cache, shipment->runtime->task_tag, sizeof *what->calls);
    if (!message)
        return NULL;
    memcpy(message->public.data, &what->calls[shipment->taken], sizeof *what->calls);
    message->public.reserved |= MESSAGE_TASK;
    return message;
}

/* Sends until one is refused. In a read section. */
static int send_some(struct shipment *shipment, struct executor *executor)
{
    const struct submission *what = shipment->what;
    int status = 0;

    while (shipment->taken < what->count) {
        struct message *message;

        if (!what->calls[shipment->taken].function)
            return WEIR_EINVALID;
        message = make_next(shipment, executor);
        if (!message)
            return WEIR_ENOMEM;
        status = join_and_send(shipment->runtime, executor, what->group, what->to, message);
        if (status != 0) {
            shipment->refused = message;
            break;
        }
        shipment->taken++;
    }
    return status;
}

static int wait_for_one(struct shipment *shipment, uint64_t timeout_ms)
{
    int status = join_and_wait(shipment->runtime, shipment->what->group, shipment->what->to,
                               shipment->refused, timeout_ms);

    if (status != 0)
        return status;
    shipment->refused = NULL;
    shipment->taken++;
    return 0;
}

/* Until the deadline, rounded up. */
static uint64_t left_ms(const struct clock *clock, uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns(clock);

    if (deadline_ns == UINT64_MAX)
        return UINT64_MAX;
    return now < deadline_ns ? (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
}

static int send_all(struct shipment *shipment, uint64_t timeout_ms)
{
    const struct clock clock = clock_monotonic();
    uint64_t deadline_ns = 0; /* not read yet: a task that finds room needs no clock */

    for (;;) {
        struct executor *executor = runtime_enter(shipment->runtime);
        int status = executor ? send_some(shipment, executor) : WEIR_ENOMEM;

        if (executor)
            runtime_leave(executor);
        if (status != WEIR_EFULL || timeout_ms == 0)
            return status;
        if (deadline_ns == 0)
            deadline_ns = clock_after_ms(&clock, timeout_ms);
        status = wait_for_one(shipment, left_ms(&clock, deadline_ns));
        if (status != 0)
            return status;
    }
}

int runtime_submit(struct runtime *runtime, const struct submission *submission,
                   uint64_t timeout_ms, uint32_t *out_count)
{
    struct shipment shipment = { .runtime = runtime, .what = submission };
    int status = WEIR_EDEADLK;

    if (timeout_ms == 0 || !runtime_is_own_thread(runtime))
        status = send_all(&shipment, timeout_ms);
    if (shipment.refused)
        runtime_message_free(runtime, &shipment.refused->public);
    *out_count = shipment.taken;
    return status;
}

/* --- with a result -------------------------------------------------------------------------- */

int runtime_submit_request(struct runtime *runtime, weir_pid pool,
                           const struct weir_task_call *call, bool waits_for_room,
                           uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct request_options options = { .to = pool,
                                             .lane = WEIR_NORMAL,
                                             .timeout_ms = timeout_ms };
    struct weir_message *message;
    int status;

    if (!call->function)
        return WEIR_EINVALID;
    message = runtime_message_new(runtime, runtime->task_tag, sizeof *call);
    if (!message)
        return WEIR_ENOMEM;
    memcpy(message->data, call, sizeof *call);
    status = waits_for_room ? runtime_request_wait(runtime, &options, message, out_reference)
                            : runtime_request(runtime, &options, message, out_reference);
    if (status != 0)
        runtime_message_free(runtime, message);
    return status;
}

int runtime_submit_wait(struct runtime *runtime, weir_pid pool, const struct weir_task_call *call,
                        uint64_t timeout_ms, int *out_result)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;
    int status = WEIR_EDEADLK;

    if (!runtime_is_own_thread(runtime))
        status = runtime_submit_request(runtime, pool, call, true, timeout_ms, &reference);
    if (status != 0)
        return status;
    status = runtime_await(runtime, reference, &answer);
    if (status == 0)
        *out_result = weir_task_result(&answer);
    runtime_message_free(runtime, answer.message);
    return status;
}
