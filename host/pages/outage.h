/* SPDX-License-Identifier: MIT */
/*
 * pages/outage.h - warns when a pool only retries: the service behind its workers is out of order.
 *
 * An outage begins with a retry. It is logged when for OUTAGE_MS no message of the pool was done
 * and a second retry came; its end is logged when a message is done again. One line each, for a
 * pool. A reload resets the state.
 *
 * Life: zeros with `overview` and `sink` .. outage_finish. I/O thread.
 */
#ifndef HOST_PAGES_OUTAGE_H
#define HOST_PAGES_OUTAGE_H

#include "host/pages/overview_figures.h"

#define OUTAGE_MS 5000     /* longer than a hiccup, shorter than an operator looks away */
#define OUTAGE_LOOK_MS 500 /* between two checks: each visits all workers */

struct outage_pool;

struct outage {
    const struct overview *overview; /* const */
    const struct log_sink *sink;     /* const */
    struct outage_pool *pools;       /* by index, of the settings `shared` */
    const struct shared_settings *shared;
    uint32_t generation; /* of the assembly, when `pools` was made */
    uint64_t looked_ms;
};

/* Call it with each beat; looks every OUTAGE_LOOK_MS. */
void outage_tick(struct outage *outage, uint64_t now_ms);

/* Looks at once: before the beat stops. */
void outage_look(struct outage *outage, uint64_t now_ms);

void outage_finish(struct outage *outage);

#endif
