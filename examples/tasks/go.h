/* SPDX-License-Identifier: MIT */
/*
 * go.h - what the calls of ants, tunny and pond become: docs/guide/pools-from-go.md.
 *
 * One file for each of them, and one for Go itself; go.c is the program, which ends with 0 when
 * each call does what the page says.
 */
#ifndef TASKS_GO_H
#define TASKS_GO_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/runtime.h>

#define EXPECT(condition)                                                                          \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    while (0)

void like_ants(struct weir_runtime *runtime);
void like_tunny(struct weir_runtime *runtime);
void like_pond(struct weir_runtime *runtime);
void like_go(struct weir_runtime *runtime);

/* A pool of four workers for tasks, with one queue. */
weir_pid make_pool(struct weir_runtime *runtime, const char *path);

/* --- tasks ------------------------------------------------------------------------------------ */

weir_task_function count;  /* adds 1 to an _Atomic int */
weir_task_function square; /* an int */
weir_task_function fail;   /* returns 7 */
weir_task_function work_while_wanted;

/* A worker is busy until the program opens the gate. */
struct gate {
    atomic_bool arrived;
    atomic_bool open;
};

weir_task_function wait_at_gate; /* a struct gate */
void await_arrival(struct gate *gate);

#endif
