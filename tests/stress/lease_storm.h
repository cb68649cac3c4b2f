/* SPDX-License-Identifier: MIT */
/*
 * lease_storm.h - the world of test_lease_storm.c: pools that give leases, and takers.
 *
 * Each lease is a *session*: its member draws a number when it is taken, and replies with it to
 * each use. Each user draws a number for each lease that it gets, its *use*. The table `users` says
 * which use a session had: a worker that writes another number has found a member with two users.
 *
 * Any thread, but for storm_init and storm_finish.
 */
#ifndef TESTS_STRESS_LEASE_STORM_H
#define TESTS_STRESS_LEASE_STORM_H

#include "face/lease_figures.h"
#include "unit/support/rig.h"

#define SESSIONS_MAX (UINT64_C(1) << 24)
#define POOLS 3u   /* two of the group, and one alone, whose leases come and go */
#define TARGETS 4u /* and the group */
#define ALONE 2u
#define GROUP 3u
#define LEASE_MS 20u
#define SIZE_MAX_HERE 4u

struct storm {
    struct rig rig;
    struct pool *pools[TARGETS];
    struct pool *users;
    struct spec *member;
    struct spec *bare_member;
    struct spec *user;
    uint64_t seed;
    uint32_t lost_gives; /* written by its changer */

    _Atomic uint64_t *use_of; /* by session */
    _Atomic uint64_t opened;  /* members, also without success */
    _Atomic uint64_t sessions;
    _Atomic uint64_t uses;
    _Atomic uint64_t asked; /* takes that were counted by the pools */
    _Atomic uint64_t answered;
    _Atomic uint64_t given_up;
    _Atomic uint64_t plain; /* messages without a lease that were handled */
    _Atomic uint64_t changes;
    _Atomic uint64_t wrong;
    _Atomic bool over;
};

/* Starts the runtime and its pools. Ends the program when it cannot. */
void storm_init(struct storm *storm, uint64_t seed);

/* After all threads have been joined: waits until no lease is left, and compares all figures. */
void storm_finish(struct storm *storm);

/* Notes something that must not be. */
void storm_expect(struct storm *storm, bool holds, const char *what, uint64_t number);

/* A user that has the number `use` was served in a session. */
void storm_used(struct storm *storm, uint64_t use, uint64_t session);

/* A random number below `below`; `state` is the caller's own, and not 0. */
uint32_t storm_draw(uint64_t *state, uint32_t below);

/* The sums of all pools. */
void storm_figures(struct storm *storm, struct pool_leases *out);

/* The task of a message under a lease. */
enum storm_deed { DEED_REPLY, DEED_FAIL };

struct storm_order {
    uint64_t use; /* 0: a message to the pool */
    uint64_t deed;
};

/* The task of a message to the users. */
enum storm_wish { WISH_TAKE, WISH_GIVE_UP, WISH_FAIL, WISH_STOP };

extern const struct weir_behaviour storm_member;
extern const struct weir_behaviour storm_bare_member;
extern const struct weir_behaviour storm_user;

/* --- threads; each does one thing, then returns ----------------------------------------------- */

/* Takes, uses and returns a member as a thread of the program. */
void storm_take(struct storm *storm, uint64_t *random);
/* Sends a plain message to a pool, and a wish to a user. */
void storm_send(struct storm *storm, uint64_t *random);
/* Resizes a pool, reloads it, or makes a member fail. */
void storm_change(struct storm *storm, uint64_t *random);

#endif
