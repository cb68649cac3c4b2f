#include "actor/front.h"

struct message *front_take(struct actor *actor)
{
    return message_queue_take(&actor->front);
}

void front_append(struct actor *actor, struct message *message)
{
    message_queue_append(&actor->front, message);
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

    actor->front = (struct message_queue){ 0 };
    return all;
}
