/* SPDX-License-Identifier: MIT */
/*
 * actor/runtime.h - the state that all actors share: dispatchers, slots, names, events and requests
 * from outside.
 *
 * core/runtime.h creates and destroys it, together with the layers above actors.
 *
 * Outside threads work through a `struct executor *` that they get with runtime_enter and give back
 * with runtime_leave; between the two they are inside a read section: do not wait there. Calls on
 * pools and sources take the executor of the outside thread or, inside a turn, that of the turn.
 */
#ifndef ACTOR_RUNTIME_H
#define ACTOR_RUNTIME_H

#include "actor/descriptors.h"
#include "actor/event.h"
#include "actor/given_up.h"
#include "actor/names.h"
#include "actor/slots.h"
#include "actor/storing.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"
#include "dispatch/dispatcher.h"
#include "dispatch/polls.h"
#include "face/runtime.h"
#include "message/tag.h"

struct external_requests;
struct place;

/* All groups of a runtime; see group.h. */
struct groups {
    struct lock lock;
    struct list all;          /* lock */
    _Atomic uint64_t cancels; /* groups cancelled so far */
};

struct runtime {
    struct runtime_options options; /* const */
    const struct weir_host *host;   /* const: the table of calls for behaviours */
    /* const: the turn of every actor: turn.h */
    enum turn (*turn)(struct schedulable *schedulable, struct executor *executor);
    const struct weir_tag *task_tag;             /* const: see task.h */
    struct external_requests *external_requests; /* const: requests of threads from outside */
    struct memory *memory;                       /* const: counted; blobs may outlive the runtime */
    struct timekeeper *timekeeper;               /* const */
    struct reclaim reclaim;
    struct slots slots;
    struct names names;
    struct events events;
    struct tag_table tags;
    /* Its count is read for each request and each reply. */
    alignas(64) struct given_up given_up;
    alignas(64) struct groups groups;
    struct storing storing; /* messages whose dead letters are being stored */
    struct polls polls;
    struct descriptors descriptors;

    /* Written seldom, read by all threads, also for each message or actor. */

    /* Changed by one thread at a time: at the start, then by reloads. A retired dispatcher stays in
     * the table, without a name and threads, until another one is added. */
    alignas(64) struct dispatcher *dispatchers[RUNTIME_DISPATCHERS_MAX];
    _Atomic uint32_t dispatcher_count; /* written by the adding thread, read by all */
    bool started;
    _Atomic bool ending;              /* from runtime_stop on */
    _Atomic int exit_status;          /* the largest that an actor requested */
    _Atomic bool escalated;           /* see runtime_escalate */
    _Atomic uint64_t kept_warning_ns; /* the log names messages kept longer: kept.h; 0 = never */
    _Atomic uint64_t edges;           /* of lifecycle.h, taken so far: for tests */
    _Atomic uint32_t source_numbers;  /* for the order of their locks */
    _Atomic uint32_t pool_numbers;    /* for the executors' round-robin positions */
    _Atomic uint32_t
        idle_waits; /* threads in runtime_wait_idle: workers that fall asleep give notice */
    /* Executors of outside threads, in use or not. */
    _Atomic uint32_t entry_count;               /* written under entry_lock */
    struct entry *entries[RECLAIM_READERS_MAX]; /* const, each, once it is counted */
    struct lock entry_lock;

    /* Written by any thread. */

    alignas(64) _Atomic uint32_t holds; /* threads in calls of ports that wait */

    alignas(64) _Atomic uint64_t late_replies;
    _Atomic uint64_t leases_begun; /* the number in the last token: actor/leases.h */
    _Atomic uint64_t late_notices; /* to origins that have ended */
    _Atomic uint32_t opens_apart;  /* opens in progress on openers: see place.h */

    alignas(64) struct lock notice_lock;
    pthread_cond_t notice; /* something changed that a thread may wait for */
    uint64_t notice_count; /* notice_lock */
};

/* As runtime_enter without a read section: for the executor's cache. The thread must not look up
 * actors, pools or names. */
struct executor *runtime_borrow(struct runtime *runtime);
void runtime_give_back(struct executor *executor);

/* For a thread that waits through a port: the runtime is not freed before the release. The waits
 * end when the runtime does. */
void runtime_hold(struct runtime *runtime);
void runtime_release(struct runtime *runtime);
/* True from runtime_stop on. */
static inline bool runtime_is_ending(struct runtime *runtime)
{
    /* Relaxed: runtime_stop wakes the waiting threads until they have left. */
    return atomic_load_explicit(&runtime->ending, memory_order_relaxed);
}

/* The exit status that actors requested. */
int runtime_exit_status(struct runtime *runtime);
/* Raises the exit status to at least `wanted`. Any thread. */
void runtime_raise_exit_status(struct runtime *runtime, int wanted);

/* A member of a pool with `then: escalate` has failed too often, and so have all pools above: the
 * program should end, and report it. Any thread. */
void runtime_escalate(struct runtime *runtime);
bool runtime_has_escalated(struct runtime *runtime);

/* --- for core/runtime.c ---------------------------------------------------------------------- */

/* Initialises the entries of outside threads, and notices. */
void runtime_init_entries(struct runtime *runtime);
/* True when an outside thread has entered, or waits through a port. */
bool runtime_is_entered(struct runtime *runtime);
/* Frees them; no outside thread is inside. */
void runtime_finish_entries(struct runtime *runtime);

#endif
