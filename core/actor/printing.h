/*
 * actor/printing.h - an actor that prints more than is read is given nothing more meanwhile.
 *
 * Where its text goes says when it has enough; the actor then takes no message, as when an output
 * has no room, and looks again in a moment: nobody tells of it. In a turn of its own.
 */
#ifndef ACTOR_PRINTING_H
#define ACTOR_PRINTING_H

#include "actor/actor.h"

/* Gives text to the program. Borrows. */
void printing_print(struct actor *actor, const char *text, size_t size);

/* Whether it may go on; the next look, or TIMER_NEVER. */
uint64_t printing_time(struct actor *actor, uint64_t now_ns);

#endif
