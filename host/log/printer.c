/* SPDX-License-Identifier: MIT */
#include "host/log/printer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CAPACITY_MIN 4096u

int printer_init(struct printer *printer, struct screen *screen, const struct log_sink *sink)
{
    pthread_condattr_t attributes;

    *printer = (struct printer){ .screen = screen, .sink = sink };
    lock_init(&printer->lock, LOCK_PRINTER);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&printer->filled, NULL);
    pthread_cond_init(&printer->emptied, &attributes);
    pthread_condattr_destroy(&attributes);
    return 0;
}

/* --- writing -------------------------------------------------------------------------------- */

static void lose(struct printer *printer, size_t size, const char *reason)
{
    /* Relaxed: the reader at the end has waited for the printing threads. */
    atomic_fetch_add_explicit(&printer->lost, size, memory_order_relaxed);
    if (!atomic_exchange_explicit(&printer->failing, true, memory_order_relaxed))
        log_event(printer->sink, WEIR_LOG_ERROR, "host", "standard output cannot be written",
                  weir_str("reason", reason),
                  weir_str("effect", "lost output is counted and logged at the end"));
}

/* Runs on the printer's thread; without one, under the lock. */
static void write_out(struct printer *printer, const char *text, size_t size)
{
    size_t left = size;
    int error = 0;

    if (screen_print(printer->screen, text, &left, &error) == WEIR_OK)
        atomic_store_explicit(&printer->failing, false, memory_order_relaxed);
    else
        lose(printer, left, strerror(error));
}

/* Removes the text that has been written. */
static void settle_locked(struct printer *printer, size_t size)
{
    /* Relaxed: advisory; the waiters for the end hold the lock. */
    if (atomic_fetch_sub_explicit(&printer->pending, size, memory_order_relaxed) != size)
        return;
    pthread_cond_broadcast(&printer->emptied);
    if (printer->on_empty)
        printer->on_empty(printer->context);
    printer->on_empty = NULL;
}

/* Reuses a written buffer, unless it grew past the usual size. */
static void give_back_locked(struct printer *printer, char *text, size_t capacity)
{
    if (printer->text || capacity > 2 * PRINTER_BOUND) {
        free(text);
        return;
    }
    printer->text = text;
    printer->capacity = capacity;
}

static void write_all_locked(struct printer *printer)
{
    char *text = printer->text;
    size_t size = printer->size;
    size_t capacity = printer->capacity;

    printer->text = NULL;
    printer->size = 0;
    printer->capacity = 0;
    lock_release(&printer->lock);
    write_out(printer, text, size);
    lock_acquire(&printer->lock);
    give_back_locked(printer, text, capacity);
    settle_locked(printer, size);
}

static void *printer_main(void *argument)
{
    struct printer *printer = argument;

    lock_acquire(&printer->lock);
    while (printer->size > 0 || !printer->ends) {
        if (printer->size > 0)
            write_all_locked(printer);
        else
            lock_wait(&printer->lock, &printer->filled);
    }
    lock_release(&printer->lock);
    return NULL;
}

/* --- taking --------------------------------------------------------------------------------- */

static bool has_thread_locked(struct printer *printer)
{
    if (!printer->started)
        printer->started = pthread_create(&printer->thread, NULL, printer_main, printer) == 0;
    return printer->started;
}

static bool make_room_locked(struct printer *printer, size_t size)
{
    size_t capacity = printer->capacity ? printer->capacity : CAPACITY_MIN;
    char *text;

    while (capacity - printer->size < size)
        capacity *= 2;
    if (capacity == printer->capacity)
        return true;
    text = realloc(printer->text, capacity);
    if (!text)
        return false;
    printer->text = text;
    printer->capacity = capacity;
    return true;
}

void printer_print(struct printer *printer, const char *text, size_t size)
{
    if (size == 0)
        return;
    lock_acquire(&printer->lock);
    if (!has_thread_locked(printer)) {
        write_out(printer, text, size);
    } else if (!make_room_locked(printer, size)) {
        lose(printer, size, weir_status_text(WEIR_ENOMEM));
    } else {
        memcpy(printer->text + printer->size, text, size);
        if (printer->size == 0)
            pthread_cond_signal(&printer->filled);
        printer->size += size;
        atomic_fetch_add_explicit(&printer->pending, size, memory_order_relaxed);
    }
    lock_release(&printer->lock);
}

bool printer_is_full(const struct printer *printer)
{
    return atomic_load_explicit(&printer->pending, memory_order_relaxed) >= PRINTER_BOUND;
}

/* --- the end -------------------------------------------------------------------------------- */

static bool is_empty_locked(const struct printer *printer)
{
    return atomic_load_explicit(&printer->pending, memory_order_relaxed) == 0;
}

bool printer_end(struct printer *printer, void (*on_empty)(void *context), void *context)
{
    bool is_empty;

    lock_acquire(&printer->lock);
    is_empty = is_empty_locked(printer);
    printer->on_empty = is_empty ? NULL : on_empty;
    printer->context = context;
    lock_release(&printer->lock);
    return is_empty;
}

bool printer_flush(struct printer *printer, uint32_t timeout_ms)
{
    struct timespec deadline;
    bool in_time = true;
    bool is_empty;

    if (!printer->screen)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += timeout_ms / 1000;
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    lock_acquire(&printer->lock);
    while (!is_empty_locked(printer) && in_time)
        in_time = lock_wait_until(&printer->lock, &printer->emptied, &deadline);
    is_empty = is_empty_locked(printer);
    lock_release(&printer->lock);
    return is_empty;
}

uint64_t printer_lost_bytes(const struct printer *printer)
{
    /* Relaxed: the reader at the end has waited for the printing threads. */
    return atomic_load_explicit(&printer->lost, memory_order_relaxed) +
           atomic_load_explicit(&printer->pending, memory_order_relaxed);
}

void printer_finish(struct printer *printer)
{
    bool started;

    if (!printer->screen)
        return;
    lock_acquire(&printer->lock);
    printer->ends = true;
    started = printer->started;
    pthread_cond_signal(&printer->filled);
    lock_release(&printer->lock);
    if (started)
        pthread_join(printer->thread, NULL);
    free(printer->text);
    pthread_cond_destroy(&printer->emptied);
    pthread_cond_destroy(&printer->filled);
    lock_finish(&printer->lock);
}
