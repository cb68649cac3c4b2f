/* SPDX-License-Identifier: MIT */
/*
 * actor/task.h - runs tasks: messages with the tag TAG_TASK, whose payload is a struct
 * weir_task_call.
 *
 * The runtime makes these messages (face/groups.h). A worker that runs tasks refuses any other
 * message.
 */
#ifndef ACTOR_TASK_H
#define ACTOR_TASK_H

#include <weir/plugin.h>

/* The row of the host table: as weir_task_handle. */
int host_task(struct weir_self *self, const struct weir_message *message);

#endif
