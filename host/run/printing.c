/* SPDX-License-Identifier: MIT */
#include "host/run/printing.h"

static void print(void *context, const char *text, size_t size)
{
    printer_print(context, text, size);
}

static bool is_full(void *context)
{
    return printer_is_full(context);
}

int printing_init(struct printing *printing, struct screen *screen, const struct log_sink *sink)
{
    return printer_init(&printing->printer, screen, sink);
}

void printing_connect(struct printing *printing, struct runtime_options *out_options)
{
    out_options->print = print;
    out_options->print_is_full = is_full;
    out_options->print_context = &printing->printer;
}

bool printing_is_over(struct printing *printing, uint64_t timeout_ms,
                      void (*on_empty)(void *context), void *context)
{
    struct clock clock = clock_monotonic();
    uint64_t now_ms = clock_now_ns(&clock) / 1000000u;

    if (!printing->until_ms)
        printing->until_ms = now_ms + timeout_ms;
    return printer_end(&printing->printer, on_empty, context) || now_ms >= printing->until_ms;
}

bool printing_finish(struct printing *printing)
{
    if (!printer_flush(&printing->printer, PRINTING_TIMEOUT_MS))
        return false;
    printer_finish(&printing->printer);
    return true;
}
