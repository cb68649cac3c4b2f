#include "actor/wiring.h"

#include <stddef.h>
#include <stdlib.h>

struct wiring *wiring_create(uint32_t count)
{
    struct wiring *wiring = calloc(1, sizeof *wiring + count * sizeof wiring->bindings[0]);

    if (wiring)
        wiring->count = count;
    return wiring;
}

void wiring_destroy(struct wiring *wiring)
{
    free(wiring);
}

static void free_wiring(struct retired *retired, struct reader *reader)
{
    (void)reader;
    wiring_destroy((struct wiring *)(void *)((char *)retired - offsetof(struct wiring, retired)));
}

void wiring_publish(struct wiring_slot *slot, struct wiring *next, struct reader *reader)
{
    /* [W1] */
    struct wiring *old = atomic_exchange_explicit(&slot->wiring, next, memory_order_acq_rel);

    if (!old)
        return;
    old->retired.free = free_wiring;
    reader_retire(reader, &old->retired);
}
