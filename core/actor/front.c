/* SPDX-License-Identifier: MIT */
#include "actor/front.h"

static void end_row(struct actor *actor)
{
    if (actor->ext)
        actor->ext->row = NULL;
}

struct message *front_take(struct actor *actor)
{
    end_row(actor);
    return message_queue_take(&actor->front);
}

void front_append(struct actor *actor, struct message *message)
{
    message_queue_append(&actor->front, message);
    actor_disturb(actor);
}

void front_put_back(struct actor *actor, struct actor_ext *ext, struct message *message)
{
    message_queue_insert(&actor->front, ext->row, message);
    ext->row = message;
    actor_disturb(actor);
}

void front_prepend_all(struct actor *actor, struct message_queue *messages)
{
    struct message_queue after = front_take_all(actor);
    struct message *message;

    while ((message = message_queue_take(&after)))
        message_queue_append(messages, message);
    actor->front = *messages;
    *messages = (struct message_queue){ 0 };
    actor_disturb(actor);
}

struct message_queue front_take_all(struct actor *actor)
{
    struct message_queue all = actor->front;

    end_row(actor);
    actor->front = (struct message_queue){ 0 };
    return all;
}
