/* SPDX-License-Identifier: MIT */
/*
 * face/runtime.h - the runtime, its dispatchers, and how threads outside work in it.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_RUNTIME_H
#define FACE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/dispatcher_policy.h"
#include "base/log.h"
#include "face/dead_store.h"

struct dispatcher;
struct executor;
struct runtime;

#define RUNTIME_DISPATCHERS_MAX 65
#define DISPATCHER_NAME_MAX 32 /* with the end of the text */

/*
 * A poller waits until descriptors are ready. The host or the program provides it, since the
 * runtime has no I/O of its own.
 *
 *              | begin                    end
 *  begin, end  | any thread, at the same time; the poller synchronises
 *
 * The poller calls runtime_ready on a thread that is not in a turn, at most once for each begin
 * that answered 0, and without holding a lock that begin or end take.
 */
struct poller {
    void *context;
    /*
     * Waits until `descriptor` is ready for one of `events`, bits of enum weir_readiness. Never
     * blocks. Passes `token` to runtime_ready, maybe before this returns. WEIR_EINVALID,
     * WEIR_EUNSUPPORTED, WEIR_EEXISTS, WEIR_ENOMEM: it does not wait.
     */
    int (*begin)(void *context, int descriptor, uint32_t events, uint64_t token);
    /*
     * Ends the wait; the descriptor may be closed after its return, and may be closed already. Does
     * nothing when `token` was reported; the report may be under way. Never blocks.
     */
    void (*end)(void *context, int descriptor, uint64_t token);
};

struct runtime_options {
    struct clock clock;
    struct log_sink log; /* see base/log.h */
    /* Writes a whole text to standard output, from any thread; true while printing actors should
     * wait. May be NULL, both or the second. */
    void (*print)(void *context, const char *text, size_t size);
    bool (*print_is_full)(void *context);
    void *print_context;
    struct dead_store dead_store; /* `append` NULL: dead letters are in memory only */
    void (*thread_start)(struct executor *executor); /* on each dispatcher thread, first; or NULL */
    void (*thread_end)(struct executor *executor);   /* and last; or NULL */
    uint64_t memory;                                 /* cap on bytes of messages; 0 = none */
    bool keeps_identities;       /* weir_set_identity has an effect: see callback_note */
    uint32_t descriptors;        /* for shares of actors; 0 = any number */
    struct poller poller;        /* `begin` NULL: descriptors cannot be watched */
    void (*stir)(void *context); /* see runtime_rest; NULL when that is never called */
    void *stir_context;
    /* More threads of a dispatcher than before are in a turn that takes too long, see
     * runtime_set_turn_warning. On a thread of the runtime's own; NULL: not needed. Not with
     * dispatchers that are retired. */
    void (*stuck)(void *context, const char *dispatcher, uint32_t threads);
    void *stuck_context;
};

/* Registers the process for memory barriers. Optional: runtime_create does it, too. While the
 * process has one thread it takes no time; later the kernel takes about 10 ms. */
void runtime_prepare_process(void);

/* WEIR_ENOMEM. Returns owned. */
int runtime_create(const struct runtime_options *options, struct runtime **out);

/* Starts the threads. WEIR_ENOMEM. */
int runtime_start(struct runtime *runtime);

/*
 * Stops the threads after their present turns and waits for them; queued messages stay queued.
 * Not on a dispatcher thread: WEIR_EDEADLK.
 */
int runtime_stop(struct runtime *runtime);

/* After stop: frees everything, also unhandled messages. NULL is allowed. */
void runtime_destroy(struct runtime *runtime);

/*
 * An executor for the calling outside thread, in a read section. NULL when memory is out. Does not
 * read the clock: executor_time does when a caller needs the time. Takes a lock only when more
 * threads are in the runtime than ever before.
 */
struct executor *runtime_enter(struct runtime *runtime);
void runtime_leave(struct executor *executor);

/* Called between enter and leave: runtime_pause leaves the read section so that the thread may
 * wait, runtime_resume enters it again. */
void runtime_pause(struct executor *executor);
void runtime_resume(struct executor *executor);

/* True on a thread of one of its dispatchers, which must not wait for the runtime. */
bool runtime_is_own_thread(struct runtime *runtime);

/* Wakes the threads in runtime_wait. Any thread; cheap when there are none. */
void runtime_notice(struct runtime *runtime);

/*
 * Waits until `done(context)` is true, looking again at every notice; false after `timeout_ms`
 * (real time). Not inside a read section.
 */
bool runtime_wait(struct runtime *runtime, bool (*done)(void *context), void *context,
                  uint64_t timeout_ms);

/*
 * From the poller: the descriptor of `token` is ready for `readiness`, or WEIR_EINVALID it was
 * closed. Any thread outside. WEIR_ENOMEM: the watching actor was not notified; call again. 0 also
 * when no actor watches the descriptor any more.
 */
int runtime_ready(struct runtime *runtime, uint64_t token, int readiness);

/*
 * Requests a call of options.stir when a thread of a dispatcher wakes: once or more, on that
 * thread, before it does anything. True: all threads of the dispatchers sleep, and no actor runs
 * before that call. False: a thread is awake, and the call may not come. One thread at a time, any.
 */
bool runtime_rest(struct runtime *runtime);

/* Where its log lines go. Borrowed while the runtime lives. */
const struct log_sink *runtime_log(const struct runtime *runtime);

/* Sets the cap on the bytes of messages; 0 = none. */
void runtime_set_memory(struct runtime *runtime, uint64_t limit);

/* A turn of `turn_ms` or more gets a spare thread, and the log reports a message that a worker
 * keeps for `kept_ns`. 0 = off, as at first. */
void runtime_set_turn_warning(struct runtime *runtime, uint64_t turn_ms, uint64_t kept_ns);

struct runtime_figures {
    uint64_t late_replies; /* replies to requests that were given up */
    uint64_t late_notices; /* to origins that have ended */
    uint64_t memory_limit; /* 0 = none, and nothing is counted */
    uint64_t memory;       /* of these, bytes that messages take */
    uint64_t memory_refused;
    uint32_t descriptors; /* that actors have asked for, and have: weir_set_descriptors */
    uint32_t opens_apart; /* opens under way on an opener: see pool_options */
    int exit_status;      /* the largest that an actor asked the program to exit with */
    bool escalated;       /* a pool at the top that says `then: escalate` has failed too often */
};
void runtime_figures(struct runtime *runtime, struct runtime_figures *out);

/* --- dispatchers ---------------------------------------------------------------------------- */

/*
 * Adds a dispatcher of `threads` threads; policy NULL = the usual one. Before or after start; it is
 * started with the runtime, or at once. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS.
 */
int runtime_add_dispatcher(struct runtime *runtime, const char *name, uint32_t threads,
                           const struct dispatcher_policy *policy, struct dispatcher **out);
/*
 * Retires a dispatcher: its threads end. False, and nothing has changed, while actors belong to it.
 * No caller creates actors there during the call.
 */
bool runtime_retire_dispatcher(struct dispatcher *dispatcher);
/* NULL: no such dispatcher. */
struct dispatcher *runtime_find_dispatcher(struct runtime *runtime, const char *name);

struct dispatcher_figures {
    char name[DISPATCHER_NAME_MAX]; /* "?" while it is being changed */
    uint32_t threads;               /* spares included */
    struct dispatcher_policy policy;
    uint32_t stuck;  /* threads in a turn that takes too long */
    uint32_t spares; /* threads that stand in for the stuck ones */
    uint64_t turns;  /* of actors, since the start */
};
/* Reads the figures of the dispatcher of this number, counted from 0. False: there are not so many.
 * Any thread. */
bool runtime_look_at_dispatcher(struct runtime *runtime, uint32_t number,
                                struct dispatcher_figures *out);

/* Reads the figures of one dispatcher. */
void dispatcher_look(struct dispatcher *dispatcher, struct dispatcher_figures *out);

/*
 * Sets the number of threads, 0..1024; with 0 it sleeps until it gets some. Surplus threads leave
 * after their present turns; the others run their queued work. WEIR_EINVALID; WEIR_ENOMEM: nothing
 * changed. A smaller number cannot fail. Not on one of its threads.
 */
int dispatcher_resize(struct dispatcher *dispatcher, uint32_t threads);

/* NULL = the usual one. In effect from one of the next turns on. */
void dispatcher_set_policy(struct dispatcher *dispatcher, const struct dispatcher_policy *policy);
/* The policy in effect, with the default in place of each zero. */
struct dispatcher_policy dispatcher_policy_of(const struct dispatcher *dispatcher);

/* The number of actors that belong to this dispatcher. It may be too low only while other threads
 * than its own create some. */
uint64_t dispatcher_users(const struct dispatcher *dispatcher);

/* Joins threads that have left, to free their resources. Not on one of its threads. */
void dispatcher_reap(struct dispatcher *dispatcher);
/* Does the same for all dispatchers. No dispatcher is added during the call. */
void runtime_reap(struct runtime *runtime);

#endif
