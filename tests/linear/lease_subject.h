/* SPDX-License-Identifier: MIT */
/*
 * lease_subject.h - a group of two pools that give leases, and callers whose acts are recorded.
 *
 * The takers are workers, which may fail, and the program itself. In each round every caller has
 * one act; then the test waits until all is at rest. Each worker of the group numbers its sessions,
 * from `taken` to `returned`, and notes which lease uses it: a worker that two have used is seen.
 *
 * The time stands still but for acts that let all leases and takes with a time-out expire, and a
 * millisecond in each round.
 */
#ifndef TESTS_LINEAR_LEASE_SUBJECT_H
#define TESTS_LINEAR_LEASE_SUBJECT_H

#include <stdatomic.h>

#include <weir/message.h>

#include "linear/lease_model.h"
#include "pool/pool.h"
#include "runtime.h"

#define LEASE_CALLERS 3u
#define LEASE_WORKERS 5u /* slots of workers; the others are the program's */
#define LEASE_NO_ANSWER 1
#define LEASE_TAKE_MS 500u /* longer than all rounds, shorter than a time that passes */

struct lease_subject_options {
    uint64_t seed;
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    void (*advance)(void *context, uint64_t ms); /* moves the clock */
    bool late_timers; /* a worker may look at its timer in a later round than it is due */
    void *context;
};

/* A taker. */
struct lease_taker_slot {
    struct weir_lease lease;
    uint64_t use;         /* a number for each lease */
    uint64_t due_ns;      /* of its take; 0: never */
    uint64_t reference;   /* of its take */
    _Atomic int answer;   /* to the take; LEASE_NO_ANSWER: not yet */
    _Atomic int status;   /* of its last act; likewise */
    _Atomic bool is_gone; /* since its take */
    uint32_t opens;       /* that must have happened before the next round */
    weir_pid worker;      /* 0: the program */
    _Atomic uint32_t opened;
};

struct lease_subject {
    struct lease_subject_options options;
    uint64_t random;
    struct pool *pools[LEASE_POOLS + 1];
    struct pool *users;
    struct spec *member_spec;
    struct spec *user_spec;
    struct lease_taker_slot takers[LEASE_SLOTS];
    _Atomic uint64_t uses;
    _Atomic uint32_t wrong;
    _Atomic uint32_t done; /* acts of this round that were carried out */
    uint32_t served;       /* leases that ended up with a taker, so far */
    uint32_t full;         /* takes that were refused, so far */
    uint32_t late;         /* acts under a lease that was over, so far */
    uint32_t expired;      /* leases, so far */
    uint32_t timed_out;    /* takes, so far */

    struct lease_round wishes; /* acts of this round: one for each caller */
    bool lets_expire;
    struct lease_round round; /* with their results */
    struct lease_state seen;
    struct lease_states possible;
};

void lease_subject_init(struct lease_subject *subject, const struct lease_subject_options *options);

/* True when all workers are open. */
bool lease_subject_is_ready(struct lease_subject *subject);

/* Draws the acts of the next round. */
void lease_subject_draw(struct lease_subject *subject);

/* The act of one caller; each caller once in a round. Any thread. */
void lease_subject_act(struct lease_subject *subject, uint32_t caller);

/* True when all is at rest and as the model says; after that comes the next round. */
bool lease_subject_is_explained(struct lease_subject *subject);

/* Prints the round and the observations. */
void lease_subject_print(struct lease_subject *subject);

/* Ends all pools. Before lease_subject_finish. */
void lease_subject_close(struct lease_subject *subject);
bool lease_subject_has_ended(struct lease_subject *subject);
void lease_subject_finish(struct lease_subject *subject);

#endif
