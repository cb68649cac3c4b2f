/* SPDX-License-Identifier: MIT */
/*
 * weir/tasks.h - libweir: functions as messages: task pools, groups, and waits for several answers.
 *
 * Part of <weir/runtime.h>: include that. The rules of that header apply.
 *
 *     static int square(struct weir_task *task, void *argument) { ...; return 0; }
 *
 *     weir_runtime_add_task_pool(runtime, &options, &pool);
 *     weir_runtime_submit(runtime, pool, square, &numbers[0], 0);
 *
 *     weir_runtime_group_create(runtime, 0, &group);
 *     weir_runtime_group_submit(group, pool, square, &numbers[1], WEIR_FOR_EVER);
 *     weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended);
 *     weir_runtime_group_destroy(group);
 *
 * A task is a message: it counts in the ledger of its pool, waits in a mailbox or, with
 * WEIR_ROUTE_PULL, in the queue of the pool, and survives a resize of the pool.
 *
 * `timeout_ms` of a function that submits is the time to wait for room: 0 tries once; WEIR_FOR_EVER
 * waits without end. With 0 a task may call the function; with another time-out the function
 * returns WEIR_EDEADLK in a task.
 */
#ifndef WEIR_TASKS_H
#define WEIR_TASKS_H

#include "messages.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_pool_options;

/*
 * Makes a pool whose workers run tasks. As weir_runtime_add_pool, with `behaviour` and `settings`
 * NULL. With `workers` 8, eight tasks run at a time if the dispatcher has as many threads. Tasks
 * that sleep need a dispatcher of their own (weir_runtime_add_dispatcher). With WEIR_ROUTE_PULL no
 * task waits behind a long one while a worker is idle. Dead letters of tasks have no payload.
 * WEIR_EINVALID also for WEIR_ROUTE_HASH and WEIR_ROUTE_BROADCAST.
 */
WEIR_API int weir_runtime_add_task_pool(struct weir_runtime *runtime,
                                        const struct weir_pool_options *options,
                                        weir_pid *out_pool);

/*
 * Submits a task to a task pool. On 0 the task runs once, unless the pool is stopped first. After
 * any other status the task never runs: WEIR_EFULL, with `timeout_ms` 0; WEIR_ETIMEOUT;
 * WEIR_EINVALID: no function; WEIR_ECLOSED, WEIR_ETERMINATED, WEIR_EUNKNOWN, WEIR_ENOMEM,
 * WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_submit(struct weir_runtime *runtime, weir_pid pool,
                                 weir_task_function *function, void *argument, uint64_t timeout_ms);

/*
 * Submits a task, waits for room, and then for the end of the task; `timeout_ms` is for both
 * together. On 0 `out_result` is the result of the function. WEIR_ETIMEOUT: the function never
 * begins, so `argument` may be freed. WEIR_ERUNNING: the time is over, and the function runs, so
 * `argument` must stay valid. WEIR_ETERMINATED, WEIR_EREMOVED: the pool was stopped first. Other
 * statuses as weir_runtime_submit.
 */
WEIR_API int weir_runtime_submit_wait(struct weir_runtime *runtime, weir_pid pool,
                                      weir_task_function *function, void *argument,
                                      uint64_t timeout_ms, int *out_result);

/*
 * Submits a task and returns a reference for weir_runtime_await, weir_runtime_await_any and
 * weir_runtime_cancel. The message of the answer has the result (weir_task_result). `timeout_ms` is
 * the time-out of the task; the function does not wait for room. Errors as weir_runtime_request.
 */
WEIR_API int weir_runtime_submit_request(struct weir_runtime *runtime, weir_pid pool,
                                         weir_task_function *function, void *argument,
                                         uint64_t timeout_ms, uint64_t *out_reference);

/*
 * Submits `count` tasks in order. Borrows the array. `out_count` is the number of accepted tasks,
 * counted from the front, also after an error. 0: all tasks were accepted. Any other status, as of
 * weir_runtime_submit, is the reason why the next task was not accepted. `timeout_ms` is for all
 * tasks together.
 */
WEIR_API int weir_runtime_submit_many(struct weir_runtime *runtime, weir_pid pool,
                                      const struct weir_task_call *calls, uint32_t count,
                                      uint64_t timeout_ms, uint32_t *out_count);

/*
 * Waits until a pool has nothing to do: every message that it has accepted is done, dead or moved.
 * 0: this was so at one moment. WEIR_ETIMEOUT, WEIR_EUNKNOWN, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_wait_idle(struct weir_runtime *runtime, weir_pid pool,
                                    uint64_t timeout_ms);

/* --- groups ----------------------------------------------------------------------------------- */

/* A set of messages that the program waits for or cancels together. Any thread may use it, also
 * several at once. */
struct weir_group;

/* Makes a group. `flags` has bits of enum weir_group_flags. Returns owned. WEIR_EINVALID: an
 * unknown flag. WEIR_ENOMEM. */
WEIR_API int weir_runtime_group_create(struct weir_runtime *runtime, uint32_t flags,
                                       struct weir_group **out_group);

/* As weir_runtime_submit, in a group. WEIR_ECANCELLED: the group was cancelled, and refuses the
 * task. */
WEIR_API int weir_runtime_group_submit(struct weir_group *group, weir_pid pool,
                                       weir_task_function *function, void *argument,
                                       uint64_t timeout_ms);

/* As weir_runtime_submit_many, in a group. */
WEIR_API int weir_runtime_group_submit_many(struct weir_group *group, weir_pid pool,
                                            const struct weir_task_call *calls, uint32_t count,
                                            uint64_t timeout_ms, uint32_t *out_count);

/*
 * Sends a message of the program to any pool or actor, in a group: the group counts how the message
 * ends. Takes the message on 0. WEIR_EINVALID: the pool routes by broadcast, or the message is a
 * request or has an origin. WEIR_ECANCELLED: the group was cancelled. Other statuses as
 * weir_runtime_submit.
 */
WEIR_API int weir_runtime_group_send(struct weir_group *group, weir_pid to,
                                     struct weir_message *message, uint64_t timeout_ms);

/*
 * Waits until none of the group's messages is open. The group may be used again afterwards. 0, also
 * when a message failed. `out` may be NULL. WEIR_ETIMEOUT: `out` has the figures so far.
 * WEIR_EINVALID: out->size is too small. WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_group_wait(struct weir_group *group, uint64_t timeout_ms,
                                     struct weir_group_ended *out);

/* Cancels a group: messages that have not begun become dead letters with the reason `cancelled`,
 * and weir_task_is_wanted is false in running tasks. The group refuses further messages with
 * WEIR_ECANCELLED. Returns at once. */
WEIR_API void weir_runtime_group_cancel(struct weir_group *group);

/* Frees a group. Takes it; NULL is allowed. The messages of the group are not cancelled. Call it
 * before weir_runtime_destroy. */
WEIR_API void weir_runtime_group_destroy(struct weir_group *group);

/* --- several references ----------------------------------------------------------------------- */

/*
 * As weir_runtime_await, for the first of `count` references that has an answer or whose time-out
 * is over. `out_index` is the index of this reference; only this reference is closed. References
 * that are not open are skipped. WEIR_ETIMEOUT with `out_index` = `count`: no answer within
 * `timeout_ms`. WEIR_EUNKNOWN: none of the references is open.
 */
WEIR_API int weir_runtime_await_any(struct weir_runtime *runtime, const uint64_t *references,
                                    uint32_t count, uint64_t timeout_ms, uint32_t *out_index,
                                    struct weir_answer *out);

/*
 * Waits for the answers to all references, each until its own time-out, and closes the references.
 * Fills `count` elements of `statuses` and of `out`; initialise each element of `out` with
 * WEIR_ANSWER. Returns 0, or the first status that is not 0.
 */
WEIR_INLINE int weir_runtime_await_all(struct weir_runtime *runtime, const uint64_t *references,
                                       uint32_t count, struct weir_answer *out, int *statuses)
{
    int status = 0;

    for (uint32_t i = 0; i < count; i++) {
        statuses[i] = weir_runtime_await(runtime, references[i], &out[i]);
        if (status == 0)
            status = statuses[i];
    }
    return status;
}

/*
 * As weir_runtime_request in the normal lane, but first waits for room, in one queue with other
 * senders. The time-out is for the room and the answer together. WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_request_wait(struct weir_runtime *runtime, weir_pid to,
                                       struct weir_message *message, uint64_t timeout_ms,
                                       uint64_t *out_reference);

#ifdef __cplusplus
}
#endif

#endif
