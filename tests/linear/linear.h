/* SPDX-License-Identifier: MIT */
/*
 * linear.h - checks that a history is as if each call had happened at one instant between its begin
 * and its end (Herlihy and Wing's linearizability).
 *
 * The search is Wing and Gong's, with Lowe's cache: it tries every step that may come first, as
 * long as the model agrees, and never tries the same state with the same past steps twice.
 */
#ifndef TESTS_LINEAR_LINEAR_H
#define TESTS_LINEAR_LINEAR_H

#include "linear/history.h"

/* Ends the program when memory is out. */
bool linear_check(const struct history *history);

#endif
