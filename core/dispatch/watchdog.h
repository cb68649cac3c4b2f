/*
 * dispatch/watchdog.h - which threads of a dispatcher have been in one turn for too long.
 *
 * Nothing is measured in a turn: whoever looks from time to time compares each thread's count of
 * turns with what it was before. A turn is told of once, never before its time, and late by no more
 * than the interval between two looks.
 *
 * Not synchronised: one thread looks. What it reads of the dispatcher may be read by any thread.
 */
#ifndef DISPATCH_WATCHDOG_H
#define DISPATCH_WATCHDOG_H

#include "dispatch/dispatcher.h"

struct watchdog_sight {
    uint64_t turns;    /* of the thread, at the first look that saw so many */
    uint64_t since_ns; /* when that was; 0 = never looked at, or it slept */
    bool told;
};

struct watchdog {
    struct watchdog_sight sights[IDLE_THREADS_MAX];
};

/* Nothing has been seen yet. */
void watchdog_init(struct watchdog *watchdog);

/*
 * Looks at the threads; answers the index of one whose turn has taken `limit_ns` or more and was
 * not told of, IDLE_NOBODY when there is none. Call it until it says so. `out_ns` is how long the
 * turn was watched.
 */
uint32_t watchdog_look(struct watchdog *watchdog, struct dispatcher *dispatcher, uint64_t now_ns,
                       uint64_t limit_ns, uint64_t *out_ns);

#endif
