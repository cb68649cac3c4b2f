/* SPDX-License-Identifier: MIT */
/*
 * gate.h - a gate that holds threads inside a handler until a test lets them go on.
 *
 * Any thread, any operation. A wait ends after wait_limit_ms() with false, so that a broken runtime
 * fails a test instead of hanging it; no outcome depends on that time.
 */
#ifndef TESTS_UNIT_SUPPORT_GATE_H
#define TESTS_UNIT_SUPPORT_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t arrived;  /* lock: in all; each has a number, from 0 on */
    uint32_t admitted; /* lock: lower numbers may pass */
    bool open;         /* lock: no thread is held */
};

/* Closed, and no thread waits. */
void gate_init(struct gate *gate);
void gate_finish(struct gate *gate);

/* Waits before the gate. False: the time is over. */
bool gate_pass(struct gate *gate);

/* Waits until `count` have come to the gate in all. False: the time is over. */
bool gate_await(struct gate *gate, uint32_t count);

/* Lets the next `count` pass, in the order in which they came or come. */
void gate_admit(struct gate *gate, uint32_t count);

/* Lets all threads pass, later ones, too. */
void gate_open(struct gate *gate);

/* Stops threads that come from now on. */
void gate_shut(struct gate *gate);

#endif
