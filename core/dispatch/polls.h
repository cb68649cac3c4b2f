/* SPDX-License-Identifier: MIT */
/*
 * dispatch/polls.h - the poller's open waits: each has a message, made beforehand, so that a report
 * cannot fail.
 *
 * The message can be taken out once, by its token: by the poller when the descriptor is ready, or
 * by the actor when it ends the watch. Tokens are not reused, so a late one finds nothing.
 *
 * Any thread; a lock held for a few stores (docs/decisions/040).
 */
#ifndef DISPATCH_POLLS_H
#define DISPATCH_POLLS_H

#include <stdint.h>

#include <weir/message.h>

#include "base/lock.h"

struct cache;
struct message;

/* A wait, or a free entry. */
struct poll {
    struct message *message; /* lock; NULL = free */
    weir_pid pid;            /* lock: the receiver of the report */
    uint32_t serial;         /* lock: grows with each use */
    uint32_t next_free;      /* lock: index + 1 */
};

struct polls {
    struct lock lock;
    struct poll *entries; /* lock */
    uint32_t count;       /* lock: of the array */
    uint32_t first_free;  /* lock: index + 1; 0 = none */
};

void polls_init(struct polls *polls);
/* Frees messages without a report. `cache` is the calling thread's; no other thread calls any
 * more. */
void polls_finish(struct polls *polls, struct cache *cache);

/* Takes the message, whose `reference` becomes the token. WEIR_ENOMEM. */
int polls_add(struct polls *polls, weir_pid pid, struct message *message, uint64_t *out_token);

/* Ownership moves to the caller; NULL: it was taken before. */
struct message *polls_take(struct polls *polls, uint64_t token, weir_pid *out_pid);

#endif
