/* SPDX-License-Identifier: MIT */
/*
 * dispatch/doze.h - the sleep of the timekeeper, and the events that end it early.
 *
 * The timekeeper sleeps until its next beat, or deeply, without beats, when all threads sleep. A
 * deadline before the end of its sleep wakes it; a thread that wakes ends a deep sleep. Any thread,
 * but for init; the timekeeper alone begins a sleep (timekeeper.c).
 */
#ifndef DISPATCH_DOZE_H
#define DISPATCH_DOZE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct doze {
    _Atomic uint32_t token;    /* futex: 1 = look */
    _Atomic bool is_deep;      /* a waking thread must call doze_stir */
    _Atomic uint64_t until_ns; /* until when it sleeps */
};

void doze_init(struct doze *doze);

/* The timekeeper looks at the clock now. */
void doze_end(struct doze *doze);

/* A timer was armed for that time: the timekeeper will be awake. */
void doze_expect(struct doze *doze, uint64_t due_ns);

/* The calling thread is awake and not counted as parked any more: ends a deep sleep. */
void doze_stir(struct doze *doze);

#endif
