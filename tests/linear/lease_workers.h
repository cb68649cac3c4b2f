/* SPDX-License-Identifier: MIT */
/*
 * lease_workers.h - the workers of lease_subject.h, and the acts of takers. For lease_subject.c and
 * lease_seen.c.
 */
#ifndef TESTS_LINEAR_LEASE_WORKERS_H
#define TESTS_LINEAR_LEASE_WORKERS_H

#include <weir/plugin.h>

#include "linear/lease_subject.h"

/* How a lease ends by its holder, in `size` of a LEASE_END; a taker that is gone stops with
 * LEASE_WAY_DONE, else it fails. */
enum lease_way { LEASE_WAY_DONE, LEASE_WAY_FAILED, LEASE_WAY_BREAK, LEASE_WAYS };

extern const struct weir_behaviour lease_member_behaviour;
extern const struct weir_behaviour
    lease_plain_member_behaviour; /* threads lease it by themselves */
extern const struct weir_behaviour lease_user_behaviour;

/* Carries out an act of a taker: in its turn, or, with `self` NULL, of the program. */
void lease_taker_act(struct lease_subject *subject, struct weir_self *self,
                     const struct lease_act *act);

/* The taker has the lease, and uses it for the first time. Likewise. */
void lease_taker_served(struct lease_subject *subject, struct weir_self *self,
                        struct lease_taker_slot *taker, const struct weir_lease *lease);

/* True when each taker that is a worker has opened as often as it must. */
bool lease_takers_are_open(struct lease_subject *subject);

/* The workers of the pool that wait for a taker. */
static inline uint8_t lease_count_free(const struct pool *pool)
{
    return (uint8_t)atomic_load(&pool->pull.sleeping);
}

#endif
