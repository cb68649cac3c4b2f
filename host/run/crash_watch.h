/*
 * run/crash_watch.h - tells the crash handler whose turn runs on which thread.
 */
#ifndef HOST_RUN_CRASH_WATCH_H
#define HOST_RUN_CRASH_WATCH_H

struct crash_note;
struct executor;

/* Installs the handler, which writes to `descriptor`. */
void crash_watch_begin(int descriptor);
void crash_watch_end(void);

/* For runtime_options: on each dispatcher thread. */
void crash_watch_thread_start(struct executor *executor);
void crash_watch_thread_end(struct executor *executor);

/*
 * Who runs on the calling thread, as it has written itself; NULL: nobody. For signal handlers.
 * Borrowed until the turn ends.
 */
const struct crash_note *crash_watch_current(void);

#endif
