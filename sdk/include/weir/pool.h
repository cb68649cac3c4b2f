/*
 * weir/pool.h - requests to a pool itself, and its figures.
 *
 * Messages in the lanes WEIR_HIGH and WEIR_URGENT go to a pool's manager, never to its members. The
 * built-in manager answers the requests below; a `manager` behaviour answers in its own way. The
 * built-in manager makes any other message a dead letter, `unhandled`, and its requester gets
 * WEIR_EREJECTED. A plain message with one of the tags below has the same effect as a request,
 * without a reply.
 *
 * The calls of <weir/host.h> (weir_pool_add and so on) do the same at once, inside the callback.
 * Include <weir/plugin.h>, which includes this file.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include "message.h"

/* tag                                             request -> reply, both payloads */
#define WEIR_POOL_ADD "weir.pool.add/1"         /* weir_pool_count -> weir_resized */
#define WEIR_POOL_REMOVE "weir.pool.remove/1"   /* weir_pool_count -> weir_resized */
#define WEIR_POOL_RESIZE "weir.pool.resize/1"   /* weir_pool_count -> weir_resized */
#define WEIR_POOL_STATS "weir.pool.stats/1"     /* nothing -> weir_pool_stats */
#define WEIR_POOL_MEMBERS "weir.pool.members/1" /* nothing -> weir_member, one after the other */
#define WEIR_POOL_PAUSE "weir.pool.pause/1"     /* nothing -> nothing */
#define WEIR_POOL_RESUME "weir.pool.resume/1"   /* nothing -> nothing */

/* A notice of a pool to an actor that asked for it: weir_pool_resized. */
#define WEIR_POOL_RESIZED "weir.pool.resized/1"

/* The number of workers: to add, to remove, or in all. A shorter or longer payload is
 * WEIR_EINVALID. */
struct weir_pool_count {
    uint32_t count;
    uint32_t tell; /* 1: the requester also gets a WEIR_POOL_RESIZED, as by weir_pool_tell */
};

/* The result of weir_pool_resize, weir_pool_add and weir_pool_remove. */
struct weir_resized {
    uint32_t changed; /* workers added or removed by this call */
    uint32_t size;    /* the new target */
    uint64_t epoch;   /* grows by one with each change of this pool's membership */
};

/*
 * The result of the opens of a change, sent when every worker made until then has opened, has
 * failed to open for the first time (the host tries again), or has been removed.
 */
struct weir_pool_resized {
    uint64_t epoch; /* as in weir_resized */
    uint32_t live;  /* workers that are open now */
    int32_t error;  /* of an open that failed, or WEIR_ECLOSED; 0 = none */
};

enum weir_member_state {
    WEIR_MEMBER_STARTING = 0, /* it has not opened yet */
    WEIR_MEMBER_OPEN = 1,     /* it takes messages */
    WEIR_MEMBER_BROKEN = 2,   /* its last open failed, or it failed too often: the host opens it
                               * again later */
    WEIR_MEMBER_RETIRING = 3, /* removed, finishing what it accepted */
    WEIR_MEMBER_POOL = 4,     /* a nested pool */
    WEIR_MEMBER_STOPPED = 5,  /* stopped by `then` of its restart, until a reload or `weir
                               * restart` */
};

/* One member of a pool. */
struct weir_member {
    uint32_t size;  /* of this struct, as far as the host has filled it */
    uint32_t index; /* as weir_index; of a nested pool: its position */
    weir_pid pid;
    uint32_t state;    /* enum weir_member_state */
    uint32_t busy;     /* members with a message in hand: 0 or 1, more in a nested pool */
    uint64_t queued;   /* in its mailbox, or below it */
    uint64_t restarts; /* of this worker, or below it */

    /* since ABI 1.1 */
    uint64_t held;     /* waiting for a retry, for room behind an output, or in the stash; or
                        * below it */
    uint64_t retrying; /* of these, messages that wait for a retry */
};

/* Reasons of dead letters: an index of weir_pool_stats.dead_by. */
enum weir_dead {
    WEIR_DEAD_CRASHED = 0,     /* the worker failed with it */
    WEIR_DEAD_REJECTED = 1,    /* the worker rejected it */
    WEIR_DEAD_RETRIES = 2,     /* retried too often */
    WEIR_DEAD_EXPIRED = 3,     /* its time-out was over */
    WEIR_DEAD_UNHANDLED = 4,   /* the receiver does not handle it */
    WEIR_DEAD_REMOVED = 5,     /* its worker was removed and no other had room */
    WEIR_DEAD_KEPT = 6,        /* its worker ended while it kept it */
    WEIR_DEAD_NO_TARGET = 7,   /* the pool behind the output has ended */
    WEIR_DEAD_OUTPUT_FULL = 8, /* the pool behind the output was full */
    WEIR_DEAD_TERMINATED = 9,  /* its actor ended */
    WEIR_DEAD_FULL = 10,       /* there was no room when its timer was due */
    WEIR_DEAD_CANCELLED = 11,  /* its requester cancelled it, or ended */
};
#define WEIR_DEAD_REASONS_MAX 16
#define WEIR_BEHAVIOUR_NAME_MAX 64

/* Consistent figures of one pool; of a nested pool the sums over its workers. */
struct weir_pool_stats {
    uint32_t size;     /* of this struct; set it to sizeof before the call */
    uint32_t target;   /* members wanted */
    uint32_t live;     /* open and accepting */
    uint32_t busy;     /* with a message in hand */
    uint32_t starting; /* not open yet, or waiting to be opened again */
    uint32_t retiring; /* removed, finishing what they accepted */
    uint64_t epoch;
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;  /* all reasons */
    uint64_t moved; /* handed to another member */
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held;    /* waiting for a retry, for room behind an output, or in a stash */
    uint64_t refused; /* refused by this pool; not part of the ledger */
    uint64_t restarts;

    /* since ABI 1.1 */
    uint32_t idle;     /* open, without a message in hand */
    uint32_t paused;   /* 1: it refuses every message; of a nested pool: the number of paused
                        * pools */
    uint32_t stopped;  /* of `starting`: stopped by `then` of the restart */
    uint32_t degraded; /* members short of the target */
    uint64_t limit;    /* of each mailbox, 0 = unlimited, or WEIR_UNBUFFERED; 0 when its
                        * members are pools */
    /* Dead letters by enum weir_dead. They also count messages that workers emitted and no
     * target accepted, and messages to the pool itself, which `dead` does not. */
    uint64_t dead_by[WEIR_DEAD_REASONS_MAX];
    char behaviour[WEIR_BEHAVIOUR_NAME_MAX]; /* "plugin.behaviour"; "" when its members are pools */
    uint64_t reopened; /* member pools that escalated and were opened again, here and below */
    /*
     * How long the first message of a mailbox has waited, the longest of all mailboxes, measured
     * when the figures are read: a lower bound, too small by at most the time between two reads, or
     * a third of the value. While there is work the host reads them ten times a second, without
     * sources once.
     */
    uint64_t oldest_ms;
    uint64_t retried;  /* how often workers returned WEIR_RETRY */
    uint64_t retrying; /* of `held`: messages that wait for a retry now */
};

#endif
