/* SPDX-License-Identifier: MIT */
/*
 * run/io.h - the I/O thread's loop: signals, wake-ups from other threads, a beat, a deadline.
 *
 * It runs no actors; its callbacks send messages and set flags. The thread that calls io_run is the
 * I/O thread: for `weir run`, the first thread of the process. This module creates no thread.
 *
 * Signals must be blocked in every thread, by io_block_signals as the first act of main. They are
 * read from a descriptor, so no handler ever runs. Equal signals that arrive together count as one.
 *
 * Life: io_create .. io_run .. io_destroy. io_wake and io_stop: any thread, also before io_run;
 * everything else: the I/O thread.
 */
#ifndef HOST_RUN_IO_H
#define HOST_RUN_IO_H

#include <stdint.h>

#include "base/clock.h"
#include "base/report.h"

/* A second TERM of the same sender within this time is the same one, and so is an INT: timeout(1)
 * signals its child and then the whole group. */
#define IO_SAME_STOP_MS 100

#define IO_FIRST_TICK_MS 1
#define IO_RESUMED_TICK_MS 100

/* All are called on the I/O thread, and may be NULL. */
struct io_callbacks {
    void *context;
    void (*on_reload)(void *context);                /* HUP */
    void (*on_stop)(void *context, uint32_t count);  /* TERM, INT; count: 1, then 2, ... */
    void (*on_reopen)(void *context);                /* USR1 */
    void (*on_dump)(void *context);                  /* USR2 */
    void (*on_wake)(void *context);                  /* at least once after each io_wake */
    void (*on_tick)(void *context, uint64_t now_ms); /* each beat; monotonic */
    void (*on_deadline)(void *context);              /* once, at the time of io_set_deadline */
    const struct clock *clock; /* NULL: the system's clock; borrowed until io_destroy */
};

struct io;
struct uv_loop_s;

/*
 * Blocks HUP, TERM, INT, USR1, USR2 and ignores PIPE and XFSZ, for this thread and the threads it
 * creates. Call it before anything else: a signal in the first millisecond is then kept, not lost
 * or deadly. INT stays ignored if it was (a shell's background job); the others are taken even then
 * (nohup).
 */
void io_block_signals(void);
/*
 * Occupies the descriptors of standard input, output and error that are closed, before anything
 * else is opened: otherwise a file of ours could get that number, and printed text. Reading or
 * writing such a descriptor fails as before.
 */
void io_hold_standard_descriptors(void);
/* Undoes io_block_signals in a child process, before exec. */
void io_unblock_signals(void);

/*
 * Borrows the callbacks' context until io_destroy. The first beat comes after IO_FIRST_TICK_MS,
 * each next one after twice as long, up to every `tick_ms`, so that short runs get beats, too.
 * tick_ms 0 = no beat. Reports the reason of a failure.
 */
int io_create(const struct io_callbacks *callbacks, uint64_t tick_ms, struct report *report,
              struct io **out_io);
/* NULL is allowed. */
void io_destroy(struct io *io);

/* The loop, for other modules that do I/O on this thread. They close their handles before
 * io_destroy, which runs the loop once more. Borrowed. */
struct uv_loop_s *io_loop(struct io *io);

/* Stops the beat; io_resume_tick starts it again: the next beat comes after IO_RESUMED_TICK_MS, or
 * tick_ms if that is shorter, and then as at first. Repeated calls are allowed. */
void io_pause_tick(struct io *io);
void io_resume_tick(struct io *io);
/* Sets the interval; not 0. A longer one is reached as at first. No effect without a beat. */
void io_set_tick(struct io *io, uint64_t tick_ms);

/* Runs until io_stop. */
void io_run(struct io *io);

/* Makes the I/O thread call on_wake soon. Several may become one. Never blocks. */
void io_wake(struct io *io);
/* Makes io_run return soon. Never blocks. */
void io_stop(struct io *io);

/* Calls on_deadline in `delay_ms`; replaces an earlier one. */
void io_set_deadline(struct io *io, uint64_t delay_ms);
void io_clear_deadline(struct io *io);

#endif
