/*
 * dispatch/polls.h - what the poller waits for at present: for each a message, made beforehand, so
 * that telling cannot fail.
 *
 * Who takes the message out, by its token, is the only one to have it: the poller when the
 * descriptor is ready, or the actor when it does not want to be told any more. Tokens are not used
 * again, so one that comes too late finds nothing.
 *
 * Any thread; a lock held for a few stores (docs/decisions/040).
 */
#ifndef DISPATCH_POLLS_H
#define DISPATCH_POLLS_H

#include <pthread.h>
#include <stdint.h>

#include <weir/message.h>

struct cache;
struct message;

/* One that is waited for, or free. */
struct poll {
    struct message *message; /* lock; NULL = free */
    weir_pid pid;            /* lock: who is to be told */
    uint32_t serial;         /* lock: grows with each use */
    uint32_t next_free;      /* lock: index + 1 */
};

struct polls {
    pthread_mutex_t lock;
    struct poll *entries; /* lock */
    uint32_t count;       /* lock: of the array */
    uint32_t first_free;  /* lock: index + 1; 0 = none */
};

void polls_init(struct polls *polls);
/* Frees what was never told. `cache` is the calling thread's; nobody else calls any more. */
void polls_finish(struct polls *polls, struct cache *cache);

/* Takes the message, whose `reference` becomes the token. WEIR_ENOMEM. */
int polls_add(struct polls *polls, weir_pid pid, struct message *message, uint64_t *out_token);

/* Ownership moves to the caller; NULL: it was taken before. */
struct message *polls_take(struct polls *polls, uint64_t token, weir_pid *out_pid);

#endif
