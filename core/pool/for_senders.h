/*
 * pool/for_senders.h - the settings of a pool that senders read, without a lock.
 *
 * They are set from the pool's settings: when the pool is made, and by each change of them. They
 * stand on the line of struct pool that senders read for each message.
 */
#ifndef POOL_FOR_SENDERS_H
#define POOL_FOR_SENDERS_H

#include <stdatomic.h>

#include "base/pool_settings.h"

struct for_senders {
    _Atomic uint32_t route; /* enum weir_route */
};

/* Under the pool's lock, or before other threads have the pool. */
static inline void for_senders_set(struct for_senders *to, const struct pool_settings *settings)
{
    /* Relaxed, all: they order nothing else, and a sender may use the former ones for a moment. */
    atomic_store_explicit(&to->route, settings->route, memory_order_relaxed);
}

#endif
