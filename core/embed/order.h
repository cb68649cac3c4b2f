/*
 * embed/order.h - the graceful end of all that an embedding program has made.
 */
#ifndef EMBED_ORDER_H
#define EMBED_ORDER_H

#include "embed/part.h"

/*
 * Sources first; then each part after all whose outputs feed it, and a pool after those nested in
 * it; what feeds itself in a circle closes as one. While a part does not end for `no_room_ms`,
 * those that let nothing in, for which it may wait, are closed before their turn. Waits, not on a
 * dispatcher's thread. 0, or WEIR_ETIMEOUT: what is left has been named in the log. WEIR_ENOMEM.
 */
int order_close_all(struct weir_runtime *runtime, uint64_t timeout_ms);

#endif
