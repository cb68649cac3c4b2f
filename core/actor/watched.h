/*
 * actor/watched.h - the descriptors that an incarnation watches: weir/watch.h, as the runtime does
 * it. The waiting itself is the poller's (dispatch/poller.h). Owner's turn only.
 */
#ifndef ACTOR_WATCHED_H
#define ACTOR_WATCHED_H

#include "actor/actor.h"

/* As weir_watch. */
int watched_begin(struct actor *actor, int descriptor, uint32_t events, weir_ready *ready,
                  void *context, uint64_t *out_watch);

/* As weir_unwatch. */
int watched_end(struct actor *actor, uint64_t watch);

/* MESSAGE_READY came. Takes it. */
void watched_arrived(struct actor *actor, struct message *message);

/* The incarnation ends. */
void watched_end_all(struct actor *actor);

#endif
