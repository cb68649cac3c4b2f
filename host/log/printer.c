#include "host/log/printer.h"

#include <string.h>

void printer_print(struct printer *printer, const char *text, size_t size)
{
    int error = 0;

    if (screen_print(printer->screen, text, size, &error) == WEIR_OK) {
        /* Relaxed, as all of this: it only says whether somebody has told already. */
        if (atomic_load_explicit(&printer->failing, memory_order_relaxed))
            atomic_store_explicit(&printer->failing, false, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&printer->lost_bytes, size, memory_order_relaxed);
    if (!atomic_exchange_explicit(&printer->failing, true, memory_order_relaxed))
        log_event(printer->sink, WEIR_LOG_ERROR, "host", "standard output cannot be written",
                  weir_str("reason", strerror(error)),
                  weir_str("effect", "what workers print is lost until it can; told at the end"));
}

uint64_t printer_lost_bytes(const struct printer *printer)
{
    /* Relaxed: whoever asks at the end has waited for those who print. */
    return atomic_load_explicit(&printer->lost_bytes, memory_order_relaxed);
}
