/*
 * embed/task.h - the behaviour of task pools, and the messages that it handles.
 *
 * A task is a message with the tag TASK_TAG, whose payload is a struct weir_task_call. Its
 * settings are that tag, so that a worker refuses any other message.
 */
#ifndef EMBED_TASK_H
#define EMBED_TASK_H

#include <weir/runtime.h>

#define TASK_TAG "weir.task"

extern const struct weir_behaviour task_behaviour;

#endif
