/*
 * actor/runtime.h - what actors live in: dispatchers, slots, names, events, and what is asked for.
 *
 * Made and ended by core/runtime.h, which knows what stands above actors, too.
 *
 * Outside threads work through a `struct executor *` that they get with runtime_enter and give back
 * with runtime_leave; between the two they are inside a read section: do not wait there. Calls on
 * pools and sources say which executor they want: the outside thread's, or, inside a turn, the
 * one of the turn.
 */
#ifndef ACTOR_RUNTIME_H
#define ACTOR_RUNTIME_H

#include "actor/events.h"
#include "actor/given_up.h"
#include "actor/names.h"
#include "actor/slots.h"
#include "base/clock.h"
#include "base/log.h"
#include "dispatch/dispatcher.h"
#include "dispatch/poller.h"
#include "dispatch/polls.h"
#include "message/tag.h"

#define RUNTIME_DISPATCHERS_MAX 65

struct askings;
struct place;

struct runtime_options {
    struct clock clock;
    struct log_sink log; /* see base/log.h */
    /* Whole text to standard output, from any thread; whether whoever prints shall wait before it
     * is given more to do. May be NULL, both or the second. */
    void (*print)(void *context, const char *text, size_t size);
    bool (*print_is_full)(void *context);
    void *print_context;
    void (*thread_start)(struct executor *executor); /* on each dispatcher thread, first; or NULL */
    void (*thread_end)(struct executor *executor);   /* and last; or NULL */
    uint64_t memory;                                 /* cap on bytes of messages; 0 = none */
    struct poller poller;        /* `begin` NULL: descriptors cannot be watched */
    void (*stir)(void *context); /* see runtime_rest; NULL when that is never called */
    void *stir_context;
};

struct runtime {
    struct runtime_options options; /* const */
    const struct weir_host *host;   /* const: what behaviours call */
    struct reclaim reclaim;
    struct slots slots;
    struct names names;
    struct events events;
    struct tag_table tags;
    struct askings *askings; /* const: requests of threads from outside */
    struct given_up given_up;
    struct memory *memory; /* const: counted; blobs may outlive us */
    struct polls polls;
    /* Changed by one thread at a time: who builds, then who reloads. One that is retired stays in
     * the table, without a name and threads, until another is added. */
    struct timekeeper *timekeeper;    /* const */
    _Atomic uint64_t kept_warning_ns; /* the log names a message kept longer: kept.h; 0 = none */
    struct dispatcher *dispatchers[RUNTIME_DISPATCHERS_MAX];
    _Atomic uint32_t dispatcher_count; /* written by who adds, read by all */
    bool started;
    _Atomic int exit_status; /* the largest that an actor asked for */
    _Atomic bool escalated;  /* see runtime_escalate */
    _Atomic uint64_t late_replies;
    _Atomic uint64_t late_notices; /* to origins that have ended */
    _Atomic uint32_t opens_apart;  /* under way on an opener: see place.h */
    _Atomic uint64_t edges;        /* of lifecycle.h, that have been taken: for tests */
    _Atomic uint32_t pool_numbers; /* for the executors' round-robin positions */

    pthread_mutex_t entry_lock;
    struct entry *entries; /* entry_lock: executors of outside threads, in use or not */

    pthread_mutex_t notice_lock;
    pthread_cond_t notice; /* something changed that somebody may wait for */
    uint64_t notice_count; /* notice_lock */
};

/* An executor for the calling outside thread, in a read section. NULL when memory is out. */
struct executor *runtime_enter(struct runtime *runtime);
void runtime_leave(struct executor *executor);

/* Between enter and leave: out of the read section for a while, to wait; and in again. */
void runtime_pause(struct executor *executor);
void runtime_resume(struct executor *executor);

/* True on a thread of one of its dispatchers, where nobody may wait for the runtime. */
bool runtime_is_own_thread(struct runtime *runtime);

/* Wakes those in runtime_wait. Any thread; cheap when nobody waits. */
void runtime_notice(struct runtime *runtime);

/*
 * Waits until `done(context)` is true, looking again at every notice; false after `timeout_ms`
 * (real time). Not inside a read section.
 */
bool runtime_wait(struct runtime *runtime, bool (*done)(void *context), void *context,
                  uint64_t timeout_ms);

/* What actors asked the program to exit with. */
int runtime_exit_status(struct runtime *runtime);
/* It is at least `wanted` from now on. Any thread. */
void runtime_raise_exit_status(struct runtime *runtime, int wanted);

/* Something has failed too often in a pool that says `then: escalate`, and so do all above it: the
 * program shall end, and say so. Any thread. */
void runtime_escalate(struct runtime *runtime);
bool runtime_has_escalated(struct runtime *runtime);

/* --- for core/runtime.c ---------------------------------------------------------------------- */

/* Entries of outside threads, and the notices. */
void runtime_init_entries(struct runtime *runtime);
/* Whether an outside thread has entered. */
bool runtime_is_entered(struct runtime *runtime);
/* Nobody has. */
void runtime_finish_entries(struct runtime *runtime);

#endif
