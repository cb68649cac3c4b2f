/* SPDX-License-Identifier: MIT */
/*
 * apply/dispatcher_change.h - the dispatchers' part of a plan under way, as a transaction.
 *
 * It walks the plan's tasks. Everything that can fail happens in prepare: it makes new dispatchers,
 * and new threads of present ones. The commit ends surplus threads and sets budgets. A dispatcher
 * that the settings no longer name is retired when its last actor has ended.
 *
 * Life: dispatcher_change_prepare, then commit or abort. One thread at a time: see assembly.h.
 */
#ifndef HOST_APPLY_DISPATCHER_CHANGE_H
#define HOST_APPLY_DISPATCHER_CHANGE_H

#include "host/apply/transition.h"

/* Why threads cannot start, for people: the system gives one error for both reasons. */
#define DISPATCHER_CHANGE_WANTING                                                                  \
    "no memory, or no more threads allowed (ulimit -u, TasksMax of systemd, pids.max)"

struct dispatcher_change {
    uint32_t count; /* number of prepared dispatchers */
    struct {
        const struct settings_dispatcher *wanted; /* borrowed until commit or abort */
        struct dispatcher *dispatcher;
        uint32_t before; /* threads; 0 = it is new */
    } parts[RUNTIME_DISPATCHERS_MAX];
};

/* Reports the reason of a failure: WEIR_ENOMEM, WEIR_EINVALID; the caller then calls abort. */
int dispatcher_change_prepare(struct dispatcher_change *change,
                              const struct transition *transition);

/* Cannot fail, never waits. */
void dispatcher_change_commit(struct dispatcher_change *change);

/* Restores the dispatchers; waits up to `timeout_ms` for actors on new ones to end. */
void dispatcher_change_abort(struct dispatcher_change *change, struct assembly *assembly,
                             uint64_t timeout_ms);

/*
 * Sets the threads of dispatchers with `threads: auto` for `effective_cpus`, and logs each change.
 * A dispatcher whose threads cannot start keeps those that it has, and the log says so. Returns how
 * many were changed.
 */
uint32_t dispatcher_change_follow(struct assembly *assembly, uint32_t effective_cpus);

/*
 * Retires dispatchers that the settings in force do not name, once no actor runs on them. Waits up
 * to `timeout_ms` for that, but not while the host ends. A dispatcher still in use is retired by a
 * later call.
 */
void dispatcher_change_collect(struct assembly *assembly, uint64_t timeout_ms);

/* True when such a dispatcher is still in use. */
bool dispatcher_change_has_unwanted(const struct assembly *assembly);

#endif
