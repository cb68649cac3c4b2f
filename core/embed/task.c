#include "embed/task.h"

#include <stdio.h>
#include <string.h>

#include "weir_core.h"

/* One worker. */
struct task_worker {
    const struct weir_tag *tag; /* of tasks */
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct task_worker *)state)->tag = settings;
    return 0;
}

/* 0; or why the program does not get the result. */
static int reply(struct weir_self *self, const struct weir_message *request, int result)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof result);
    int status = WEIR_ENOMEM;

    if (message) {
        memcpy(message->data, &result, sizeof result);
        status = weir_reply(self, request, message);
    }
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

static int refuse(struct weir_self *self, const struct weir_message *message, int result)
{
    char reason[48];

    (void)snprintf(reason, sizeof reason, "the function returned %d", result);
    weir_reason(self, reason);
    group_note_error(message, result);
    return WEIR_REJECT;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct task_worker *worker = state;
    const struct weir_task_call *call = message->data;
    struct weir_task task = { .self = self, .message = message };
    int result;

    if (message->tag != worker->tag || message->size != sizeof *call) {
        weir_reason(self, "it is no task");
        return WEIR_REJECT;
    }
    result = call->function(&task, call->argument);
    if (message->kind == WEIR_REQUEST && reply(self, message, result) == WEIR_ENOMEM)
        weir_reason(self, "no memory for the result");
    return result == 0 ? WEIR_DONE : refuse(self, message, result);
}

const struct weir_behaviour task_behaviour = {
    .name = "task",
    .summary = "runs functions of the program",
    .state_size = sizeof(struct task_worker),
    .open = open_worker,
    .handle = handle,
};
