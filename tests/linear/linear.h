/*
 * linear.h - whether a history is as if each call had happened at one instant between its begin and
 * its end (Herlihy and Wing's linearizability).
 *
 * The search is Wing and Gong's, with Lowe's memory: whatever may come first is tried, as long as
 * the model agrees, and what was tried once from the same state with the same steps behind it is
 * not tried again.
 */
#ifndef TESTS_LINEAR_LINEAR_H
#define TESTS_LINEAR_LINEAR_H

#include "linear/history.h"

/* Ends the program without memory. */
bool linear_check(const struct history *history);

#endif
