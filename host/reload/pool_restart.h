/*
 * reload/pool_restart.h - restarts the workers of a pool in their places, and tells how it went.
 *
 * Each worker settles what it keeps and begins another incarnation; pool/renewal.h says how. Those
 * that keep messages for longer than their pool's `remove.timeout` go on as they are. On the thread
 * of the supervisor, so no reload changes the pool meanwhile.
 */
#ifndef HOST_RELOAD_POOL_RESTART_H
#define HOST_RELOAD_POOL_RESTART_H

#include "host/run/assembly.h"

struct pool_restart_result {
    uint32_t restarted;
    uint32_t busy;    /* kept messages, or a handler has not returned: they go on as they are */
    uint32_t failed;  /* could not open; tried again */
    uint32_t opening; /* still are after `open_timeout` */
};

/* Waits until all have been restarted, as long as that may take. WEIR_EUNKNOWN: no such pool,
 * WEIR_ECANCELLED: the host is to end, WEIR_ENOMEM. Not inside a read section. */
int pool_restart(struct assembly *assembly, const char *path, struct pool_restart_result *out);

#endif
