/*
 * actor/doze.h - the sleep of an actor that takes no message now: it keeps as many as it demands,
 * waits for room, or is not open.
 *
 * The pool of a worker gives what waits there to idle members (pool/backed_up.h). So a worker
 * without waiting messages sleeps as an idle one does, and the first message wakes it; behind that
 * one only signals and the other lanes do.
 */
#ifndef ACTOR_DOZE_H
#define ACTOR_DOZE_H

#include <stdbool.h>

struct actor;

/* At the end of its turn. False: a message or signal has arrived since. Otherwise the caller
 * touches the actor no more. */
bool doze(struct actor *actor);

#endif
