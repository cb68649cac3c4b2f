/* SPDX-License-Identifier: MIT */
/*
 * log/printer.h - writes the text that workers print to standard output, and counts lost text.
 *
 * A buffer keeps the text in order, and a separate thread writes it: a reader that does not read
 * blocks that thread only. The thread starts with the first text; without a thread the printing
 * worker writes the text itself. The buffer has a bound. When it is full, workers that print get no
 * further work; until then their text may exceed the bound.
 *
 * When standard output cannot be written (a full disk, a closed pipe) the log reports it once, with
 * the reason, and again after a success in between; lost text is counted.
 *
 * Life: printer_init .. printer_finish. printer_end and printer_finish: the program's first thread;
 * the others: any thread.
 */
#ifndef HOST_LOG_PRINTER_H
#define HOST_LOG_PRINTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/log.h"
#include "host/log/screen.h"

#define PRINTER_BOUND (1u << 20) /* bytes that are kept: the largest size of a pipe */

struct printer {
    struct screen *screen;       /* const; borrowed */
    const struct log_sink *sink; /* const; borrowed */
    struct lock lock;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    pthread_t thread;         /* lock */
    bool started;             /* lock: `thread` runs */
    bool ends;                /* lock: the thread ends when all text is written */
    char *text;               /* lock: accepted, not taken by the thread yet */
    size_t size;              /* lock */
    size_t capacity;          /* lock */
    void (*on_empty)(void *); /* lock: called once, when all is written; may be NULL */
    void *context;            /* lock */
    _Atomic size_t pending;   /* accepted and not written yet; written under lock */
    atomic_bool failing;      /* by the writing thread: the last write failed */
    _Atomic uint64_t lost;    /* bytes, by the writing thread */
};

/* WEIR_ENOMEM. */
int printer_init(struct printer *printer, struct screen *screen, const struct log_sink *sink);

/* Accepts the whole text. Borrows. Waits for a reader only when there is no thread. */
void printer_print(struct printer *printer, const char *text, size_t size);

/* True when the buffer is full. Advisory: other threads may print at the same time. */
bool printer_is_full(const struct printer *printer);

/* True when all text is written. False: the printer's thread calls `on_empty` later. */
bool printer_end(struct printer *printer, void (*on_empty)(void *context), void *context);

/* Waits until all text is written. False: not in time. Without any text the answer is true. */
bool printer_flush(struct printer *printer, uint32_t timeout_ms);

/* The bytes that were lost or are not written yet. */
uint64_t printer_lost_bytes(const struct printer *printer);

/* Call it when all is written. */
void printer_finish(struct printer *printer);

#endif
