/* SPDX-License-Identifier: MIT */
/*
 * actor/watched.h - implements weir/watch.h: the descriptors that an incarnation watches. The
 * poller (face/runtime.h) waits for them. Owner's turn only.
 */
#ifndef ACTOR_WATCHED_H
#define ACTOR_WATCHED_H

#include "actor/actor.h"

/* As weir_watch. */
int watched_begin(struct actor *actor, int descriptor, uint32_t events, weir_ready *ready,
                  void *context, uint64_t *out_watch);

/* As weir_unwatch. */
int watched_end(struct actor *actor, uint64_t watch);

/* Handles MESSAGE_READY. Takes it. */
void watched_arrived(struct actor *actor, struct message *message);

/* Ends all watches, with the incarnation. */
void watched_end_all(struct actor *actor);

#endif
