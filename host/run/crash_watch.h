/*
 * run/crash_watch.h - tells the crash handler whose turn runs on which thread.
 */
#ifndef HOST_RUN_CRASH_WATCH_H
#define HOST_RUN_CRASH_WATCH_H

struct actor;
struct crash_note;
struct executor;

/* Installs the handler, which writes to `descriptor`. */
void crash_watch_begin(int descriptor);
void crash_watch_end(void);

/* For runtime_options: on each dispatcher thread. */
void crash_watch_thread_start(struct executor *executor);
void crash_watch_thread_end(struct executor *executor);

/*
 * Whose callback runs, or ran last, on the calling thread, as its turn has noted on pages that no
 * plugin overwrites by mistake; NULL: nobody's. For signal handlers. Borrowed until the next call.
 */
const struct crash_note *crash_watch_current(void);

/* The actor whose callback runs on the calling thread; NULL: none. For signal handlers. */
const struct actor *crash_watch_actor(void);

#endif
