/*
 * log/printer.h - what workers print, and what of it was lost.
 *
 * Text is kept in order in a buffer, which a thread of its own writes to standard output: a reader
 * that does not read keeps that thread and nobody else. The thread begins with the first text; when
 * it cannot, texts are written by who prints them. What is kept has a bound, past which those that
 * print are to be given no more work: it is passed by what they print until then.
 *
 * When standard output cannot be written (a full disk, a reader that left) the log reports it once,
 * with the reason, and again after it went well in between; what is lost is counted.
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

#include "base/log.h"
#include "host/log/screen.h"

#define PRINTER_BOUND (1u << 20) /* bytes that are kept: as much as a pipe may hold */

struct printer {
    struct screen *screen;       /* const; borrowed */
    const struct log_sink *sink; /* const; borrowed */
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    pthread_t thread;         /* lock */
    bool started;             /* lock: `thread` runs */
    bool ends;                /* lock: it is to end when all is written */
    char *text;               /* lock: accepted, and not taken by the thread */
    size_t size;              /* lock */
    size_t capacity;          /* lock */
    void (*on_empty)(void *); /* lock: told once when all is written; may be NULL */
    void *context;            /* lock */
    _Atomic size_t pending;   /* accepted and not written yet; written under lock */
    atomic_bool failing;      /* by who writes: the last text did not go out */
    _Atomic uint64_t lost;    /* bytes, by who writes */
};

/* WEIR_ENOMEM. */
int printer_init(struct printer *printer, struct screen *screen, const struct log_sink *sink);

/* Takes text, whole. Borrows. Never waits for a reader, but where it has no thread. */
void printer_print(struct printer *printer, const char *text, size_t size);

/* As much is kept as may be. Advisory: others print meanwhile. */
bool printer_is_full(const struct printer *printer);

/* True when all is written. False: `on_empty` is called on the printer's thread when it is. */
bool printer_end(struct printer *printer, void (*on_empty)(void *context), void *context);

/* Waits until all is written. False: not in time. One that was never begun has written all. */
bool printer_flush(struct printer *printer, uint32_t timeout_ms);

/* Of texts that did not go out, or have not yet. */
uint64_t printer_lost_bytes(const struct printer *printer);

/* When all is written. */
void printer_finish(struct printer *printer);

#endif
