/* SPDX-License-Identifier: MIT */
/*
 * actor/doze.h - the sleep of an actor that takes no message now: it keeps as many as it demands,
 * waits for room, or is not open.
 *
 * A worker gives the messages of its mailbox to idle members (pool/backed_up.h). So with an empty
 * mailbox it sleeps as an idle one does, and the first message wakes it. While messages wait, only
 * signals and the other lanes wake it.
 */
#ifndef ACTOR_DOZE_H
#define ACTOR_DOZE_H

#include <stdbool.h>

struct actor;

/* At the end of its turn. False: a message or signal has arrived since. Otherwise the caller
 * touches the actor no more. */
bool doze(struct actor *actor);

#endif
