/* SPDX-License-Identifier: MIT */
/*
 * behaviours.h - the behaviours of `words`: each has its own file.
 */
#ifndef BEHAVIOURS_H
#define BEHAVIOURS_H

#include <weir/plugin.h>

extern const struct weir_behaviour words_split;  /* split.c: lines to groups of words */
extern const struct weir_behaviour words_count;  /* count.c: one shard of the counters */
extern const struct weir_behaviour words_report; /* report.c: the table for people */

#endif
