/* SPDX-License-Identifier: MIT */
/*
 * weir/port_tasks.h - calls of a plugin's own threads that wait: for room, for several answers, for
 * the end of tasks, for groups and idle pools.
 *
 * Part of <weir/plugin.h>: include that. The rules of weir/port.h apply, and the functions do what
 * those of libweir with the same names do (weir/tasks.h): `timeout_ms` 0 tries once, WEIR_FOR_EVER
 * waits without end. A thread of the runtime's dispatchers gets WEIR_EDEADLK when it would wait;
 * weir_port_begin_wait and weir_port_submit_wait refuse such a thread with every time-out. Each
 * function also returns WEIR_ECLOSED: the incarnation has ended.
 *
 * A wait goes on while `close` runs: it ends with its event or its time-out, or at the end of the
 * runtime with WEIR_ECLOSED. `close` joins the thread, so it would wait for a wait without end:
 * give the wait a time-out, or cancel its group or request.
 *
 * The pool of weir_port_submit has a behaviour with weir_task_handle. A function must not be part
 * of a plugin that is unloaded; a host keeps the code of earlier versions of a plugin.
 */
#ifndef WEIR_PORT_TASKS_H
#define WEIR_PORT_TASKS_H

#include "port.h"
#include "task.h"

/*
 * As weir_port_send, but waits up to `timeout_ms` while there is no room, in one queue with other
 * senders. Takes the message on 0. WEIR_ETIMEOUT, WEIR_EDEADLK. WEIR_EINVALID: the message has an
 * origin.
 */
WEIR_INLINE int weir_port_send_wait(struct weir_port *port, weir_pid to,
                                    struct weir_message *message, uint64_t timeout_ms)
{
    return port->calls->send_wait(port, to, message, timeout_ms);
}

/* --- requests --------------------------------------------------------------------------------- */

/*
 * Sends a request, and returns a reference for weir_port_await, weir_port_await_any and
 * weir_port_cancel, one of which is due. Takes the message on 0. `timeout_ms` is the time for the
 * answer. WEIR_EFULL and the other statuses of weir_send.
 */
WEIR_INLINE int weir_port_begin(struct weir_port *port, weir_pid to, struct weir_message *message,
                                uint64_t timeout_ms, uint64_t *out_reference)
{
    return port->calls->begin(port, to, message, false, timeout_ms, out_reference);
}

/* As weir_port_begin, but first waits for room. The time-out is for the room and the answer
 * together. */
WEIR_INLINE int weir_port_begin_wait(struct weir_port *port, weir_pid to,
                                     struct weir_message *message, uint64_t timeout_ms,
                                     uint64_t *out_reference)
{
    return port->calls->begin(port, to, message, true, timeout_ms, out_reference);
}

/*
 * Waits for an answer until the time-out of the request, and closes the reference. Returns 0 with
 * the reply in `out`, or a status of weir_port_request. WEIR_EUNKNOWN: the reference is not open,
 * or another thread waits for it.
 */
WEIR_INLINE int weir_port_await(struct weir_port *port, uint64_t reference, struct weir_answer *out)
{
    return port->calls->await(port, reference, out);
}

/*
 * As weir_port_await, for the first of `count` references that has an answer or whose time-out is
 * over. `out_index` is the index of this reference; only this reference is closed. References that
 * are not open are skipped. WEIR_ETIMEOUT with `out_index` = `count`: no answer within
 * `timeout_ms`. WEIR_EUNKNOWN: none of the references is open.
 */
WEIR_INLINE int weir_port_await_any(struct weir_port *port, const uint64_t *references,
                                    uint32_t count, uint64_t timeout_ms, uint32_t *out_index,
                                    struct weir_answer *out)
{
    return port->calls->await_any(port, references, count, timeout_ms, out_index, out);
}

/*
 * Waits for the answers to all references, each until its own time-out, and closes the references.
 * Fills `count` elements of `statuses` and of `out`; initialise each element of `out` with
 * WEIR_ANSWER. Returns 0, or the first status that is not 0.
 */
WEIR_INLINE int weir_port_await_all(struct weir_port *port, const uint64_t *references,
                                    uint32_t count, struct weir_answer *out, int *statuses)
{
    int status = 0;

    for (uint32_t i = 0; i < count; i++) {
        statuses[i] = weir_port_await(port, references[i], &out[i]);
        if (status == 0)
            status = statuses[i];
    }
    return status;
}

/* Gives up a request; a thread that waits for the answer returns. An answer is freed. Also works
 * when the port is closed, and then frees a reference that a call left open with WEIR_ECLOSED.
 * Returns 0, WEIR_ERUNNING or WEIR_EUNKNOWN as weir_runtime_cancel. */
WEIR_INLINE int weir_port_cancel(struct weir_port *port, uint64_t reference)
{
    return port->calls->cancel(port, reference);
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* Submits a task. On 0 the task runs once, unless the pool is stopped first; after any other status
 * it never runs: WEIR_EFULL, WEIR_ETIMEOUT, a status of weir_send, or WEIR_EINVALID: no
 * function, or the pool routes by broadcast or hash. */
WEIR_INLINE int weir_port_submit(struct weir_port *port, weir_pid pool,
                                 weir_task_function *function, void *argument, uint64_t timeout_ms)
{
    const struct weir_task_call call = { function, argument };
    uint32_t taken;

    return port->calls->submit(port, pool, &call, 1, timeout_ms, &taken);
}

/* Submits `count` tasks in order. Borrows the array. `out_count` is the number of accepted tasks,
 * counted from the front, also after an error. `timeout_ms` is for all tasks together. */
WEIR_INLINE int weir_port_submit_many(struct weir_port *port, weir_pid pool,
                                      const struct weir_task_call *calls, uint32_t count,
                                      uint64_t timeout_ms, uint32_t *out_count)
{
    return port->calls->submit(port, pool, calls, count, timeout_ms, out_count);
}

/* Submits a task as a request: a reference as of weir_port_begin. The answer has the result
 * (weir_task_result). */
WEIR_INLINE int weir_port_submit_request(struct weir_port *port, weir_pid pool,
                                         weir_task_function *function, void *argument,
                                         uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct weir_task_call call = { function, argument };

    return port->calls->submit_request(port, pool, &call, timeout_ms, out_reference);
}

/* Submits a task, waits for room, and then for the end of the task; `timeout_ms` is for both
 * together. On 0 `out_result` is the result of the function. WEIR_ETIMEOUT: the function never
 * begins, so `argument` may be freed. After WEIR_ERUNNING and WEIR_ECLOSED it may be running, so
 * `argument` must stay valid. */
WEIR_INLINE int weir_port_submit_wait(struct weir_port *port, weir_pid pool,
                                      weir_task_function *function, void *argument,
                                      uint64_t timeout_ms, int *out_result)
{
    const struct weir_task_call call = { function, argument };

    return port->calls->submit_wait(port, pool, &call, timeout_ms, out_result);
}

/* Waits until a pool has nothing to do: every message that it has accepted is done, dead or moved.
 * 0: this was so at one moment. WEIR_ETIMEOUT, WEIR_EUNKNOWN, WEIR_EDEADLK. */
WEIR_INLINE int weir_port_wait_idle(struct weir_port *port, weir_pid pool, uint64_t timeout_ms)
{
    return port->calls->wait_idle(port, pool, timeout_ms);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* A set of messages that the plugin's threads wait for or cancel together. Any thread. */
struct weir_port_group {
    const struct weir_port_calls *calls; /* const */
};

/* Makes a group, which has a reference of the port. `flags` has bits of enum weir_group_flags.
 * Returns owned. WEIR_EINVALID: an unknown flag. WEIR_ENOMEM. */
WEIR_INLINE int weir_port_group_create(struct weir_port *port, uint32_t flags,
                                       struct weir_port_group **out_group)
{
    return port->calls->group_create(port, flags, out_group);
}

/* As weir_port_submit, in a group. WEIR_ECANCELLED: the group was cancelled. */
WEIR_INLINE int weir_port_group_submit(struct weir_port_group *group, weir_pid pool,
                                       weir_task_function *function, void *argument,
                                       uint64_t timeout_ms)
{
    const struct weir_task_call call = { function, argument };
    uint32_t taken;

    return group->calls->group_submit(group, pool, &call, 1, timeout_ms, &taken);
}

/* As weir_port_submit_many, in a group. */
WEIR_INLINE int weir_port_group_submit_many(struct weir_port_group *group, weir_pid pool,
                                            const struct weir_task_call *calls, uint32_t count,
                                            uint64_t timeout_ms, uint32_t *out_count)
{
    return group->calls->group_submit(group, pool, calls, count, timeout_ms, out_count);
}

/* Sends a message from the actor, in a group: the group counts how the message ends. `to` 0 = the
 * actor itself. Takes the message on 0. WEIR_EINVALID: the pool routes by broadcast, or the message
 * is a request or has an origin. */
WEIR_INLINE int weir_port_group_send(struct weir_port_group *group, weir_pid to,
                                     struct weir_message *message, uint64_t timeout_ms)
{
    return group->calls->group_send(group, to, message, timeout_ms);
}

/* Waits until none of the group's messages is open. 0, also when a message failed. `out` may be
 * NULL. WEIR_ETIMEOUT: `out` has the figures so far. WEIR_EINVALID: out->size is too small. */
WEIR_INLINE int weir_port_group_wait(struct weir_port_group *group, uint64_t timeout_ms,
                                     struct weir_group_ended *out)
{
    return group->calls->group_wait(group, timeout_ms, out);
}

/* Cancels a group: messages that have not begun become dead letters with the reason `cancelled`.
 * The group refuses further messages. Returns at once. */
WEIR_INLINE void weir_port_group_cancel(struct weir_port_group *group)
{
    group->calls->group_cancel(group);
}

/* Frees a group. Takes it; NULL is allowed. Its messages are not cancelled. Call it before `close`
 * returns. */
WEIR_INLINE void weir_port_group_destroy(struct weir_port_group *group)
{
    if (group)
        group->calls->group_destroy(group);
}

#endif
