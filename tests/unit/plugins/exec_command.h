/* SPDX-License-Identifier: MIT */
/*
 * exec_command.h - a worker of exec.run in the test kit.
 */
#ifndef EXEC_COMMAND_H
#define EXEC_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/plugin.h>

#include "exec_wait.h"

struct weir_kit;

/* A worker that is open. */
struct weir_kit *worker(const char *args);
/* Destroys the worker, which must leave nothing and no process. */
void finish(struct weir_kit *kit);

/* Gives a text, and waits until it is settled: by `handle`, when the last command was brief and
 * this one is, or later. */
void give(struct weir_kit *kit, const char *text);
void expect_output(struct weir_kit *kit, size_t index, const char *text);
void expect_settled(struct weir_kit *kit, enum weir_verdict verdict, size_t count,
                    const char *reason);

/* True when the worker has no command and waits for a timer. */
bool a_timer_waits(struct weir_kit *kit);

#endif
