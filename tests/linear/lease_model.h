/* SPDX-License-Identifier: MIT */
/*
 * lease_model.h - the leases of a group of pools without concurrency.
 *
 * A history is a row of rounds. In a round several callers act at the same time; then everything
 * comes to rest. The model explains a round when its acts, one after the other in some order, lead
 * from a state that was possible before it to the state that is seen at rest.
 *
 * A state has the free workers of each pool, the holders, and the waiting takers, first in, first
 * out. An act leads to one state, to several (which leased workers leave is the pool's choice), or
 * to none: its result was not possible. Between two acts a free worker may begin to serve a taker
 * (of any pool, when the taker asked the group); at rest no taker waits beside a free worker that
 * may serve it. A taker has room while it finds a free worker; that worker may leave before it has
 * served the taker, which waits then. While workers that were called for takers are on their way, a
 * queue may be full of those takers; and a free worker that checks at its timer, or at a change
 * of size, is not seen as free.
 */
#ifndef TESTS_LINEAR_LEASE_MODEL_H
#define TESTS_LINEAR_LEASE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define LEASE_SLOTS 7u /* takers: each takes, holds or waits for one worker */
#define LEASE_POOLS 2u /* of the group */
#define LEASE_GROUP LEASE_POOLS
#define LEASE_STATES_MAX 64u
#define LEASE_ACTS_MAX (LEASE_SLOTS + 4u)

enum lease_slot_state { LEASE_IDLE, LEASE_WAITS, LEASE_HOLDS };

struct lease_slot {
    uint8_t state;  /* enum lease_slot_state */
    uint8_t pool;   /* which it waits for, LEASE_GROUP too; or whose worker it holds */
    uint8_t leaves; /* its worker ends after the lease */
};

/* Without gaps, so that equal states are equal bytes. */
struct lease_state {
    struct lease_slot slots[LEASE_SLOTS];
    uint8_t waiting[LEASE_SLOTS]; /* slots, over all queues; 0 from waiting_count on */
    uint8_t waiting_count;
    uint8_t free[LEASE_POOLS];
};

struct lease_states {
    uint32_t count;
    struct lease_state states[LEASE_STATES_MAX];
};

enum lease_act_kind {
    LEASE_TAKE,    /* from `pool` */
    LEASE_END,     /* the lease is returned, or its worker fails */
    LEASE_GONE,    /* the taker fails or stops */
    LEASE_GIVE_UP, /* the take */
    LEASE_RENEW,
    LEASE_EXPIRE, /* the time of a lease may have passed, with or without an effect; with `size` 1
                   * also that of a take that waits */
    LEASE_RESIZE, /* `pool` to `size` */
};

struct lease_act {
    enum lease_act_kind kind;
    uint8_t slot;
    uint8_t pool;
    uint8_t size;
    int status; /* the result; of a take that waits, was served or timed out: 0 */
};

struct lease_round {
    uint32_t queue;  /* takers that may wait for each pool, and for the group */
    bool wakes_free; /* a free worker may be awake: for its timer, or a change of size */
    uint32_t count;
    struct lease_act acts[LEASE_ACTS_MAX];
};

/* The states that may follow: at rest they look like `seen`, whose order of waiting takers does not
 * count. False: there is none, and `out` is as it was. */
bool lease_round_explain(const struct lease_round *round, const struct lease_states *before,
                         const struct lease_state *seen, struct lease_states *out);

/* Prints the acts and their results. */
void lease_round_print(const struct lease_round *round);
void lease_state_print(const struct lease_state *state);

#endif
