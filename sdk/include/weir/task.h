/* SPDX-License-Identifier: MIT */
/*
 * weir/task.h - a task: a function of the program or plugin, and its argument, that a worker runs.
 *
 * Part of <weir/plugin.h>: include that. Programs submit tasks with the functions of weir/tasks.h,
 * the threads of plugins with those of weir/port_tasks.h. A plugin that has a pool of tasks has a
 * behaviour for it:
 *
 *     { .name = "tasks", .summary = "runs functions of this plugin", .handle = weir_task_handle }
 */
#ifndef WEIR_TASK_H
#define WEIR_TASK_H

#include "delivery.h"
#include "port.h"

/* The running task. Borrowed until its function returns. Made by the library: it may grow. */
struct weir_task {
    struct weir_self *self;             /* the worker that runs the task, for weir_log, weir_send
                                         * and other calls */
    const struct weir_message *message; /* the task's message, for weir_is_wanted and
                                         * weir_time_left */
};

/*
 * The function of a task. 0 means success. Any other number is the task's failure: the message
 * becomes a dead letter with the reason `rejected`, the group counts the task as failed, and a
 * thread that waits for the result gets the number. The task borrows `argument`; the submitter
 * keeps it valid until the task has ended.
 */
typedef int weir_task_function(struct weir_task *task, void *argument);

/* False when the result is not used any more: its time-out is over, its group was
 * cancelled, or the pool or the runtime stops now. For a task with much to do. */
WEIR_INLINE bool weir_task_is_wanted(const struct weir_task *task)
{
    return weir_is_wanted(task->self, task->message);
}

/* The number that the function of a task returned. `answer` is an answer with status 0. */
WEIR_INLINE int weir_task_result(const struct weir_answer *answer)
{
    return *(const int *)answer->message->data;
}

/* A function and its argument. Frozen. */
struct weir_task_call {
    weir_task_function *function;
    void *argument;
};

/*
 * The `handle` of a behaviour whose workers run tasks. A message that is no task is rejected. Dead
 * letters of tasks have no payload, because an argument may be gone by then.
 */
WEIR_INLINE int weir_task_handle(struct weir_self *self, void *state,
                                 const struct weir_message *message)
{
    (void)state;
    return self->host->task(self, message);
}

/* --- groups ----------------------------------------------------------------------------------- */

enum weir_group_flags {
    WEIR_GROUP_FIRST_ERROR = 1u << 0, /* the first failure cancels the group */
};

/* The outcomes of the messages of a group. Initialise it with WEIR_GROUP_ENDED. */
struct weir_group_ended {
    uint32_t size;       /* of this struct */
    int32_t first_error; /* of the first message that failed: what its function returned, or a
                          * status (WEIR_ECRASHED, WEIR_EREMOVED, ...); 0 = none */
    uint64_t done;
    uint64_t failed;
    uint64_t cancelled; /* messages that had not begun when the group was cancelled */
    uint64_t open;      /* after a time-out: messages that have not ended */
};
#define WEIR_GROUP_ENDED                                                                           \
    {                                                                                              \
        sizeof(struct weir_group_ended), 0, 0, 0, 0, 0                                             \
    }

#endif
