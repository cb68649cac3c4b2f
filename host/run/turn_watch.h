/* SPDX-License-Identifier: MIT */
/*
 * run/turn_watch.h - reports turns that take too long: the behaviour, and its stack.
 *
 * On every tick the I/O thread asks the watchdogs (dispatch/watchdog.h). A thread that has been in
 * one turn for longer than `host.turn_warning` is sent SIGURG, whose handler records the callback
 * and its stack; the next tick logs that, once for each turn. A plugin that sleeps or polls
 * meanwhile sees EINTR, as from any signal.
 *
 * Used by one thread, except for turn_watch_set_limit and turn_watch_find, which any thread may
 * call.
 */
#ifndef HOST_RUN_TURN_WATCH_H
#define HOST_RUN_TURN_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "host/crash/stack.h"
#include "host/run/slow_turns.h"

struct runtime;
struct turn_watch;

struct turn_watch_setup {
    struct runtime *runtime; /* borrowed until turn_watch_destroy, as are the others */
    const struct log_sink *sink;
    const char *unwatched; /* the name of a dispatcher that is not watched; NULL = all are */
    struct stack_names names;
};

/* Installs the handler. WEIR_ENOMEM, WEIR_EINVALID. */
int turn_watch_create(const struct turn_watch_setup *setup, struct turn_watch **out);

/* After the runtime's threads have stopped. NULL is allowed. */
void turn_watch_destroy(struct turn_watch *watch);

/* Sets the limit: turns that take `limit_ms` or longer are reported, and a spare thread stands in
 * for theirs (dispatch/timekeeper.h). A message that is kept for 30 times `limit_ms` is reported,
 * too. */
void turn_watch_set_limit(struct turn_watch *watch, uint64_t limit_ms);

void turn_watch_tick(struct turn_watch *watch, uint64_t now_ms);

/* When turn_watch_tick wants to be called again, at the latest, in milliseconds: soon while turns
 * last, very soon while a thread is asked for its stack. UINT64_MAX: no turn lasts. */
uint64_t turn_watch_next_ms(const struct turn_watch *watch);

/* Finds the turn of a worker (as pool_find_turn) that has been reported and still lasts. False:
 * there is none, or `watch` is NULL. Any thread. */
bool turn_watch_find(struct turn_watch *watch, struct pool *pool, uint32_t index, weir_pid pid,
                     struct slow_turn *out);

#endif
