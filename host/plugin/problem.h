/* SPDX-License-Identifier: MIT */
/*
 * plugin/problem.h - the reason of a failure: one sentence, without position or full stop.
 *
 * The caller owns it, and adds the position (file:line:col) when there is one.
 */
#ifndef HOST_PLUGIN_PROBLEM_H
#define HOST_PLUGIN_PROBLEM_H

#include <weir/host.h>

#define PROBLEM_SIZE 512

struct problem {
    char text[PROBLEM_SIZE];
};

/* Sets the sentence, as printf, truncated at PROBLEM_SIZE, with `?` for control characters; returns
 * `status`, for `return problem_set`. */
WEIR_PRINTF(3, 4) int problem_set(struct problem *problem, int status, const char *format, ...);

#endif
