/*
 * weir/tasks.h - libweir: functions as messages: task pools, groups, and waits for several things.
 *
 * Part of <weir/runtime.h>: include that. The words of that header hold here too.
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
 * `timeout_ms` of a function that submits: 0 tries once; WEIR_FOR_EVER waits without end for room.
 * With 0 the function may be called from a task; otherwise it answers WEIR_EDEADLK there.
 */
#ifndef WEIR_TASKS_H
#define WEIR_TASKS_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The task that runs now. Borrowed until the function returns. Made by the library: it may grow. */
struct weir_task {
    struct weir_self *self;             /* of its worker: weir_log, weir_send and the others */
    const struct weir_message *message; /* for weir_is_wanted, weir_time_left */
};

/*
 * A task. 0: it is done. Another number is its failure: the task is dead, `rejected`, its group
 * counts it as failed, and weir_runtime_submit_wait gets the number. Borrows `argument` for as long
 * as the program says.
 */
typedef int weir_task_function(struct weir_task *task, void *argument);

/* False when the result is not wanted any more: the time-out of weir_runtime_submit_wait is over,
 * the group was cancelled, or the pool or the runtime stops now. For a task that works for long. */
static inline bool weir_task_is_wanted(const struct weir_task *task)
{
    return weir_is_wanted(task->self, task->message);
}

/*
 * Makes a pool whose workers run tasks. As weir_runtime_add_pool; `behaviour` and `settings` are
 * NULL. With `workers` 8, eight tasks run at a time if the dispatcher has as many threads. Tasks
 * that sleep need a dispatcher of their own (weir_runtime_add_dispatcher). With WEIR_ROUTE_PULL no
 * task waits behind a long one while a worker is idle. Dead letters of tasks have no payload.
 */
WEIR_API int weir_runtime_add_task_pool(struct weir_runtime *runtime,
                                        const struct weir_pool_options *options,
                                        weir_pid *out_pool);

/*
 * Submits a task to a task pool. 0: it runs once, unless its pool is stopped before. WEIR_EFULL,
 * with `timeout_ms` 0; WEIR_ETIMEOUT; WEIR_ECLOSED, WEIR_ETERMINATED, WEIR_EUNKNOWN, WEIR_ENOMEM,
 * WEIR_EDEADLK: it never runs.
 */
WEIR_API int weir_runtime_submit(struct weir_runtime *runtime, weir_pid pool,
                                 weir_task_function *function, void *argument, uint64_t timeout_ms);

/*
 * Submits a task, waits for room, and then for its end; `timeout_ms` is for both together.
 * `out_result` is what the function returned, and 0 the status then. WEIR_ETIMEOUT: a task that has
 * not begun never begins. Otherwise as weir_runtime_submit; WEIR_ETERMINATED, WEIR_EREMOVED:
 * the pool was stopped first.
 */
WEIR_API int weir_runtime_submit_wait(struct weir_runtime *runtime, weir_pid pool,
                                      weir_task_function *function, void *argument,
                                      uint64_t timeout_ms, int *out_result);

/*
 * Submits a task and gives a reference, for weir_runtime_await, weir_runtime_await_any and
 * weir_runtime_cancel; the answer's message has the result (weir_task_result). `timeout_ms` is the
 * time-out of the task; the function does not wait for room. As weir_runtime_request.
 */
WEIR_API int weir_runtime_submit_request(struct weir_runtime *runtime, weir_pid pool,
                                         weir_task_function *function, void *argument,
                                         uint64_t timeout_ms, uint64_t *out_reference);

/* What the function of an answered task returned. */
static inline int weir_task_result(const struct weir_answer *answer)
{
    return *(const int *)answer->message->data;
}

/* A function and its argument. Frozen. */
struct weir_task_call {
    weir_task_function *function;
    void *argument;
};

/*
 * Submits `count` tasks in order. `out_count` is how many were accepted, from the front; with 0 all
 * of them. A status as of weir_runtime_submit is why the next one was not accepted. `timeout_ms` is
 * for all together. Borrows the array.
 */
WEIR_API int weir_runtime_submit_many(struct weir_runtime *runtime, weir_pid pool,
                                      const struct weir_task_call *calls, uint32_t count,
                                      uint64_t timeout_ms, uint32_t *out_count);

/*
 * Waits until a pool has nothing to do: every message that it has accepted is done, dead or moved.
 * 0: that was so at one moment. WEIR_ETIMEOUT, WEIR_EUNKNOWN, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_wait_idle(struct weir_runtime *runtime, weir_pid pool,
                                    uint64_t timeout_ms);

/* --- groups ----------------------------------------------------------------------------------- */

/* Messages with a common end. Any thread may use it, several at once. */
struct weir_group;

enum weir_group_flags {
    WEIR_GROUP_FIRST_ERROR = 1u << 0, /* the first failure cancels the group */
};

/* What became of the messages of a group. Begin with WEIR_GROUP_ENDED. */
struct weir_group_ended {
    uint32_t size;       /* of this struct */
    int32_t first_error; /* of the first that failed: the number that its function returned, or why
                          * it ended (WEIR_ECRASHED, WEIR_EREMOVED, ...); 0 = none */
    uint64_t done;
    uint64_t failed;
    uint64_t cancelled; /* had not begun when the group was cancelled */
    uint64_t open;      /* after a time-out: neither of the above yet */
};
#define WEIR_GROUP_ENDED                                                                           \
    {                                                                                              \
        sizeof(struct weir_group_ended), 0, 0, 0, 0, 0                                             \
    }

/* Makes a group; `flags` are bits of enum weir_group_flags. Returns owned. WEIR_EINVALID,
 * WEIR_ENOMEM. */
WEIR_API int weir_runtime_group_create(struct weir_runtime *runtime, uint32_t flags,
                                       struct weir_group **out_group);

/* As weir_runtime_submit, in a group. WEIR_ECANCELLED: the group was cancelled. */
WEIR_API int weir_runtime_group_submit(struct weir_group *group, weir_pid pool,
                                       weir_task_function *function, void *argument,
                                       uint64_t timeout_ms);

/* As weir_runtime_submit_many, in a group. */
WEIR_API int weir_runtime_group_submit_many(struct weir_group *group, weir_pid pool,
                                            const struct weir_task_call *calls, uint32_t count,
                                            uint64_t timeout_ms, uint32_t *out_count);

/*
 * Sends a message of the program to any pool or actor, in a group: the group hears how it ends.
 * Takes the message on 0. WEIR_EINVALID: the pool routes by broadcast; otherwise as
 * weir_runtime_submit.
 */
WEIR_API int weir_runtime_group_send(struct weir_group *group, weir_pid to,
                                     struct weir_message *message, uint64_t timeout_ms);

/*
 * Waits until none of the group's messages is open; a group may go on afterwards. `out` may be
 * NULL. 0, also when one failed; WEIR_ETIMEOUT, with the figures so far; WEIR_EINVALID: out->size
 * is too small; WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_group_wait(struct weir_group *group, uint64_t timeout_ms,
                                     struct weir_group_ended *out);

/* Cancels what has not begun: it becomes dead, `cancelled`. Running tasks see it in
 * weir_task_is_wanted. Further messages are refused with WEIR_ECANCELLED. Returns at once. */
WEIR_API void weir_runtime_group_cancel(struct weir_group *group);

/* Takes the group; NULL is allowed. Its messages go on. Before weir_runtime_destroy. */
WEIR_API void weir_runtime_group_destroy(struct weir_group *group);

/* --- several references ----------------------------------------------------------------------- */

/*
 * As weir_runtime_await for the first of several references that has an answer, or whose time-out
 * is over. `out_index` is which; only that one is closed. WEIR_ETIMEOUT with `out_index` = `count`:
 * none within `timeout_ms`. WEIR_EUNKNOWN also when none of them is open; others are skipped.
 */
WEIR_API int weir_runtime_await_any(struct weir_runtime *runtime, const uint64_t *references,
                                    uint32_t count, uint64_t timeout_ms, uint32_t *out_index,
                                    struct weir_answer *out);

/*
 * Waits for the answers to all references, each until its own time-out, and closes them: fills
 * `count` elements of `out`, each of which begins with WEIR_ANSWER, and of `statuses`. 0, or the
 * first status that is not 0.
 */
static inline int weir_runtime_await_all(struct weir_runtime *runtime, const uint64_t *references,
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
 * As weir_runtime_request in the normal lane, but waits for room first, in line with others. The
 * time-out is for the room and the answer together.
 */
WEIR_API int weir_runtime_request_wait(struct weir_runtime *runtime, weir_pid to,
                                       struct weir_message *message, uint64_t timeout_ms,
                                       uint64_t *out_reference);

#ifdef __cplusplus
}
#endif

#endif
