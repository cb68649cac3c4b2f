/*
 * history.h - what threads asked of a pool, what it answered, and when each call began and ended.
 *
 * Times are numbers from one counter: what ended at a lower one than another began at was over
 * before it. Beside the calls stand two things that workers do by themselves and that an answer may
 * depend on: that one has opened, and that one has taken a message out of its mailbox or the pool's
 * queue. Of those is known from when on, or until when, they happened.
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
    STEP_LOOKS, /* a send that will be refused begins to look at the workers */
};

struct step {
    enum step_kind kind;
    uint32_t began;
    uint32_t ended; /* HISTORY_NEVER: it may come later, or not at all */
    uint8_t thread;
    uint8_t worker;    /* send: who handled it; opened, took: who. From 1 on; 0 = nobody */
    int status;        /* send, resize: the answer */
    bool paused;       /* pause: what was asked for; get: the answer */
    uint32_t size;     /* resize: what was asked for; get: the target */
    uint32_t changed;  /* resize: the answer */
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

/* For people, in the order in which the steps began. */
void history_print(const struct history *history);

#endif
