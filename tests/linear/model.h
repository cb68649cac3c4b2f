/*
 * model.h - what a pool does when nothing happens at the same time.
 *
 * A state is {target, epoch, accepted, open or closed, paused} and what is known of its workers;
 * the limit stands in the history. A step leads from a state to none (the pool would not have
 * answered so), to one, or to several: which workers leave, and which are called back, is the
 * pool's choice. A pause is not one instant: who began to send before it was over may be let in.
 * Nor is a refusal: FULL says that each worker had no room at some instant of the call.
 */
#ifndef TESTS_LINEAR_MODEL_H
#define TESTS_LINEAR_MODEL_H

#include "linear/history.h"

#define MODEL_WORKERS_MAX 24u
#define MODEL_NEXT_MAX 256u
#define MODEL_THREADS_MAX 3u

struct model_worker {
    uint8_t name; /* 0: it has not begun */
    uint8_t accepted;
    uint8_t took;
    bool open;
    bool leaves;
};

/* Without gaps, and with workers in order: equal states are equal bytes. */
struct model {
    uint32_t unseen[MODEL_THREADS_MAX]; /* workers with room since a look began: bits, by name */
    uint8_t target;
    uint8_t epoch;
    uint8_t accepted;
    uint8_t queued; /* in the queue of a pool that is pulled from */
    bool closed;
    bool paused;
    uint8_t paused_by; /* when the call that paused it was over */
    uint8_t looking;   /* threads that look for room: bits */
    uint8_t count;
    struct model_worker workers[MODEL_WORKERS_MAX];
    uint8_t gap[3]; /* 0: no padding */
};

void model_init(struct model *model, const struct history *history);

/* Answers how many states the step leads to, in `out` of MODEL_NEXT_MAX. */
uint32_t model_step(const struct model *model, const struct history *history,
                    const struct step *step, struct model *out);

#endif
