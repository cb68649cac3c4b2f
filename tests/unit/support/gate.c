/* SPDX-License-Identifier: MIT */
#include "unit/support/gate.h"

#include <errno.h>
#include <time.h>

#include "unit/support/wait_limit.h"

void gate_init(struct gate *gate)
{
    pthread_condattr_t attributes;

    *gate = (struct gate){ .open = false };
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void gate_finish(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

static struct timespec end_of_wait(void)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += wait_limit_ms() / 1000 + 1;
    return end;
}

/* True when there was a change before the end of the wait. */
static bool wait_locked(struct gate *gate, const struct timespec *end)
{
    return pthread_cond_timedwait(&gate->changed, &gate->lock, end) != ETIMEDOUT;
}

bool gate_pass(struct gate *gate)
{
    struct timespec end = end_of_wait();
    bool may = true;
    uint32_t number;

    pthread_mutex_lock(&gate->lock);
    number = gate->arrived++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open && number >= gate->admitted && may)
        may = wait_locked(gate, &end);
    pthread_mutex_unlock(&gate->lock);
    return may;
}

bool gate_await(struct gate *gate, uint32_t count)
{
    struct timespec end = end_of_wait();
    bool in_time = true;

    pthread_mutex_lock(&gate->lock);
    while (gate->arrived < count && in_time)
        in_time = wait_locked(gate, &end);
    in_time = gate->arrived >= count;
    pthread_mutex_unlock(&gate->lock);
    return in_time;
}

void gate_admit(struct gate *gate, uint32_t count)
{
    pthread_mutex_lock(&gate->lock);
    gate->admitted += count;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gate_shut(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = false;
    gate->admitted = gate->arrived;
    pthread_mutex_unlock(&gate->lock);
}
