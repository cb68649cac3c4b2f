/*
 * reload/pool_restart.h - restarts the workers of a pool in their places, and reports the result.
 *
 * Each worker settles the messages that it keeps and begins another incarnation: see
 * pool/renewal.h. Workers that keep messages for longer than their pool's `remove.timeout` go on
 * without a restart. On the thread of the supervisor, so no reload changes the pool during it.
 */
#ifndef HOST_RELOAD_POOL_RESTART_H
#define HOST_RELOAD_POOL_RESTART_H

#include "host/run/assembly.h"

struct pool_restart_result {
    uint32_t restarted;
    uint32_t busy; /* kept messages, or a handler has not returned: they go on without a restart */
    uint32_t failed;  /* could not open; will be tried again */
    uint32_t opening; /* still opening after `open_timeout` */
};

/* Restarts all workers and waits, within their time-outs. WEIR_EUNKNOWN: no such pool,
 * WEIR_ECANCELLED: the host ends, WEIR_ENOMEM. Not inside a read section. */
int pool_restart(struct assembly *assembly, const char *path, struct pool_restart_result *out);

#endif
