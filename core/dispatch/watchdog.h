/* SPDX-License-Identifier: MIT */
/*
 * dispatch/watchdog.h - finds the threads of a dispatcher that have been in one turn for too long.
 *
 * A turn measures nothing: each check compares a thread's count of turns with the last one. A turn
 * is reported once, never before its time, and late by at most the interval between two checks.
 *
 * Not synchronised: one thread checks. It only reads fields of the dispatcher that any thread may
 * read.
 */
#ifndef DISPATCH_WATCHDOG_H
#define DISPATCH_WATCHDOG_H

#include "dispatch/dispatcher.h"

struct watchdog_sight {
    uint64_t turns;    /* of the thread, at the first check with that count */
    uint64_t since_ns; /* the time of that check; 0 = never checked, or it slept */
    bool reported;
};

struct watchdog {
    struct watchdog_sight sights[IDLE_THREADS_MAX];
};

/* An empty state. */
void watchdog_init(struct watchdog *watchdog);

/*
 * Checks the threads; returns the index of one whose turn has taken `limit_ns` or more and was
 * not reported, or IDLE_NOBODY. Call it until it returns that. `out_ns` is how long the turn was
 * watched.
 */
uint32_t watchdog_check(struct watchdog *watchdog, struct dispatcher *dispatcher, uint64_t now_ns,
                        uint64_t limit_ns, uint64_t *out_ns);

/* Whether a thread was in a turn at the last check that was not reported. */
bool watchdog_sees_turn(const struct watchdog *watchdog, struct dispatcher *dispatcher);

#endif
