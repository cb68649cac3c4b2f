/* SPDX-License-Identifier: MIT */
/*
 * model.h - the behaviour of a pool without concurrency.
 *
 * A state is {target, epoch, accepted, open or closed, paused} and the knowledge about its workers;
 * the history has the limit. A step leads from a state to none (the pool would not have returned
 * this), to one, or to several: the pool chooses the workers to remove and to call back. A pause is
 * not one instant: a sender that began before its end may be admitted. Nor is a refusal: FULL means
 * that each worker had no room at some instant of the call.
 */
#ifndef TESTS_LINEAR_MODEL_H
#define TESTS_LINEAR_MODEL_H

#include "linear/history.h"

#define MODEL_WORKERS_MAX 24u
#define MODEL_NEXT_MAX 256u
#define MODEL_THREADS_MAX 3u

struct model_worker {
    uint8_t name; /* 0: it has no name yet */
    uint8_t accepted;
    uint8_t took;
    bool open;
    bool leaves;
};

/* Without gaps, and with workers in order, so that equal states are equal bytes. */
struct model {
    uint32_t unseen[MODEL_THREADS_MAX]; /* workers with room since a scan began: bits, by name */
    uint8_t target;
    uint8_t epoch;
    uint8_t accepted;
    uint8_t queued; /* in the queue of a pool with route pull */
    bool closed;
    bool paused;
    uint8_t paused_by; /* when the call that paused it was over */
    uint8_t looking;   /* threads that scan for room: bits */
    uint8_t count;
    struct model_worker workers[MODEL_WORKERS_MAX];
    uint8_t gap[3]; /* 0: no padding */
};

void model_init(struct model *model, const struct history *history);

/* Returns the number of states that the step leads to, in `out` of MODEL_NEXT_MAX. */
uint32_t model_step(const struct model *model, const struct history *history,
                    const struct step *step, struct model *out);

#endif
