/*
 * embed/order.h - the graceful end of all that an embedding program has made.
 */
#ifndef EMBED_ORDER_H
#define EMBED_ORDER_H

#include "embed/part.h"

/*
 * Closes sources first, then each part after all parts whose outputs feed it, and a pool after the
 * pools nested in it. Parts that feed each other in a cycle close together. When a part has not
 * ended for `no_room_ms`, parts that accept no message, for which it may wait, are closed early.
 * Waits; not on a dispatcher's thread. 0, or WEIR_ETIMEOUT: the log names the parts that have not
 * ended. WEIR_ENOMEM.
 */
int order_close_all(struct weir_runtime *runtime, uint64_t timeout_ms);

#endif
