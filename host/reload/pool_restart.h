/* SPDX-License-Identifier: MIT */
/*
 * reload/pool_restart.h - restarts the workers of a pool, or one of them, in their places, and
 * reports the result.
 *
 * Each worker settles the messages that it keeps and begins another incarnation: see
 * pool/renewal.h. Workers that keep messages for longer than their pool's `remove.timeout` go on
 * without a restart. On the thread of the supervisor, so no reload changes the pool during it.
 */
#ifndef HOST_RELOAD_POOL_RESTART_H
#define HOST_RELOAD_POOL_RESTART_H

#include "host/run/assembly.h"
#include "host/run/turn_watch.h"

struct pool_restart_result {
    uint32_t restarted;
    uint32_t busy; /* kept messages, or a handler has not returned: they go on without a restart */
    uint32_t failed;                /* could not open; will be tried again */
    uint32_t opening;               /* still opening after `open_timeout` */
    char why[256 + SLOW_TURN_TEXT]; /* of WEIR_EUNKNOWN and WEIR_ENOTALLOWED: a sentence */
    bool is_stuck;                  /* one worker, which is busy: it is in a callback for long */
    bool is_left;           /* one worker, which was in a callback for long: it was left behind */
    struct slow_turn stuck; /* with is_stuck or is_left: that callback */
};

/*
 * Restarts all workers of the pool `path`, or one (`pool#3`), and waits, within their time-outs.
 * `now`, with one worker: kills its process first; without a process, a worker that is stuck in
 * `handle` is left behind (pool_leave_behind). WEIR_EUNKNOWN: no such pool or worker;
 * WEIR_ENOTALLOWED: its members are pools, it leaves, or it has no process and is not left behind;
 * WEIR_ECANCELLED: the host ends; WEIR_ENOMEM. `watch` names the callback of a worker that is in
 * one for long; NULL is allowed. Not inside a read section.
 */
int pool_restart(struct assembly *assembly, struct turn_watch *watch, const char *path, bool now,
                 struct pool_restart_result *out);

/* Says why worker number `index` of the pool `path` is none: what renewal_look has found. */
void pool_restart_describe_none(const char *path, uint32_t index,
                                const struct renewal_worker *worker, char *out, size_t size);

#endif
