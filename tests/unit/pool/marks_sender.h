/* SPDX-License-Identifier: MIT */
/*
 * marks_sender.h - how the victim of marks_world.h is sent: by the test, which is an outside
 * thread, or by a worker.
 */
#ifndef TESTS_UNIT_POOL_MARKS_SENDER_H
#define TESTS_UNIT_POOL_MARKS_SENDER_H

#include "unit/pool/marks_world.h"

#define FOR_LONG_MS 100000u
#define DELAY_MS 10u

/* Of a worker of `origin`. */
void marks_settled(struct weir_self *self, void *state, const struct weir_outcome *outcome);
/* A worker of `feeder` becomes the owner of the event. */
probe_act marks_own_event;

/* A worker of `feeder` publishes the victim; a worker subscribes. */
probe_act marks_publish, marks_subscribe;

/* Sends the victim; true: it was accepted, or its sender has done with it what it was to do. */
bool world_send(struct world *w);
/* An order to the victim's worker, in the same way. */
bool world_order(struct world *w, struct order order);
/* Frees the victim of SENDING_FREED_LATE. */
void world_free(struct world *w);

#endif
