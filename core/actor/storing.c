/* SPDX-License-Identifier: MIT */
#include "actor/storing.h"

#include <stdlib.h>

#include <weir/status.h>

#include "face/dead_store.h"

void storing_init(struct storing *storing)
{
    *storing = (struct storing){ .other_count = 0 };
    lock_init(&storing->lock, LOCK_STORING);
}

static void finish_stream(struct storing_stream *stream, struct cache *cache)
{
    struct message *message;

    while ((message = message_queue_take(&stream->held)))
        message_destroy(cache, message);
}

void storing_finish(struct storing *storing, struct cache *cache)
{
    for (uint32_t i = 0; i < STORING_FIRST; i++)
        finish_stream(&storing->first[i], cache);
    for (uint32_t i = 0; i < storing->other_count; i++)
        finish_stream(&storing->others[i], cache);
    free(storing->others);
    lock_finish(&storing->lock);
}

/* False: no memory. */
static bool grow_locked(struct storing *storing, uint32_t count)
{
    struct storing_stream *others = realloc(storing->others, count * sizeof *others);

    if (!others)
        return false;
    storing->others = others;
    while (storing->other_count < count)
        others[storing->other_count++] = (struct storing_stream){ .ended_to = 0 };
    return true;
}

/* NULL: no memory. */
static struct storing_stream *stream_locked(struct storing *storing, uint64_t number)
{
    uint32_t index = (uint32_t)(number >> DEAD_STORE_STREAM_SHIFT);

    if (index < STORING_FIRST)
        return &storing->first[index];
    index -= STORING_FIRST;
    if (index >= storing->other_count && !grow_locked(storing, index + 1))
        return NULL;
    return &storing->others[index];
}

bool storing_hold(struct storing *storing, struct message *message, uint64_t number,
                  bool *out_is_stored)
{
    struct storing_stream *stream;
    bool holds;

    lock_acquire(&storing->lock);
    stream = stream_locked(storing, number);
    holds = stream && number > stream->ended_to;
    if (holds) {
        message->record = number;
        message_queue_append(&stream->held, message);
    } else {
        *out_is_stored = stream && number > stream->lost_to;
    }
    lock_release(&storing->lock);
    return holds;
}

int storing_end(struct storing *storing, uint64_t number, bool is_stored)
{
    struct storing_stream *stream;

    lock_acquire(&storing->lock);
    stream = stream_locked(storing, number);
    if (stream) {
        stream->ended_to = number;
        if (!is_stored)
            stream->lost_to = number;
    }
    lock_release(&storing->lock);
    return stream ? 0 : WEIR_ENOMEM;
}

/*
 * The numbers in the queue are not quite in order, since another thread may append between an
 * append and its hold. A message behind one with a higher number waits for that one, whose record
 * ends later.
 */
struct message *storing_take(struct storing *storing, uint64_t number, bool *out_is_stored)
{
    struct storing_stream *stream;
    struct message *message = NULL;

    lock_acquire(&storing->lock);
    stream = stream_locked(storing, number);
    if (stream)
        message = message_queue_first(&stream->held);
    message = message && message->record <= stream->ended_to ? message_queue_take(&stream->held)
                                                             : NULL;
    *out_is_stored = message && message->record > stream->lost_to;
    lock_release(&storing->lock);
    return message;
}
