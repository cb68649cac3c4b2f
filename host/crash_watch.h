/*
 * host/crash_watch.h - tells the crash handler whose turn runs on which thread.
 */
#ifndef HOST_CRASH_WATCH_H
#define HOST_CRASH_WATCH_H

struct executor;

/* Installs the handler, which writes to `descriptor`. */
void crash_watch_begin(int descriptor);
void crash_watch_end(void);

/* For runtime_options: on each dispatcher thread. */
void crash_watch_thread_start(struct executor *executor);
void crash_watch_thread_end(struct executor *executor);

#endif
