/* SPDX-License-Identifier: MIT */
/*
 * subject.h - a pool under test, and callers that record their calls.
 *
 * In every other history the workers wait with their first message until the calls are over: then
 * the calls alone determine the room. In the others they handle their messages. The test supplies
 * the wait, since a worker may run on a thread or a fiber.
 *
 * A pool that routes by key has room for all messages, and its workers only get fewer: while a
 * worker stays, each key has an owner that is open, so FULL is never right, whatever the key.
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
#define SUBJECT_FLOWING_MAX 6u /* calls, when each taken message is a step of its own */
#define SUBJECT_MESSAGES_MAX (SUBJECT_CALLERS * SUBJECT_CALLS_MAX)
#define SUBJECT_WORKERS_MAX 32u
#define SUBJECT_THREADS 5u /* of its dispatcher: more than the workers that can wait */

struct subject_options {
    uint64_t seed;
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    void (*wait)(void *context); /* called by a waiting worker; returns after an event */
    void *context;
};

/* The fate of a message. */
struct subject_message {
    _Atomic uint32_t taken;  /* the time; 0: it was not taken */
    _Atomic uint32_t worker; /* the worker */
};

struct subject {
    struct subject_options options;
    struct pool *pool;
    struct spec *spec;
    uint64_t epoch; /* when the history begins */
    _Atomic uint32_t clock;
    _Atomic uint32_t names;
    bool holds;
    bool has_keys; /* it routes by hash */
    _Atomic bool released;
    _Atomic uint32_t twice;                      /* messages that were handled twice */
    _Atomic uint32_t opens[SUBJECT_WORKERS_MAX]; /* times, by name */
    struct subject_message messages[SUBJECT_MESSAGES_MAX];
    struct step calls[SUBJECT_CALLERS][SUBJECT_CALLS_MAX];
    uint32_t counts[SUBJECT_CALLERS]; /* of calls */
    uint32_t closer;                  /* the caller that closes; SUBJECT_CALLERS: none */
    struct history history;
};

/* Makes the pool, whose workers open in their turns. */
void subject_init(struct subject *subject, const struct subject_options *options);

/* True when all its first workers are open. Then call subject_begin. */
bool subject_is_open(struct subject *subject);
void subject_begin(struct subject *subject);

/* By the caller of that number alone: makes its calls, one after the other. `between` may be
 * NULL. */
void subject_call(struct subject *subject, uint32_t caller, void (*between)(void *context));

/* After all calls: releases the waiting workers, and closes the pool. */
void subject_release(struct subject *subject);
bool subject_has_ended(struct subject *subject);

/* After its end: writes the history, and frees the pool. False: a message was lost, or handled
 * twice. */
bool subject_finish(struct subject *subject);

#endif
