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
#include "base/log.h"

struct dispatcher;
struct executor;
struct runtime;

#define RUNTIME_DISPATCHERS_MAX 65
#define DISPATCHER_NAME_MAX 32 /* with the end of the text */

/*
 * Who waits for descriptors on behalf of the runtime, which has no I/O of its own.
 *
 *              | begin                    end
 *  begin, end  | any thread, at the same time; the poller synchronises
 *
 * The poller calls runtime_ready on a thread that is not in a turn, at most once for each begin
 * that answered 0, and never holds a lock meanwhile that begin or end take.
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
    void (*thread_start)(struct executor *executor); /* on each dispatcher thread, first; or NULL */
    void (*thread_end)(struct executor *executor);   /* and last; or NULL */
    uint64_t memory;                                 /* cap on bytes of messages; 0 = none */
    struct poller poller;        /* `begin` NULL: descriptors cannot be watched */
    void (*stir)(void *context); /* see runtime_rest; NULL when that is never called */
    void *stir_context;
};

/* WEIR_ENOMEM. Returns owned. */
int runtime_create(const struct runtime_options *options, struct runtime **out);

/* Starts the threads. WEIR_ENOMEM. */
int runtime_start(struct runtime *runtime);

/*
 * Stops the threads after their present turns and waits for them; what is queued stays queued.
 * Not on a dispatcher thread: WEIR_EDEADLK.
 */
int runtime_stop(struct runtime *runtime);

/* After stop: frees everything, also what was never handled. NULL is allowed. */
void runtime_destroy(struct runtime *runtime);

/*
 * An executor for the calling outside thread, in a read section. NULL when memory is out. No look
 * at the clock: executor_time does that when somebody needs the time. Takes no lock, unless there
 * are more threads in the runtime than ever before.
 */
struct executor *runtime_enter(struct runtime *runtime);
void runtime_leave(struct executor *executor);

/* Between enter and leave: leaves the read section to wait, and enters it again. */
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
 * closed. Any thread outside. WEIR_ENOMEM: nobody was told, ask again; what nobody waits for any
 * more is 0.
 */
int runtime_ready(struct runtime *runtime, uint64_t token, int readiness);

/*
 * Asks to be told, by options.stir, when a thread of a dispatcher wakes; once or more, on that
 * thread, before it does anything. True when all of them sleep, so that nothing moves until then;
 * false: one is awake, and it may not be told. Any one thread at a time.
 */
bool runtime_rest(struct runtime *runtime);

/* Where its log lines go. Borrowed while the runtime lives. */
const struct log_sink *runtime_log(const struct runtime *runtime);

/* Another cap on the bytes of messages; 0 = none. */
void runtime_set_memory(struct runtime *runtime, uint64_t limit);

/* A turn that lasts so long gets a spare thread, and the log names a message that is kept for
 * `kept_ns`; 0 = none, as at first. */
void runtime_set_turn_warning(struct runtime *runtime, uint64_t turn_ms, uint64_t kept_ns);

struct runtime_figures {
    uint64_t late_replies; /* replies to requests that were given up */
    uint64_t late_notices; /* to origins that have ended */
    uint64_t memory_limit; /* 0 = none, and nothing is counted */
    uint64_t memory;       /* of these, bytes that messages take */
    uint64_t memory_refused;
    uint32_t opens_apart; /* opens under way on an opener: see pool_options */
    int exit_status;      /* the largest that an actor asked the program to exit with */
    bool escalated;       /* a pool at the top that says `then: escalate` has failed too often */
};
void runtime_figures(struct runtime *runtime, struct runtime_figures *out);

/* --- dispatchers ---------------------------------------------------------------------------- */

/*
 * Adds a dispatcher of `threads` threads; budget 0 = the default. Before or after start; it is
 * started with the runtime, or at once. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS.
 */
int runtime_add_dispatcher(struct runtime *runtime, const char *name, uint32_t threads,
                           uint32_t budget, struct dispatcher **out);
/*
 * Takes a dispatcher away again: its threads leave. False, and nothing happens, while actors run
 * on it. Nobody makes any there meanwhile.
 */
bool runtime_retire_dispatcher(struct dispatcher *dispatcher);
/* NULL: no such dispatcher. */
struct dispatcher *runtime_find_dispatcher(struct runtime *runtime, const char *name);

struct dispatcher_figures {
    char name[DISPATCHER_NAME_MAX]; /* "?" while somebody changes it */
    uint32_t threads;               /* spares included */
    uint32_t budget;
    uint32_t stuck;  /* threads in a turn that takes too long */
    uint32_t spares; /* threads in their place */
};
/* Of the dispatcher of this number, from 0 on; false: there are not so many. Any thread. */
bool runtime_look_at_dispatcher(struct runtime *runtime, uint32_t number,
                                struct dispatcher_figures *out);

/* The same of one that is known. */
void dispatcher_look(struct dispatcher *dispatcher, struct dispatcher_figures *out);

/*
 * Sets the number of threads, 0..1024; with 0 it sleeps until it gets some. Surplus threads leave
 * after their present turns; the others run their queued work. WEIR_EINVALID; WEIR_ENOMEM: nothing
 * changed. A smaller number cannot fail. Not on one of its threads.
 */
int dispatcher_resize(struct dispatcher *dispatcher, uint32_t threads);

/* Messages a turn; 0 = the default. Counts from some turn on. */
void dispatcher_set_budget(struct dispatcher *dispatcher, uint32_t budget);

/* The number of actors that run here; never too low unless other threads than its own make some
 * meanwhile. */
uint64_t dispatcher_users(const struct dispatcher *dispatcher);

/* Joins threads that have left, to free their resources. Not on one of its threads. */
void dispatcher_reap(struct dispatcher *dispatcher);
/* The same of all dispatchers; while none is added. */
void runtime_reap(struct runtime *runtime);

#endif
