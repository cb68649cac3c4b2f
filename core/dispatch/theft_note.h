/* SPDX-License-Identifier: MIT */
/*
 * dispatch/theft_note.h - what a thread notes about the others when it looks for work: theft.h.
 */
#ifndef DISPATCH_THEFT_NOTE_H
#define DISPATCH_THEFT_NOTE_H

#include <stdint.h>

#include "dispatch/ring.h"
#include "dispatch/spawn_deque.h"

struct executor;

/* An observation of the queues of another thread. Zeroed: none yet. */
struct theft_note {
    struct ring_note queued;
    struct spawn_note spawned;
};

/* The last theft of a thread, until the thief has no more work. */
struct theft {
    struct executor *victim; /* NULL: none, or it is judged */
    uint64_t at_ns;          /* when it was done */
    uint64_t handled;        /* of the thief, before it */
    uint32_t failures;       /* thefts before it that did not pay, since the last one that did */
};

#endif
