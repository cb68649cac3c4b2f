/* SPDX-License-Identifier: MIT */
#include "actor/port_tasks.h"

#include <stdlib.h>

#include "actor/external_await.h"
#include "actor/external_request.h"
#include "actor/port_entry.h"
#include "actor/runtime.h"
#include "face/groups.h"
#include "face/messages.h"

struct port_group {
    struct weir_port_group public; /* first */
    struct port *port;             /* const; counted */
    struct group *core;            /* const; valid while the port is open */
};

int port_send_wait(struct weir_port *public, weir_pid to, struct weir_message *message,
                   uint64_t timeout_ms)
{
    struct port *port = port_of(public);
    struct runtime *runtime;
    int status = port_hold(port, &runtime);

    if (status != 0)
        return status;
    message->from = port->pid;
    port_mark_own(port, to, message);
    status = port_unmark_own(
        message, runtime_send_grouped(runtime, NULL, to ? to : port->pid, message, timeout_ms));
    port_release(port, runtime);
    return to ? status : port_closed_if_gone(status);
}

/* --- requests ------------------------------------------------------------------------------- */

int port_begin(struct weir_port *public, weir_pid to, struct weir_message *message,
               bool waits_for_room, uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct request_options options = { .to = to,
                                             .lane = WEIR_NORMAL,
                                             .timeout_ms = timeout_ms };
    struct runtime *runtime;
    int status = port_hold_to(port_of(public), to, &runtime);

    if (status != 0)
        return status;
    port_mark_own(port_of(public), to, message);
    status = waits_for_room ? runtime_request_wait(runtime, &options, message, out_reference)
                            : runtime_request(runtime, &options, message, out_reference);
    port_release(port_of(public), runtime);
    return port_unmark_own(message, status);
}

/* WEIR_EDEADLK on a thread of a dispatcher; WEIR_ECLOSED. */
static int may_await(struct port *port)
{
    struct runtime *runtime;
    int status = port_hold(port, &runtime);

    if (status != 0)
        return status;
    status = runtime_is_own_thread(runtime) ? WEIR_EDEADLK : 0;
    port_release(port, runtime);
    return status;
}

static void explain(struct port *port, struct external_request_answer *answer)
{
    struct executor *executor;

    if (!answer->pool || port_enter(port, &executor) != 0)
        return;
    external_request_explain(executor->runtime, answer);
    runtime_leave(executor);
}

int port_await(struct weir_port *public, uint64_t reference, struct weir_answer *out)
{
    struct external_request_answer answer = { 0 };
    struct port *port = port_of(public);
    int status = external_request_can_show(out) ? may_await(port) : WEIR_EINVALID;

    if (status != 0)
        return status;
    port_engage(port, 1);
    status = external_requests_await(port->external_requests, reference, &answer);
    port_engage(port, -1);
    explain(port, &answer);
    external_request_show(&answer, out);
    return status;
}

int port_await_any(struct weir_port *public, const uint64_t *references, uint32_t count,
                   uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out)
{
    struct external_request_answer answer = { 0 };
    struct port *port = port_of(public);
    int status = external_request_can_show(out) ? may_await(port) : WEIR_EINVALID;

    if (status != 0)
        return status;
    port_engage(port, 1);
    status = external_requests_await_any(port->external_requests, references, count, timeout_ms,
                                         out_index, &answer);
    port_engage(port, -1);
    explain(port, &answer);
    external_request_show(&answer, out);
    return status;
}

/* The port is closed: no message notifies the receiver. */
static int give_up(struct port *port, uint64_t reference)
{
    struct external_request_answer answer;
    int status = external_requests_cancel(port->external_requests, reference, &answer);

    if (answer.reply)
        weir_port_message_free(&port->public, &answer.reply->public);
    return status;
}

int port_cancel(struct weir_port *public, uint64_t reference)
{
    struct runtime *runtime;
    int status = port_hold(port_of(public), &runtime);

    if (status != 0)
        return give_up(port_of(public), reference);
    status = runtime_cancel(runtime, reference);
    port_release(port_of(public), runtime);
    return status;
}

/* --- tasks ---------------------------------------------------------------------------------- */

static int submit(struct port *port, const struct submission *submission, uint64_t timeout_ms,
                  uint32_t *out_count)
{
    struct runtime *runtime;
    int status = port_hold_to(port, submission->to, &runtime);

    *out_count = 0;
    if (status != 0)
        return status;
    status = runtime_submit(runtime, submission, timeout_ms, out_count);
    port_release(port, runtime);
    return status;
}

int port_submit(struct weir_port *public, weir_pid pool, const struct weir_task_call *calls,
                uint32_t count, uint64_t timeout_ms, uint32_t *out_count)
{
    const struct submission submission = { .to = pool, .calls = calls, .count = count };

    return submit(port_of(public), &submission, timeout_ms, out_count);
}

int port_submit_request(struct weir_port *public, weir_pid pool, const struct weir_task_call *call,
                        uint64_t timeout_ms, uint64_t *out_reference)
{
    struct runtime *runtime;
    int status = port_hold_to(port_of(public), pool, &runtime);

    if (status != 0)
        return status;
    status = runtime_submit_request(runtime, pool, call, false, timeout_ms, out_reference);
    port_release(port_of(public), runtime);
    return status;
}

int port_submit_wait(struct weir_port *public, weir_pid pool, const struct weir_task_call *call,
                     uint64_t timeout_ms, int *out_result)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct port *port = port_of(public);
    struct runtime *runtime;
    uint64_t reference;
    int status = port_hold_to(port, pool, &runtime);

    if (status != 0)
        return status;
    status = runtime_is_own_thread(runtime)
                 ? WEIR_EDEADLK
                 : runtime_submit_request(runtime, pool, call, true, timeout_ms, &reference);
    port_release(port, runtime);
    if (status != 0)
        return status;
    status = port_await(public, reference, &answer);
    if (status == 0)
        *out_result = weir_task_result(&answer);
    else if (status == WEIR_ECLOSED)
        (void)port_cancel(public, reference);
    weir_port_message_free(public, answer.message);
    return status;
}

int port_wait_idle(struct weir_port *public, weir_pid pool, uint64_t timeout_ms)
{
    struct runtime *runtime;
    int status = port_hold(port_of(public), &runtime);

    if (status != 0)
        return status;
    status = runtime_wait_idle(runtime, pool, timeout_ms);
    port_release(port_of(public), runtime);
    return status;
}

/* --- groups --------------------------------------------------------------------------------- */

static struct port_group *group_of_public(struct weir_port_group *public)
{
    return (struct port_group *)(void *)public;
}

static int create_core(struct port *port, uint32_t flags, struct group **out)
{
    struct runtime *runtime;
    int status = port_hold(port, &runtime);

    if (status != 0)
        return status;
    status = group_create(runtime, flags, out);
    port_release(port, runtime);
    return status;
}

int port_group_create(struct weir_port *public, uint32_t flags, struct weir_port_group **out_group)
{
    struct port_group *group = calloc(1, sizeof *group);
    int status;

    if (!group)
        return WEIR_ENOMEM;
    status = create_core(port_of(public), flags, &group->core);
    if (status != 0) {
        free(group);
        return status;
    }
    group->public.calls = public->calls;
    group->port = port_of(weir_port_ref(public));
    *out_group = &group->public;
    return 0;
}

int port_group_submit(struct weir_port_group *public, weir_pid pool,
                      const struct weir_task_call *calls, uint32_t count, uint64_t timeout_ms,
                      uint32_t *out_count)
{
    const struct port_group *group = group_of_public(public);
    const struct submission submission = {
        .to = pool, .calls = calls, .count = count, .group = group->core
    };

    return submit(group->port, &submission, timeout_ms, out_count);
}

int port_group_send(struct weir_port_group *public, weir_pid to, struct weir_message *message,
                    uint64_t timeout_ms)
{
    const struct port_group *group = group_of_public(public);
    struct runtime *runtime;
    int status = port_hold_to(group->port, to, &runtime);

    if (status != 0)
        return status;
    message->from = group->port->pid;
    port_mark_own(group->port, to, message);
    status = port_unmark_own(message,
                             runtime_send_grouped(runtime, group->core, to ? to : group->port->pid,
                                                  message, timeout_ms));
    port_release(group->port, runtime);
    return to ? status : port_closed_if_gone(status);
}

int port_group_wait(struct weir_port_group *public, uint64_t timeout_ms,
                    struct weir_group_ended *out)
{
    const struct port_group *group = group_of_public(public);
    struct runtime *runtime;
    int status = port_hold(group->port, &runtime);

    if (status != 0)
        return status;
    status = group_wait(group->core, timeout_ms, out);
    port_release(group->port, runtime);
    return status;
}

void port_group_cancel(struct weir_port_group *public)
{
    const struct port_group *group = group_of_public(public);
    struct runtime *runtime;

    if (port_hold(group->port, &runtime) != 0)
        return;
    group_cancel(group->core);
    port_release(group->port, runtime);
}

/* The runtime frees the group of a closed port at its end. */
void port_group_destroy(struct weir_port_group *public)
{
    struct port_group *group = group_of_public(public);
    struct runtime *runtime;

    if (port_hold(group->port, &runtime) == 0) {
        group_destroy(group->core);
        port_release(group->port, runtime);
    }
    weir_port_unref(&group->port->public);
    free(group);
}
