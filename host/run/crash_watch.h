/* SPDX-License-Identifier: MIT */
/*
 * run/crash_watch.h - records for the crash handler which turn runs on which thread.
 */
#ifndef HOST_RUN_CRASH_WATCH_H
#define HOST_RUN_CRASH_WATCH_H

#include "weir_core.h"

struct crash_note;

/* Installs the handler, which writes by last_words.h. */
void crash_watch_begin(void);
void crash_watch_end(void);

/* For runtime_options: on each dispatcher thread. */
void crash_watch_thread_start(struct executor *executor);
void crash_watch_thread_end(struct executor *executor);

/*
 * The callback that runs, or ran last, on the calling thread, read from a note on pages that no
 * plugin overwrites by mistake; NULL: none. For signal handlers. Borrowed until the next call.
 */
const struct crash_note *crash_watch_current(void);

/* The turn that runs on the calling thread; false: none of a behaviour. For signal handlers. */
bool crash_watch_turn(struct turn_note *out);

#endif
