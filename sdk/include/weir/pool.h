/* SPDX-License-Identifier: MIT */
/*
 * weir/pool.h - requests to a pool itself, and its figures.
 *
 * Part of <weir/plugin.h>: include that. A pool's manager gets messages in the lanes WEIR_HIGH and
 * WEIR_URGENT; the pool's members never get them. The built-in manager answers the requests below.
 * A `manager` behaviour replaces it and answers in its own way. A message without a reply, with one
 * of the tags below, has the same effect as a request. Any other message becomes a dead letter,
 * `unhandled`, and its requester gets WEIR_EREJECTED.
 *
 * The calls of <weir/resize.h> (weir_pool_add and so on) do the same at once, inside the callback.
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

/* The tag of the notice that a pool sends to an actor after weir_pool_tell: weir_pool_resized. */
#define WEIR_POOL_RESIZED "weir.pool.resized/1"

/* A number of workers: to add, to remove, or of all workers. A request whose payload has another
 * size gets WEIR_EINVALID. */
struct weir_pool_count {
    uint32_t count;
    uint32_t tell; /* 1: the requester also gets a WEIR_POOL_RESIZED message, as by
                    * weir_pool_tell */
};

/* The result of weir_pool_resize, weir_pool_add and weir_pool_remove. */
struct weir_resized {
    uint32_t changed; /* workers added or removed by this call */
    uint32_t size;    /* the new target */
    uint64_t epoch;   /* the number of the pool's membership: each change adds 1 */
};

/*
 * The result of the opens of a change. The pool sends it when every worker that was made up to this
 * epoch has opened, has failed to open for the first time (the host tries again), or has been
 * removed.
 */
struct weir_pool_resized {
    uint64_t epoch; /* as in weir_resized */
    uint32_t live;  /* workers that are open now */
    int32_t error;  /* the status of an `open` that failed, or WEIR_ECLOSED: the pool closes; 0 = no
                     * error */
};

enum weir_member_state {
    WEIR_MEMBER_STARTING = 0, /* not open yet */
    WEIR_MEMBER_OPEN = 1,     /* open: accepts messages */
    WEIR_MEMBER_BROKEN = 2,   /* its last `open` failed, or it failed too often: the host opens it
                               * again later */
    WEIR_MEMBER_RETIRING = 3, /* removed: finishes the messages that it has accepted */
    WEIR_MEMBER_POOL = 4,     /* a nested pool */
    WEIR_MEMBER_STOPPED = 5,  /* stopped by `then` of the restart policy, until a reload or `weir
                               * restart` */
};

/* One member of a pool. */
struct weir_member {
    uint32_t size;  /* bytes of this struct that the host has filled */
    uint32_t index; /* as weir_index; the position of a nested pool */
    weir_pid pid;
    uint32_t state;    /* enum weir_member_state */
    uint32_t busy;     /* workers with a message in hand: 0 or 1, more in a nested pool */
    uint64_t queued;   /* messages that wait in its mailbox; of a nested pool: in all its
                        * mailboxes */
    uint64_t restarts; /* how often the host opened it again; of a nested pool: the sum */

    /* since ABI 1.1 */
    uint64_t held;     /* messages that wait for a retry, for room at the target of an output, or in
                        * the stash; of a nested pool: the sum */
    uint64_t retrying; /* of `held`: messages that wait for a retry */
    uint64_t in_hand;  /* messages that it handles or keeps; of a nested pool: the sum */
    uint64_t hand_ms;  /* how many milliseconds the oldest of them has been in hand: a lower bound,
                        * as `oldest_ms` of weir_pool_stats; 0 for a nested pool */
    int64_t process;   /* the PID of the process that it has named (weir_child_process); 0: none */
};

/* Reasons of dead letters: name, number, word in figures and files, sentence in the log. The
 * numbers index weir_pool_stats.dead_by. New ones are added at the end. */
#define WEIR_DEAD_LIST(X)                                                                          \
    X(CRASHED, 0, "crashed", "the worker failed with it")                                          \
    X(REJECTED, 1, "rejected", "the worker rejected it")                                           \
    X(RETRIES, 2, "retries", "retried too often")                                                  \
    X(EXPIRED, 3, "expired", "the time-out of its requester was over")                             \
    X(UNHANDLED, 4, "unhandled", "its receiver did not handle it")                                 \
    X(REMOVED, 5, "removed", "its worker was removed and no other had room")                       \
    X(KEPT, 6, "kept", "its worker ended while it kept it") /* or had stashed it */                \
    X(NO_TARGET, 7, "no_target", "the pool behind the output has ended")                           \
    X(OUTPUT_FULL, 8, "output_full", "the pool behind the output was full")                        \
    X(TERMINATED, 9, "terminated", "its actor ended")                                              \
    X(FULL, 10, "full", "no room when its timer was due")                                          \
    X(CANCELLED, 11, "cancelled", "its requester cancelled it, or ended")                          \
    X(STOPPED, 12, "stopped", "its worker, or all workers of its pool, have stopped")              \
    X(STUCK, 13, "stuck", "its worker was left behind, stuck in a callback with it")               \
    X(POISON, 14, "poison", "it has crashed the host too often")
enum weir_dead {
#define WEIR_DEAD_NUMBER(name, number, word, sentence) WEIR_DEAD_##name = (number),
    WEIR_DEAD_LIST(WEIR_DEAD_NUMBER)
#undef WEIR_DEAD_NUMBER
};
#define WEIR_DEAD_REASONS_MAX 16
#define WEIR_BEHAVIOUR_NAME_MAX 64

/* Consistent figures of one pool; of a pool of pools, the sums over all its workers. */
struct weir_pool_stats {
    uint32_t size;     /* of this struct; set it to sizeof before the call */
    uint32_t target;   /* the number of members that the pool is set to have */
    uint32_t live;     /* members that are open and accept messages */
    uint32_t busy;     /* members with a message in hand */
    uint32_t starting; /* members that are not open yet, or wait to be opened again */
    uint32_t retiring; /* removed members that finish the messages that they have accepted */
    uint64_t epoch;
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;  /* all reasons */
    uint64_t moved; /* accepted by another member instead */
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held;    /* messages that wait for a retry, for room at the target of an output, or in
                       * a stash */
    uint64_t refused; /* messages that this pool refused; not part of the ledger */
    uint64_t restarts;

    /* since ABI 1.1 */
    uint32_t idle;     /* open members without a message in hand that do not wait for room either */
    uint32_t paused;   /* 1: the pool refuses every message, because it is paused, or each of its
                        * member pools is */
    uint32_t stopped;  /* of `starting`: members that were stopped by `then` of the restart
                        * policy */
    uint32_t degraded; /* target - live, or 0 */
    uint64_t limit;    /* the limit of each mailbox: messages, 0 = unlimited, or WEIR_UNBUFFERED; 0
                        * when the members are pools */
    /* Dead letters by enum weir_dead. They also count the messages that workers emitted and no
     * target accepted, and the messages to the pool itself; `dead` does not count these. */
    uint64_t dead_by[WEIR_DEAD_REASONS_MAX];
    char behaviour[WEIR_BEHAVIOUR_NAME_MAX]; /* "plugin.behaviour"; "" when the members are pools */
    uint64_t reopened; /* how often a member pool escalated and was opened again, here and below */
    /*
     * How many milliseconds the oldest waiting message of all mailboxes has waited, estimated when
     * the figures are read: a lower bound. The error is at most the time between two reads, or a
     * third of the value. While there is work, the host reads the figures ten times a second if its
     * file has sources, and otherwise once.
     */
    uint64_t oldest_ms;
    uint64_t retried;  /* how often workers returned WEIR_RETRY */
    uint64_t retrying; /* of `held`: messages that wait for a retry */
    /* emitted messages of the workers whose next message waits for a token of an output's rate */
    uint64_t throttled;
    /* The number of senders that wait for room in the pool or in one of its workers: threads in a
     * call that waits, and workers and sources whose outputs wait. Senders to a member pool count
     * there. Takers of a lease count in `queued`. */
    uint64_t waiting;
};

#endif
