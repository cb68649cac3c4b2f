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

/* Moves all of `more` behind those of `queue`. */
static void append_all(struct message_queue *queue, struct message_queue *more)
{
    struct message *message;

    while ((message = message_queue_take(more)))
        message_queue_append(queue, message);
}

void front_prepend_all(struct actor *actor, struct message_queue *messages)
{
    append_all(messages, &actor->front);
    actor->front = *messages;
    *messages = (struct message_queue){ 0 };
    actor_disturb(actor);
}

struct message_queue front_take_all(struct actor *actor)
{
    struct message_queue all = actor->front;

    actor->front = (struct message_queue){ 0 };
    return all;
}

void front_return_all(struct actor *actor, struct message_queue *messages)
{
    const struct message *row = actor->ext ? actor->ext->row : NULL;
    struct message *message;
    bool has_row = false;

    while ((message = message_queue_take(messages))) {
        has_row = has_row || message == row;
        message_queue_append(&actor->front, message);
    }
    if (!has_row)
        end_row(actor);
    actor_disturb(actor);
}
