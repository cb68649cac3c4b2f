/*
 * message/announcing.h - a mailbox whose owner announces each place that it frees.
 *
 * From announcing_begin on the owner pops by mailbox_pop_announced alone: what it reads after that,
 * others see freed before. So whoever finds the mailbox full can rely on hearing of the next place:
 * see pool/fullness.h, which is what the owner then reads.
 */
#ifndef MESSAGE_ANNOUNCING_H
#define MESSAGE_ANNOUNCING_H

#include "message/mailbox.h"

/* For good. Owner. */
void announcing_begin(struct mailbox *mailbox);

/*
 * Whether a message of any size is refused until the owner has announced a place, or somebody has
 * opened the mailbox or raised its limit. Any thread.
 */
bool announcing_is_full(struct mailbox *mailbox);

#endif
