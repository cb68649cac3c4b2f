/* SPDX-License-Identifier: MIT */
/*
 * lease_rig.h - a pool that gives leases, and a pool of holders whose acts take, use and return.
 *
 * Each lease has a slot of the fixture, where the continuations write. The clock stands still until
 * the test moves it. All calls come from the thread of the test.
 */
#ifndef TESTS_UNIT_POOL_LEASE_RIG_H
#define TESTS_UNIT_POOL_LEASE_RIG_H

#include "unit/support/rig.h"

#define SLOTS 8u
#define LEASE_MS 1000u
#define NOT_YET 1

struct slot {
    struct weir_lease lease;
    uint64_t reference;
    _Atomic int answer; /* to the take */
    _Atomic int result; /* of the last call under the lease */
    _Atomic int reply;  /* to the last request under the lease */
};

struct fixture {
    struct rig rig;
    struct probe *member;
    struct probe *user;
    struct pool *pool;
    struct pool *users;
    weir_pid target; /* of `take` */
    struct slot slots[SLOTS];
};

struct setup {
    uint32_t size;
    uint32_t queue;
    struct scale scale;
    uint32_t size_max;
    uint32_t threads;  /* 0 = 2 */
    uint32_t budget;   /* messages in a turn; 0 = the usual number */
    uint32_t failures; /* of each member, until there is a pause; 0 = any number */
    uint64_t bytes;    /* of waiting messages, for each member; 0 = no limit */
};

void begin_as(struct fixture *f, const struct setup *setup);
void begin(struct fixture *f, uint32_t size, uint32_t queue);
void finish(struct fixture *f);

/* --- acts of holders: `argument` is the number of the slot ------------------------------------ */

probe_act take;        /* plus SLOTS times the time-out in milliseconds; 0 = a long one */
probe_act try_to_take; /* with the time-out 0 */
probe_act give_up;
/* As give_up, after it has waited at the gate: an answer that came meanwhile is not seen yet. */
probe_act wait_and_give_up;
probe_act return_done;
probe_act return_failed;
probe_act renew;
/* Sends the member an order to do `what`, with the id of this one + 1000. */
int send_under(struct weir_self *self, struct probe *probe, const struct weir_message *message,
               probe_act *what);
probe_act use; /* sends the member an order with the id of this one + 1000 */
/* As use, and the member waits at the gate. */
probe_act use_long;
/* As use, and the member fails. */
probe_act use_and_break;
probe_act ask; /* as use, by a request */
/* As use, and the member unstashes a message. */
probe_act use_and_bring_back;
/* An act of a member: stashes the message, which is a reply to the slot when it comes again. */
probe_act put_aside;
probe_act stop;

/* Holder `holder` does something about a slot. */
void act_of(struct fixture *f, uint32_t holder, probe_act *what, uint64_t argument);
/* The holder of the slot's number. */
void act(struct fixture *f, uint32_t slot, probe_act *what);

/* --- waiting: false after wait_limit_ms() ----------------------------------------------------- */

bool is_equal(struct fixture *f, _Atomic int *where, int expected);
bool answered(struct fixture *f, uint32_t slot, int expected);
/* The result of a holder's call. */
int result(struct fixture *f, uint32_t slot, probe_act *what);
/* Takes a member, and has the lease. */
bool takes(struct fixture *f, uint32_t slot);
bool counts(struct fixture *f, _Atomic uint32_t *counter, uint32_t count);
bool queued(struct fixture *f, uint64_t count);
/* Takes that wait in the queue or have left it without a lease. */
bool came(struct fixture *f, uint64_t count);
/* So many members are leased, and all others are open and free. */
bool busy(struct fixture *f, uint64_t count);

bool same_member(struct fixture *f, uint32_t a, uint32_t b);

#endif
