/* SPDX-License-Identifier: MIT */
/*
 * exec_wait.h - waits for what the children of a worker under test do.
 */
#ifndef EXEC_WAIT_H
#define EXEC_WAIT_H

#include <stdbool.h>

struct weir_kit;

/* Runs the watches of the worker until `done` says so. The time-out of CTest is the only clock. */
void run_until(struct weir_kit *kit, bool (*done)(struct weir_kit *kit));

bool nothing_is_kept(struct weir_kit *kit);

#endif
