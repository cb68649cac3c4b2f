/*
 * apply/dispatcher_change.h - the dispatchers' part of a start or a reload, as a transaction.
 *
 * What can fail happens in prepare: new dispatchers, and new threads of present ones. The commit
 * lets threads go that are too many, and sets budgets. A dispatcher that the settings do not name
 * any more goes when its last actor has ended.
 *
 * Life: dispatcher_change_prepare, then commit or abort. One thread at a time: see assembly.h.
 */
#ifndef HOST_APPLY_DISPATCHER_CHANGE_H
#define HOST_APPLY_DISPATCHER_CHANGE_H

#include "host/run/assembly.h"

/* Why threads cannot start, for people: the system tells neither of the two apart. */
#define DISPATCHER_CHANGE_WANTING                                                                  \
    "no memory, or no more threads allowed (ulimit -u, TasksMax of systemd, pids.max)"

struct dispatcher_change {
    const struct settings *settings; /* borrowed until commit or abort */
    uint32_t count;                  /* of those that are prepared */
    struct {
        struct dispatcher *dispatcher;
        uint32_t before; /* threads; 0 = it is new */
    } parts[RUNTIME_DISPATCHERS_MAX];
};

/* Reports what cannot be: WEIR_ENOMEM, WEIR_EINVALID; then abort takes back the rest. */
int dispatcher_change_prepare(struct dispatcher_change *change, struct assembly *assembly,
                              const struct settings *settings, struct report *report);

/* Cannot fail, never waits. */
void dispatcher_change_commit(struct dispatcher_change *change);

/* The dispatchers are as they were before; waits up to `timeout_ms` for those who used new ones. */
void dispatcher_change_abort(struct dispatcher_change *change, struct assembly *assembly,
                             uint64_t timeout_ms);

/*
 * Dispatchers with `threads: auto` get what that means with `effective_cpus`; told in the log.
 * Those that have them already are left alone; what cannot start is told, and nothing is changed.
 * Returns how many were changed.
 */
uint32_t dispatcher_change_follow(struct assembly *assembly, uint32_t effective_cpus);

/*
 * Takes away dispatchers that the settings in force do not name, once nobody runs on them; waits
 * up to `timeout_ms` for that, but not while the host ends. Those in use stay for the next time.
 */
void dispatcher_change_collect(struct assembly *assembly, uint64_t timeout_ms);

#endif
