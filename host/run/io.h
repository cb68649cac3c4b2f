/*
 * run/io.h - the I/O thread's loop: signals, wake-ups from other threads, a beat, a deadline.
 *
 * It does no work of actors; its callbacks send messages and set flags. Whoever calls io_run is
 * the I/O thread: for `weir run` the first thread of the process. No thread is made here.
 *
 * Signals must be blocked in every thread, by io_block_signals as the first act of main. They are
 * read from a descriptor, so no handler ever runs. Equal signals that come together are one.
 *
 * Life: io_create .. io_run .. io_destroy. io_wake and io_stop: any thread, also before io_run;
 * everything else: the I/O thread.
 */
#ifndef HOST_RUN_IO_H
#define HOST_RUN_IO_H

#include <stdint.h>

#include "base/clock.h"
#include "base/report.h"

/* Within this time a TERM of the same sender is the same one, and so is an INT: timeout(1) signals
 * its child and then the whole group. */
#define IO_SAME_STOP_MS 100

#define IO_FIRST_TICK_MS 1

/* All are called on the I/O thread, and may be NULL. */
struct io_callbacks {
    void *context;
    void (*on_reload)(void *context);                /* HUP */
    void (*on_stop)(void *context, uint32_t count);  /* TERM, INT; count: 1, then 2, ... */
    void (*on_reopen)(void *context);                /* USR1 */
    void (*on_dump)(void *context);                  /* USR2 */
    void (*on_wake)(void *context);                  /* at least once after each io_wake */
    void (*on_tick)(void *context, uint64_t now_ms); /* each beat; monotonic */
    void (*on_deadline)(void *context);              /* once, when io_set_deadline says */
    const struct clock *clock; /* NULL: the machine's; borrowed until io_destroy */
};

struct io;
struct uv_loop_s;

/*
 * Blocks HUP, TERM, INT, USR1, USR2 and ignores PIPE and XFSZ, for this thread and those it makes.
 * Call it before anything else: a signal in the first millisecond is then kept, not lost or deadly.
 * INT stays ignored if it was (a shell's background job); the others are taken even then (nohup).
 */
void io_block_signals(void);
/*
 * Takes the place of what is closed of standard input, output and error, before anything else is
 * opened: a file of ours that came to lie there would get what is printed. Reading or writing there
 * fails, as it would have.
 */
void io_hold_standard_descriptors(void);
/* Undoes io_block_signals in a child process, before exec. */
void io_unblock_signals(void);

/*
 * Borrows the callbacks' context until io_destroy. The first beat comes after IO_FIRST_TICK_MS,
 * each next one after twice as long, up to every `tick_ms`, so that what is short is looked at
 * soon. tick_ms 0 = no beat. Reports why it cannot.
 */
int io_create(const struct io_callbacks *callbacks, uint64_t tick_ms, struct report *report,
              struct io **out_io);
/* NULL is allowed. */
void io_destroy(struct io *io);

/* The loop, for others who do I/O on this thread; they close what they put there before
 * io_destroy, which runs the loop once more. Borrowed. */
struct uv_loop_s *io_loop(struct io *io);

/* No beat until it is resumed, a whole tick_ms before the next one. Both may be said again. */
void io_pause_tick(struct io *io);
void io_resume_tick(struct io *io);

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
