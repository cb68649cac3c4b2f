/*
 * plugin/problem.h - why something failed: one sentence for people, without place or full stop.
 *
 * The caller owns it, and adds the place (file:line:col) when there is one.
 */
#ifndef HOST_PLUGIN_PROBLEM_H
#define HOST_PLUGIN_PROBLEM_H

#include <weir/host.h>

#define PROBLEM_SIZE 512

struct problem {
    char text[PROBLEM_SIZE];
};

/* Sets the sentence, as printf, cut at PROBLEM_SIZE, with `?` for what a terminal would obey;
 * answers `status`, for `return problem_set`. */
WEIR_PRINTF(3, 4) int problem_set(struct problem *problem, int status, const char *format, ...);

#endif
