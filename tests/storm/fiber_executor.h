/* SPDX-License-Identifier: MIT */
/*
 * fiber_executor.h - an executor as a fiber: each step of it is an event for the others.
 */
#ifndef TESTS_STORM_FIBER_EXECUTOR_H
#define TESTS_STORM_FIBER_EXECUTOR_H

#include "dispatch/executor.h"
#include "storm/fibers.h"

/* A fiber_body; `context` is the executor. Never ends. */
static inline void fiber_executor(void *context)
{
    for (;;) {
        if (executor_step(context))
            fibers_yield();
        else
            fibers_rest();
    }
}

#endif
