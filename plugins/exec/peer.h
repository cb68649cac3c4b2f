/* SPDX-License-Identifier: MIT */
/*
 * peer.h - a child that stays: its process, the descriptors 3 and 4 for frames, and its output.
 *
 * Life: peer_init .. peer_finish; peer_start in between. Not synchronised. Standard input of the
 * child is empty; standard output and standard error go to the log.
 */
#ifndef PEER_H
#define PEER_H

#include "child.h"
#include "inbox.h"
#include "outbox.h"
#include "words.h"

struct peer {
    struct child child;
    bool watched; /* the end of the child */
    uint64_t watch;
    struct inbox inbox;   /* descriptor 4 of the child */
    struct outbox outbox; /* descriptor 3 of the child */
    struct stream bell;   /* descriptor 3 of the child again: bytes that it writes there */
    struct stream prints;
    struct words words;
    size_t json_max; /* as inbox_open */
};

/* The watches of a peer. */
struct peer_calls {
    weir_ready *ended;  /* calls peer_has_ended */
    weir_ready *frames; /* calls stream_fired of the inbox, and inbox_line */
    weir_ready *room;   /* calls outbox_fired, and outbox_write */
    weir_ready *prints; /* calls peer_on_prints */
};

/* `json_max` is that of inbox_open. */
void peer_init(struct peer *peer, uint32_t log_lines, size_t json_max);
/* Starts the program. Returns 0 or an errno; then nothing runs. Borrows. */
int peer_start(struct weir_self *self, struct peer *peer, const struct child_plan *plan,
               char *const *arguments, const struct peer_calls *calls);

/* Waits at most `left_ms`, which falls, for bytes at descriptor 4. True: the process has ended
 * without them. Logs what it prints meanwhile. */
bool peer_ends_early(struct weir_self *self, struct peer *peer, uint64_t *left_ms,
                     struct child_end *out_end);

/* For `ended`: true when the process has ended. Otherwise it watches again. */
bool peer_has_ended(struct weir_self *self, struct peer *peer, const struct peer_calls *calls,
                    struct child_end *out_end);
/* For `prints`: reads, and logs the lines. */
void peer_on_prints(struct weir_self *self, struct peer *peer, const struct peer_calls *calls);

/* From now on `rings` is called when the child writes to descriptor 3. Returns 0 or an errno; then
 * it is not. */
int peer_hear_bell(struct weir_self *self, struct peer *peer, weir_ready *rings);
/* For `rings`: takes what the child wrote there, and watches again unless it has closed it. Returns
 * 0 or an errno; then it does not watch. */
int peer_take_bell(struct weir_self *self, struct peer *peer, weir_ready *rings);
/* Waits for frames, and takes the time off `left_ms`; with `is_blocked` for a moment, since they
 * may not be read yet. Logs what it prints meanwhile. False: the process has ended, or the time is
 * over. */
bool peer_await_frames(struct weir_self *self, struct peer *peer, bool is_blocked,
                       uint64_t *left_ms);
/* Ends descriptor 3, and waits at most `wait_ms` until the process has ended. Logs what it prints
 * meanwhile. */
void peer_leave(struct weir_self *self, struct peer *peer, uint64_t wait_ms);
/* Kills the process, if it runs, and the rest of its process group; logs the rest of its output.
 * False: the process does not end; it becomes a zombie later. Legal when none was started. */
bool peer_finish(struct weir_self *self, struct peer *peer);

#endif
