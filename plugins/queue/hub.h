/* SPDX-License-Identifier: MIT */
/*
 * hub.h - what all actors of this process that use one file share: a thread with the connection.
 *
 * A client is one worker or source. It gives pieces, and what became of those that it took; the hub
 * commits all that waits, and makes the descriptor of the client readable when something is there
 * for it. A store that fails is tried again until it works: meanwhile pieces wait.
 *
 * client_join -> client_put | client_settle | client_get_... -> client_leave. Functions of a client
 * may be called by its actor alone, in any thread; the hub's mutex protects what the hub shares.
 */
#ifndef HUB_H
#define HUB_H

#include "piece.h"
#include "settings.h"
#include "store.h"

/* What a client shows to people. */
struct client_figures {
    uint64_t pieces, bytes; /* of the queue */
    uint32_t waiting;       /* given and not stored; of a take: read and not emitted */
    bool has_trouble;       /* the store fails, or the disk has no room for a piece */
    bool is_full;           /* the queue, or the disk down to `min_free` */
    char trouble[PLACE_REASON_SIZE];
};

/* Joins the hub of the file, and makes it if it is the first. Returns 0, or a negative status whose
 * reason is logged. The second take of a queue is refused. Borrows the settings until it leaves. */
int client_join(struct weir_self *self, const struct queue_settings *settings, bool is_take,
                struct client **out);
/* Takes the client. What it gave and is not stored is dropped. Waits for the commit that runs; the
 * last one waits for the end of the hub. */
void client_leave(struct client *client);
/* Other settings, of the same file and queue. Borrows them until it leaves. */
void client_reconfigure(struct client *client, const struct queue_settings *settings);

/* Readable when there is something for the client. Borrowed. */
int client_descriptor(const struct client *client);
/* Call it when the descriptor is readable. */
void client_acknowledge(struct client *client);

/* Takes the piece, whose `of` is the kept message. */
void client_put(struct client *client, struct piece *piece);
/* Appends the pieces that are stored, oldest first, and those that never will be: PIECE_DEAD, with
 * the reason as their detail. */
void client_get_stored(struct client *client, struct piece_list *out);
/* Drops what waits; what is being committed is waited for. Appends the pieces that may be in the
 * file all the same, since their commit failed: PIECE_DEAD, with that as their detail. */
void client_withdraw(struct client *client, struct piece_list *out_doubtful);

/* Appends pieces that were taken. */
void client_get_taken(struct client *client, struct piece_list *out);
/* What became of a piece of client_get_taken: `end` with its fields. Takes the piece. */
void client_settle(struct client *client, struct piece *piece);
/* From now on the client gets no piece; those that are not got are ready for the next one. */
void client_stop(struct client *client);

void client_get_figures(struct client *client, struct client_figures *out);
/* Logs when the trouble of the figures begins and ends: one client of the hub does it for all. */
void client_log_trouble(struct client *client, struct weir_self *self,
                        const struct client_figures *figures);

#endif
