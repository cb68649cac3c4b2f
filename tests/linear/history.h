/* SPDX-License-Identifier: MIT */
/*
 * history.h - the calls of threads to a pool, their results, and when each call began and ended.
 *
 * Times are numbers of one counter: a call that ended at a lower number than another began was over
 * before it. Beside the calls there are two events of workers that a result may depend on: a worker
 * has opened, and a worker has taken a message out of its mailbox or the pool's queue. For these
 * only the earliest, or the latest, time is known.
 */
#ifndef TESTS_LINEAR_HISTORY_H
#define TESTS_LINEAR_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_STEPS_MAX 64u  /* one bit each: see linear.c */
#define HISTORY_TIMES_MAX 255u /* of calls: model.h keeps one in a byte */
#define HISTORY_NEVER UINT32_MAX

enum step_kind {
    STEP_SEND,
    STEP_RESIZE,
    STEP_GET,
    STEP_PAUSE, /* or resume */
    STEP_CLOSE,
    STEP_OPENED,
    STEP_TOOK,
    STEP_LOOKS, /* a send that will be refused begins to scan the workers */
};

struct step {
    enum step_kind kind;
    uint32_t began;
    uint32_t ended; /* HISTORY_NEVER: it may come later, or not at all */
    uint8_t thread;
    uint8_t worker;    /* send: its handler; opened, took: the worker. From 1 on; 0 = none */
    int status;        /* send, resize: the result */
    bool paused;       /* pause: the argument; get: the result */
    uint32_t size;     /* resize: the argument; get: the target */
    uint32_t changed;  /* resize: the result */
    uint32_t live;     /* get */
    uint32_t epoch;    /* resize, get: since the history began */
    uint32_t accepted; /* get */
};

struct history {
    uint64_t seed;
    bool pulls;     /* one queue for all */
    uint32_t limit; /* of each mailbox */
    uint32_t size;  /* workers 1..size, open when it begins */
    uint32_t count;
    struct step steps[HISTORY_STEPS_MAX];
};

/* Prints the history, in the order in which the steps began. */
void history_print(const struct history *history);

#endif
