/* SPDX-License-Identifier: MIT */
/*
 * actor/relief.h - messages that wait behind a callback which takes long go to other members.
 *
 * A mailbox has one consumer, the thread that runs the actor's turn. While that thread is in a
 * callback, it uses nothing of the mailbox. The timekeeper sees at each beat which turns last, and
 * holds such a thread in its callback (dispatch/put_offline.h): then the timekeeper is the
 * consumer, until it releases the thread. A callback that ends meanwhile waits for that, which
 * takes microseconds. The usual message pays nothing.
 *
 * The taker for which a worker is checked (`taken`) goes to another member, too, when the check
 * takes longer than a beat of wanted.h.
 */
#ifndef ACTOR_RELIEF_H
#define ACTOR_RELIEF_H

struct executor;

/* For timekeeper_set_long_turn. */
void relief_look(struct executor *slow, struct executor *by);

#endif
