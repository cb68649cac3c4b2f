/*
 * log/printer.h - what workers print, and what of it was lost.
 *
 * Text goes to standard output. When that cannot be written (a full disk, a reader that left) it is
 * told once, with the reason, and again after it went well in between; what is lost is counted.
 *
 * Life: one struct, zeroed but for its constants. Every function: any thread.
 */
#ifndef HOST_LOG_PRINTER_H
#define HOST_LOG_PRINTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "host/log/screen.h"

struct printer {
    struct screen *screen;       /* const; borrowed */
    const struct log_sink *sink; /* const; borrowed */
    atomic_bool failing;         /* by all who print: the last text did not go out */
    _Atomic uint64_t lost_bytes; /* by all who print; read by anybody */
};

/* Writes text, whole, waiting for its reader. Borrows. */
void printer_print(struct printer *printer, const char *text, size_t size);

/* Of texts that did not go out as a whole. */
uint64_t printer_lost_bytes(const struct printer *printer);

#endif
