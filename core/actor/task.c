/* SPDX-License-Identifier: MIT */
#include "actor/task.h"

#include <string.h>

#include "actor/group.h"
#include "actor/runtime.h"

/* 0; or why the requester does not get the result. */
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
    weir_reason(self, "the function returned %d", result);
    group_note_error(message, result);
    return WEIR_REJECT;
}

/* False: the function has put the message back, and is called again with it. */
static bool is_in_hand(struct weir_self *self, const struct weir_message *message)
{
    const struct message *current = actor_of_self(self)->current;

    return current && &current->public == message;
}

/* The host calls below are calls of the plugin: they enter the host one by one. */
int host_task(struct weir_self *self, const struct weir_message *message)
{
    const struct weir_task_call *call = message->data;
    struct weir_task task = { .self = self, .message = message };
    int result;

    if (message->tag != actor_of_self(self)->runtime->task_tag || message->size != sizeof *call) {
        weir_reason(self, "it is no task");
        return WEIR_REJECT;
    }
    result = call->function(&task, call->argument);
    if (!is_in_hand(self, message))
        return WEIR_DONE;
    if (message->kind == WEIR_REQUEST && reply(self, message, result) == WEIR_ENOMEM)
        weir_reason(self, "no memory for the result");
    return result == 0 ? WEIR_DONE : refuse(self, message, result);
}
