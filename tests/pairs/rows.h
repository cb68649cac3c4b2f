/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the functions of the rows of the table of features: see struct feature in pairs.h.
 */
#ifndef TESTS_PAIRS_ROWS_H
#define TESTS_PAIRS_ROWS_H

#include "pairs/pairs.h"

/* What a worker does with a message: deeds.c. */
typedef int deed(struct weir_self *self, struct worker *worker, const struct weir_message *message);
deed deed_retry, deed_fail, deed_stop, deed_stash, deed_publish, deed_emit, deed_delay, deed_ask,
    deed_forward, deed_keep, deed_spawn, deed_postpone, deed_put_back, deed_take, deed_rename;

/* What a thread outside does: acts.c, and acts_changes.c for what changes pools. */
typedef void act(struct agent *agent);
act act_take, act_ask, act_tasks, act_group, act_direct, act_lookup, act_replay, act_inspect;
act act_pause, calm_pause, act_resize, calm_resize, act_rate, calm_rate, act_reload, act_exclusive,
    act_kill;

#endif
