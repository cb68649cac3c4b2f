/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "hub_parts.h"

/* --- pieces in hand --------------------------------------------------------------------------- */

static struct in_hand *find(const struct hub_queue *queue, int64_t id)
{
    for (uint32_t i = 0; i < queue->in_hand_count; i++)
        if (queue->in_hand[i].id == id)
            return &queue->in_hand[i];
    return NULL;
}

static bool is_in_hand(void *context, int64_t id)
{
    return find(context, id) != NULL;
}

bool feed_has(const struct hub_queue *queue, int64_t id)
{
    return find(queue, id) != NULL;
}

static bool reserve(struct hub_queue *queue, uint32_t more)
{
    uint32_t capacity = queue->in_hand_count + more;
    struct in_hand *items;

    if (capacity <= queue->in_hand_capacity)
        return true;
    items = realloc(queue->in_hand, (size_t)capacity * 2 * sizeof *items);
    if (!items)
        return false;
    queue->in_hand = items;
    queue->in_hand_capacity = capacity * 2;
    return true;
}

void feed_mark_ending(struct hub_queue *queue, int64_t id)
{
    struct in_hand *item = find(queue, id);

    if (item)
        item->is_ending = true;
}

void feed_end(struct hub_queue *queue, int64_t id)
{
    struct in_hand *item = find(queue, id);

    if (item)
        *item = queue->in_hand[--queue->in_hand_count];
}

void feed_rewind(struct hub_queue *queue)
{
    queue->cursor = (struct store_cursor){ INT64_MIN, 0 };
    queue->is_read_out = false;
}

static void forget(struct hub_queue *queue)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < queue->in_hand_count; i++)
        if (queue->in_hand[i].is_ending)
            queue->in_hand[kept++] = queue->in_hand[i];
    queue->in_hand_count = kept;
    queue->forgets = false;
    feed_rewind(queue);
}

void feed_forget_locked(struct hub *hub)
{
    bool forgets = false;

    for (struct hub_queue *queue = hub->queues; queue; queue = queue->next)
        forgets = forgets || queue->forgets;
    if (!forgets)
        return;
    for (struct piece *piece = hub->settled.first; piece; piece = piece->next)
        feed_mark_ending(piece->queue, piece->id);
    for (struct hub_queue *queue = hub->queues; queue; queue = queue->next)
        if (queue->forgets)
            forget(queue);
}

/* --- feeding ---------------------------------------------------------------------------------- */

/* How many pieces the take of a queue may get now. Locked. */
static uint32_t room_of(const struct hub_queue *queue, uint64_t *out_bytes)
{
    const struct client *taker = queue->taker;

    if (!queue->store || !taker || taker->is_stopped || queue->is_read_out || queue->forgets ||
        taker->out >= taker->settings.window || taker->ready.bytes >= FEED_BYTES)
        return 0;
    *out_bytes = FEED_BYTES - taker->ready.bytes;
    return taker->settings.window - taker->out;
}

static void give_locked(struct hub_queue *queue, struct client *taker, struct piece_list *pieces)
{
    struct piece *piece;

    while ((piece = piece_list_take(pieces)) != NULL) {
        piece->queue = queue;
        queue->in_hand[queue->in_hand_count++] = (struct in_hand){ piece->id, false };
        taker->out++;
        piece_list_append(&taker->ready, piece);
    }
    hub_wake_client(taker);
}

/* Locked; not while it reads. */
static int feed(struct hub *hub, struct hub_queue *queue)
{
    struct piece_list pieces = { NULL, NULL, 0, 0 };
    struct client *taker = queue->taker;
    uint64_t bytes = 0;
    uint32_t room = room_of(queue, &bytes);
    int status;

    if (room == 0)
        return 0;
    if (!reserve(queue, room)) {
        (void)snprintf(hub->store.error, sizeof hub->store.error, "memory is out");
        return -1;
    }
    queue->is_read_out = true; /* until a commit adds pieces */
    (void)pthread_mutex_unlock(&hub->lock);
    status = store_read(&hub->store, queue->store, &queue->cursor, room, bytes, is_in_hand, queue,
                        &pieces);
    (void)pthread_mutex_lock(&hub->lock);
    if (pieces.count == room || pieces.bytes >= bytes)
        queue->is_read_out = false;
    if (pieces.count > 0 && queue->taker == taker && !taker->is_stopped && !queue->forgets) {
        give_locked(queue, taker, &pieces);
    } else if (pieces.count > 0) {
        piece_list_free(&pieces);
        feed_rewind(queue);
    }
    return status;
}

int feed_all(struct hub *hub)
{
    int status = 0;
    uint64_t bytes;

    (void)pthread_mutex_lock(&hub->lock);
    for (struct hub_queue *queue = hub->queues; queue && status == 0; queue = queue->next)
        if (room_of(queue, &bytes) > 0)
            status = store_is_there(&hub->store) ? feed(hub, queue) : -1;
    (void)pthread_mutex_unlock(&hub->lock);
    return status;
}
