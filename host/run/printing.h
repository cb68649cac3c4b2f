/* SPDX-License-Identifier: MIT */
/*
 * run/printing.h - passes printed text from the runtime to standard output, and flushes it at the
 * end.
 *
 * Life: printing_init .. printing_finish. On the program's first thread.
 */
#ifndef HOST_RUN_PRINTING_H
#define HOST_RUN_PRINTING_H

#include "host/log/printer.h"
#include "weir_core.h"

#define PRINTING_TIMEOUT_MS 100 /* for a reader, where the host cannot wait */

struct printing {
    struct printer printer;
    uint64_t until_ms; /* text that is not written by then is lost; 0 = printing goes on */
};

/* Borrows screen and sink. WEIR_ENOMEM. */
int printing_init(struct printing *printing, struct screen *screen, const struct log_sink *sink);

/* Makes a runtime print there. */
void printing_connect(struct printing *printing, struct runtime_options *out_options);

/* Called when no worker prints any more. True: all text is written, or `timeout_ms` have passed
 * since the first call. False: call again when `on_empty` is called, which happens on another
 * thread, and from time to time. */
bool printing_is_over(struct printing *printing, uint64_t timeout_ms,
                      void (*on_empty)(void *context), void *context);

/* Waits briefly for text that is not written. False: its thread still needs screen and sink. */
bool printing_finish(struct printing *printing);

#endif
