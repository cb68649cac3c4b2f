/* SPDX-License-Identifier: MIT */
/*
 * pages/outage.h - warns when a pool only retries: the service behind its workers is out of order.
 *
 * outage_state.h says when. One line for the begin, and one for the end. What is known of a
 * pool stays over a reload.
 *
 * Life: zeros with `overview` and `sink` .. outage_finish. I/O thread.
 */
#ifndef HOST_PAGES_OUTAGE_H
#define HOST_PAGES_OUTAGE_H

#include "host/pages/overview_figures.h"

#define OUTAGE_LOOK_MS 500 /* between two checks: each visits all workers */

struct outage_state;

struct outage {
    const struct overview *overview; /* const */
    const struct log_sink *sink;     /* const */
    struct outage_state *pools;      /* by index, of the settings `shared` */
    uint32_t count;                  /* of them */
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
