/* SPDX-License-Identifier: MIT */
/*
 * actor/printing.h - delays an actor that prints faster than its text is read, or whose dead
 * letters come faster than they are stored.
 *
 * The program reports when its buffer is full. The actor then takes no message, as when an output
 * has no room, and checks again after a short time, since there is no wake-up. Owner's turn.
 */
#ifndef ACTOR_PRINTING_H
#define ACTOR_PRINTING_H

#include "actor/actor.h"

/* Passes text to the program. Borrows. */
void printing_print(struct actor *actor, const char *text, size_t size);

/* The actor has passed a dead letter to the store, for which an origin waits. */
void printing_store(struct actor *actor);

/* Checks whether the actor may take messages again. Returns the time of the next check, or
 * TIMER_NEVER. */
uint64_t printing_time(struct actor *actor, uint64_t now_ns);

#endif
