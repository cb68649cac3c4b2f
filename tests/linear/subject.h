/*
 * subject.h - a pool under test, and callers that ask it this and that and write it down.
 *
 * In every other history the workers are held with the first message that they take, until the
 * calls are over: then how much room there is follows from what was called. In the others they take
 * what comes. Who is held waits as the test says, since it may be a thread or a fiber.
 */
#ifndef TESTS_LINEAR_SUBJECT_H
#define TESTS_LINEAR_SUBJECT_H

#include <stdatomic.h>

#include "linear/history.h"
#include "pool/figures.h"
#include "pool/resize.h"
#include "runtime.h"

#define SUBJECT_CALLERS 3u
#define SUBJECT_CALLS_MAX 8u
#define SUBJECT_FLOWING_MAX 6u /* calls, when each message may be taken: a step of its own */
#define SUBJECT_MESSAGES_MAX (SUBJECT_CALLERS * SUBJECT_CALLS_MAX)
#define SUBJECT_WORKERS_MAX 32u
#define SUBJECT_THREADS 5u /* of its dispatcher: more than there can be workers that are held */

struct subject_options {
    uint64_t seed;
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    void (*wait)(void *context); /* of who is held; until something has happened */
    void *context;
};

/* What became of a message. */
struct subject_message {
    _Atomic uint32_t taken;  /* when; 0: it was not */
    _Atomic uint32_t worker; /* by whom */
};

struct subject {
    struct subject_options options;
    struct pool *pool;
    struct spec *spec;
    uint64_t epoch; /* when the history begins */
    _Atomic uint32_t clock;
    _Atomic uint32_t names;
    bool holds;
    _Atomic bool released;
    _Atomic uint32_t twice;                      /* messages that were handled again */
    _Atomic uint32_t opens[SUBJECT_WORKERS_MAX]; /* when, by name */
    struct subject_message messages[SUBJECT_MESSAGES_MAX];
    struct step calls[SUBJECT_CALLERS][SUBJECT_CALLS_MAX];
    uint32_t counts[SUBJECT_CALLERS]; /* of calls */
    uint32_t closer;                  /* who closes; SUBJECT_CALLERS: nobody */
    struct history history;
};

/* Makes the pool, whose workers open in their turns. */
void subject_init(struct subject *subject, const struct subject_options *options);

/* True when all its first workers are open. Then subject_begin. */
bool subject_is_open(struct subject *subject);
void subject_begin(struct subject *subject);

/* By the caller of that number alone: its calls, one after the other. `between` may be NULL. */
void subject_call(struct subject *subject, uint32_t caller, void (*between)(void *context));

/* After all calls: lets those who are held go on, and closes it. */
void subject_release(struct subject *subject);
bool subject_has_ended(struct subject *subject);

/* After its end: writes the history down, and frees the pool. False: a message is lost, or was
 * handled twice. */
bool subject_finish(struct subject *subject);

#endif
