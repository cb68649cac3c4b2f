/* SPDX-License-Identifier: MIT */
/*
 * actor/spawn.h - makes an actor, and schedules its turns.
 *
 *      actor_create ---> actor_begin ---> turns ---> end_actor
 *            \-> end_unborn
 */
#ifndef ACTOR_SPAWN_H
#define ACTOR_SPAWN_H

#include "actor/actor.h"

/* How an actor is created. */
struct actor_options {
    struct dispatcher *dispatcher;
    struct spec *spec;   /* takes a reference of its own; NULL for a bare pool */
    struct place *place; /* ownership moves on success; NULL for a plain actor */
    struct router *router;
    enum actor_kind kind;
    uint32_t limit;       /* of the normal lane; 0 = unlimited */
    uint64_t bytes_limit; /* of payload in it; 0 = unlimited */
};

/*
 * Makes an actor and schedules its first turn, which opens it; until then it is closed. Any
 * thread. Returns owned by itself. WEIR_ENOMEM.
 */
int actor_spawn(struct runtime *runtime, struct executor *executor,
                const struct actor_options *options, struct actor **out);

/* Makes an actor without scheduling it: actor_begin does. It may still be dropped. */
int actor_create(struct runtime *runtime, struct executor *executor,
                 const struct actor_options *options, struct actor **out);
/* Schedules the first turn. If its place has an `opener`, that dispatcher runs its turns until it
 * is open. */
void actor_begin(struct actor *actor, struct executor *executor);

/* The dispatcher that runs its next turn. Owner, or before it begins. */
struct dispatcher *actor_runs_on(const struct actor *actor);

#endif
