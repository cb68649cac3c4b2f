/* SPDX-License-Identifier: MIT */
/*
 * actor/left_behind.h - an incarnation whose thread does not come back from `handle`.
 *
 * An operator leaves it behind: another actor takes over its number and all that waits, and what it
 * has in hand is dead. Its calls have no effect from then on (callback_is_left). Everything else
 * that it has ends when the callback returns at last.
 *
 *      holder: refusal, copy, begin  ...  owner: end
 *
 * The holder is a thread that holds the incarnation's thread in its callback
 * (dispatch/put_offline.h), and the lock of its pool.
 */
#ifndef ACTOR_LEFT_BEHIND_H
#define ACTOR_LEFT_BEHIND_H

#include "actor/actor.h"

/* Why it cannot be left behind, for people; NULL: it can. Static text. Holder. */
const char *left_behind_refusal(const struct actor *actor);

/* Copies the messages in hand. They are complete, and notify the requesters and origins in place of
 * the originals, which the callback may still read. WEIR_ENOMEM: nothing was copied. Holder. */
int left_behind_copy(const struct actor *actor, struct executor *by, struct message_list *out);

/* Leaves it behind, after its mailbox was closed: all that waits goes to `successor`, which has not
 * begun, in order. The copies are not counted yet. Holder. */
void left_behind_begin(struct actor *actor, struct actor *successor, struct executor *by);

/* The callback has returned: ends the actor. Owner. */
void left_behind_end(struct actor *actor);

#endif
