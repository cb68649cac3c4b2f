/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "hub_parts.h"

/* --- collecting ------------------------------------------------------------------------------- */

/* The room that one more piece of this client has not. */
static enum lack lack_of(const struct client *client, const struct piece *piece,
                         uint64_t free_bytes)
{
    const struct queue_settings *settings = &client->settings;
    const struct hub_queue *queue = client->queue;
    uint64_t pieces = queue->store->committed.pieces + queue->planned_pieces;
    uint64_t bytes = queue->store->committed.bytes + queue->planned_bytes;

    if (pieces >= settings->limit || bytes + piece->size > settings->bytes)
        return LACKS_QUEUE;
    return free_bytes < settings->min_free + piece->size ? LACKS_DISK : LACKS_NOTHING;
}

static bool is_filled(const struct group *group)
{
    return group->puts.count + group->settled.count >= GROUP_OPERATIONS ||
           group->puts.bytes >= GROUP_BYTES;
}

/* One wake for all that the client has not got. */
static void give(struct client *client, struct piece *piece)
{
    piece_list_append(&client->ready, piece);
    if (client->ready.count == 1)
        hub_wake_client(client);
}

/* A reload has made `bytes` smaller than the first piece, so the queue never has room for it. */
static void refuse(struct client *client)
{
    struct piece *piece = piece_list_take(&client->waiting);

    piece->end = PIECE_DEAD;
    (void)snprintf(piece->detail, sizeof piece->detail, "too_large: more than `bytes`");
    give(client, piece);
}

static void prepare(struct piece *piece, const struct queue_settings *settings)
{
    piece->delay_ms = settings->after;
    piece->ahead_ms = settings->priority * (int64_t)settings->aging;
    piece->unique_ms = settings->unique;
}

/* A duplicate needs no room. (When its first piece is buried in the same group, the queue has a
 * piece more than its `limit`.) */
static bool is_duplicate(struct hub *hub, const struct client *client, const struct piece *piece,
                         const struct group *group)
{
    return client->settings.unique > 0 &&
           store_is_seen(&hub->store, client->queue->store, piece->name, group->wall_ms);
}

static void collect_puts(struct hub *hub, struct client *client, struct group *group,
                         uint64_t free_bytes)
{
    if (!client->waiting.first)
        client->lack = LACKS_NOTHING;
    while (client->waiting.first && !is_filled(group)) {
        struct piece *piece = client->waiting.first;

        if (piece->size > client->settings.bytes) {
            refuse(client);
            continue;
        }
        client->lack = lack_of(client, piece, free_bytes);
        if (client->lack == LACKS_QUEUE && is_duplicate(hub, client, piece, group))
            client->lack = LACKS_NOTHING;
        if (client->lack != LACKS_NOTHING)
            return;
        (void)piece_list_take(&client->waiting);
        client->queue->planned_pieces++;
        client->queue->planned_bytes += piece->size;
        client->busy++;
        prepare(piece, &client->settings);
        piece_list_append(&group->puts, piece);
        group->is_full = group->is_full || client->settings.sync == QUEUE_SYNC_FULL;
    }
}

void group_collect_locked(struct hub *hub, struct group *group, uint64_t free_bytes)
{
    struct client *client;
    int64_t now = hub_wall_ms();
    uint32_t count = 0, skip;

    *group = (struct group){ .wall_ms = now };
    while (hub->settled.first && !is_filled(group)) {
        struct piece *piece = piece_list_take(&hub->settled);

        piece_list_append(&group->settled, piece);
        feed_mark_ending(piece->queue, piece->id);
        group->is_full = group->is_full || !piece->is_lazy;
    }
    for (struct hub_queue *queue = hub->queues; queue; queue = queue->next)
        queue->planned_pieces = queue->planned_bytes = 0;
    for (client = hub->clients; client; client = client->next)
        count++;
    skip = count > 0 ? hub->round++ % count : 0;
    for (client = hub->clients; skip > 0; skip--)
        client = client->next;
    for (; count > 0; count--) {
        if (!client->is_take)
            collect_puts(hub, client, group, free_bytes);
        client = client->next ? client->next : hub->clients;
    }
    group->clamps = now < hub->last_wall_ms &&
                    (hub->next_due != STORE_NEVER || hub->next_until != STORE_NEVER);
    group->promotes = group->clamps || hub->next_due <= now;
    group->forgets = hub->next_until <= now;
}

bool group_is_empty(const struct group *group)
{
    return !group->settled.first && !group->puts.first && !group->promotes && !group->forgets;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_settled(struct store *store, const struct piece *piece, int64_t now)
{
    int64_t delay = piece->delay_ms < (uint64_t)INT32_MAX * 1000 ? (int64_t)piece->delay_ms
                                                                 : (int64_t)INT32_MAX * 1000;

    switch (piece->end) {
    case PIECE_DONE:
        return store_remove(store, piece->queue->store, piece->id, piece->size);
    case PIECE_RETRIED:
        return store_retry(store, piece->id, piece->attempt, now + delay, delay);
    case PIECE_DEAD:
        return store_bury(store, piece->id, piece->attempt, piece->reason, piece->detail);
    case PIECE_RETURNED:
        return 0;
    }
    return 0;
}

static int write_all(struct hub *hub, struct group *group)
{
    int64_t now = hub_wall_ms();
    int status = store_begin(&hub->store, group->is_full);

    for (struct piece *piece = group->settled.first; piece && status == 0; piece = piece->next)
        status = write_settled(&hub->store, piece, now);
    if (status == 0 && group->clamps) /* before the names are looked for */
        status = store_clamp(&hub->store, now);
    for (struct piece *piece = group->puts.first; piece && status == 0; piece = piece->next)
        status = store_insert(&hub->store, piece->queue->store, piece, now);
    if (status == 0 && group->forgets)
        status = store_forget_seen(&hub->store, now);
    if (status == 0 && group->promotes && store_promote(&hub->store, now) < 0)
        status = -1;
    return status;
}

enum store_result group_write(struct hub *hub, struct group *group)
{
    enum store_result result;

    if (write_all(hub, group) != 0) {
        store_roll_back(&hub->store);
        return STORE_FAILED;
    }
    result = store_commit(&hub->store);
    if (result == STORE_OK)
        hub_read_times(hub);
    return result;
}

/* --- what became of it ------------------------------------------------------------------------ */

static void finish_settled(struct group *group)
{
    struct piece *piece;

    while ((piece = piece_list_take(&group->settled)) != NULL) {
        feed_end(piece->queue, piece->id);
        if (piece->end == PIECE_RETURNED)
            feed_rewind(piece->queue);
        piece_destroy(piece);
    }
}

/* A piece with a priority may have its place before the last one that was read. */
static void rewind_to(struct hub_queue *queue, const struct piece *piece)
{
    if (!piece->is_duplicate && piece->rank < queue->cursor.rank)
        queue->cursor = (struct store_cursor){ piece->rank, piece->id - 1 };
}

static void finish_puts(struct group *group)
{
    struct piece *piece;

    while ((piece = piece_list_take(&group->puts)) != NULL) {
        struct client *client = piece->client;

        client->busy--;
        rewind_to(piece->queue, piece);
        give(client, piece);
    }
}

/* Puts the pieces back before those that wait, in their order. */
static void return_puts(struct hub *hub, struct group *group, bool is_in_doubt)
{
    for (struct client *client = hub->clients; client; client = client->next) {
        struct piece_list own = { NULL, NULL, 0, 0 }, others = { NULL, NULL, 0, 0 };
        struct piece *piece;

        while ((piece = piece_list_take(&group->puts)) != NULL) {
            piece->is_in_doubt = piece->is_in_doubt || is_in_doubt;
            piece_list_append(piece->client == client ? &own : &others, piece);
        }
        group->puts = others;
        client->busy -= own.count;
        piece_list_prepend_all(&client->waiting, &own);
    }
}

void group_finish_locked(struct hub *hub, struct group *group, enum store_result result)
{
    if (result == STORE_OK) {
        hub->last_wall_ms = group->wall_ms; /* a step of the clock is written until it is stored */
        finish_settled(group);
        finish_puts(group);
        for (struct hub_queue *queue = hub->queues; queue; queue = queue->next) {
            if (!queue->store)
                continue;
            queue->shown = queue->store->committed;
            queue->is_read_out = false;
            if (group->promotes)
                feed_rewind(queue);
        }
    } else {
        piece_list_prepend_all(&hub->settled, &group->settled);
        return_puts(hub, group, result == STORE_IN_DOUBT);
    }
}

/* -1: the file could not be asked about each piece. */
static int resolve(struct hub *hub, struct client *client)
{
    struct piece_list rest = { NULL, NULL, 0, 0 };
    struct piece *piece;
    int has = 0;

    while (has >= 0 && (piece = piece_list_take(&client->waiting)) != NULL) {
        has = piece->is_in_doubt ? store_has(&hub->store, piece->name) : 0;
        if (has > 0) {
            give(client, piece);
            continue;
        }
        piece->is_in_doubt = has < 0;
        piece_list_append(&rest, piece);
    }
    piece_list_prepend_all(&client->waiting, &rest);
    return has < 0 ? -1 : 0;
}

int group_resolve_locked(struct hub *hub)
{
    for (struct client *client = hub->clients; client; client = client->next)
        if (!client->is_take && resolve(hub, client) != 0)
            return -1;
    hub->store.doubt_after = -1;
    for (struct hub_queue *queue = hub->queues; queue; queue = queue->next) {
        if (queue->store)
            queue->shown = queue->store->committed;
        feed_rewind(queue);
    }
    return 0;
}
