#include "actor/storing.h"

void storing_init(struct storing *storing)
{
    *storing = (struct storing){ .ended_to = 0 };
    lock_init(&storing->lock, LOCK_STORING);
}

void storing_finish(struct storing *storing, struct cache *cache)
{
    struct message *message;

    while ((message = message_queue_take(&storing->held)))
        message_destroy(cache, message);
    lock_finish(&storing->lock);
}

bool storing_hold(struct storing *storing, struct message *message, uint64_t number,
                  bool *out_is_stored)
{
    bool holds;

    lock_acquire(&storing->lock);
    holds = number > storing->ended_to;
    if (holds) {
        message->record = number;
        message_queue_append(&storing->held, message);
    } else {
        *out_is_stored = number > storing->lost_to;
    }
    lock_release(&storing->lock);
    return holds;
}

void storing_end(struct storing *storing, uint64_t number, bool is_stored)
{
    lock_acquire(&storing->lock);
    storing->ended_to = number;
    if (!is_stored)
        storing->lost_to = number;
    lock_release(&storing->lock);
}

/*
 * The numbers in the queue are not quite in order, since another thread may append between an
 * append and its hold. A message behind one with a higher number waits for that one, whose record
 * ends later.
 */
struct message *storing_take(struct storing *storing, bool *out_is_stored)
{
    struct message *message;

    lock_acquire(&storing->lock);
    message = message_queue_first(&storing->held);
    message = message && message->record <= storing->ended_to ? message_queue_take(&storing->held)
                                                              : NULL;
    *out_is_stored = message && message->record > storing->lost_to;
    lock_release(&storing->lock);
    return message;
}
