/* SPDX-License-Identifier: MIT */
/*
 * weir/runtime.h - libweir: pools and mailboxes inside a program, without the host.
 *
 * For programs that link libweir; a plugin does not include this header. Behaviours are the structs
 * that a plugin exports (weir/plugin.h), and their callbacks make the same calls.
 *
 *     struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
 *     struct weir_pool_options pool = WEIR_POOL_OPTIONS;
 *
 *     options.threads = 4;
 *     weir_runtime_create(&options, &runtime);
 *     pool.path = "work";
 *     pool.behaviour = &behaviour;
 *     pool.workers = 8;
 *     pool.limit = 16;
 *     weir_runtime_add_pool(runtime, &pool, &pid);
 *     ... weir_runtime_send_wait(runtime, pid, message, timeout_ms) ...
 *     weir_runtime_shutdown(runtime, timeout_ms);
 *     weir_runtime_destroy(runtime);
 *
 * The library has no global state: a program may have several runtimes. Each runtime has the
 * threads that the options and weir_runtime_add_dispatcher ask for, and one more for timers. While
 * callbacks block in all threads of a dispatcher for blocking work (a budget of 1, or a behaviour
 * with the flag WEIR_BLOCKING), it has an extra thread for each pool that finds no other one. The
 * library installs no signal handler, writes no output and never exits; text for people goes to the
 * `log` callback.
 *
 * Any thread may call every function, also inside a callback of a behaviour, unless the function's
 * comment says that it waits. A function that waits returns WEIR_EDEADLK at once on a thread of
 * this runtime's dispatchers, because it could block the work that it waits for. On a thread of
 * another runtime it waits: that callback blocks, so its behaviour needs the flag WEIR_BLOCKING.
 * Time-outs are in milliseconds and never end early; WEIR_FOR_EVER means no time-out. No function
 * may be called in a signal handler, nor in the child of a fork. A pointer may be NULL only if the
 * comment of its function or field says so.
 *
 * WEIR_EINVALID for a struct of options, and WEIR_EUNKNOWN for a dispatcher or parent in it, have a
 * line in the log, of the level of an error: `option is not valid`, with `option` and `reason`.
 * Fields called `reserved` must be 0.
 *
 * Ownership words as in weir/host.h: *takes* (on 0), *borrows*, *returns owned*. To extend a
 * struct, new fields are added at its end ("append-only"); `size` is the size of the struct in the
 * program.
 */
#ifndef WEIR_RUNTIME_H
#define WEIR_RUNTIME_H

#include "choices.h"
#include "figures.h"
#include "leases.h"
#include "messages.h"
#include "plugin.h"
#include "tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The program's event loop, which waits for the descriptors that behaviours watch (weir/watch.h).
 * Any thread may call its functions, also several at the same time; they must not block. When a
 * descriptor is ready, the loop calls weir_runtime_ready: at most once for each `begin` that
 * returned 0, on a thread that runs no callback of a behaviour, and without holding a lock that
 * `begin` or `end` takes. Append-only.
 */
struct weir_poller {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    void *context;
    /*
     * Starts to wait until the descriptor is ready for one of `events`, bits of enum
     * weir_readiness. The loop passes `token` to weir_runtime_ready, perhaps before `begin`
     * returns. On WEIR_EINVALID, WEIR_EUNSUPPORTED, WEIR_EEXISTS or WEIR_ENOMEM the loop does not
     * wait.
     */
    int (*begin)(void *context, int descriptor, uint32_t events, uint64_t token);
    /* Stops waiting. The descriptor may be closed already. The loop may have called
     * weir_runtime_ready with `token` before, or may call it while `end` runs. */
    void (*end)(void *context, int descriptor, uint64_t token);
};

/* For the options `log_level`: lines of this level and of more important levels. */
#define WEIR_LOG_UP_TO(level) ((uint32_t)(level) + 1)

/* For the option `threads`, and the threads of weir_runtime_add_dispatcher: as many as the process
 * may use CPUs at the time of the call, and at least two. */
#define WEIR_THREADS_AUTO UINT32_MAX

/* A time-out for weir_runtime_wait_open: the option `open_timeout_ms` of the pool. */
#define WEIR_OPEN_TIMEOUT (UINT64_MAX - 1)

/* Options of a runtime. Initialise them with WEIR_RUNTIME_OPTIONS. Append-only. */
struct weir_runtime_options {
    uint32_t size;    /* of this struct */
    uint32_t threads; /* of the dispatcher `default`, at least 1, or WEIR_THREADS_AUTO */
    uint32_t budget;  /* messages in a turn; 0 = 32 */
    uint32_t reserved;
    /* Called for each log line, on any thread, also on several at once. The callback must not block
     * for long, and must not call this library. `component` is a path or a part of the library.
     * Borrows all arguments. NULL: the library drops the lines. */
    void (*log)(void *context, enum weir_log_level level, const char *component, const char *event,
                const struct weir_field *fields);
    void *log_context;
    /* Called with the text of weir_print, in the same way. NULL: the library drops the text. */
    void (*print)(void *context, const char *text, size_t size);
    void *print_context;
    /* Cap on the bytes of payload in all messages and blobs that behaviours make; 0 = no cap.
     * Beyond the cap a behaviour gets NULL; sources wait when less than a quarter is left. */
    uint64_t memory;
    /* Bounds for each pool, actor and source: bytes of payload and number of the dead letters that
     * are kept. 0 = 16 MiB and 1000; UINT64_MAX and UINT32_MAX = none are kept. All dead letters
     * are counted. */
    uint64_t dead_letters_bytes;
    uint32_t dead_letters;
    uint32_t reserved_2;
    const struct weir_poller *poller; /* for weir_watch; NULL: unsupported. Copied */
    uint64_t no_room_ms;              /* see weir_runtime_shutdown; 0 = 10 s */
    /* The least important level that `log` gets: WEIR_LOG_UP_TO(WEIR_LOG_DEBUG) for all lines; 0 =
     * up to WEIR_LOG_INFO. A pool may have a level of its own. */
    uint32_t log_level;
    uint32_t reserved_3;
    /* How long a callback may take. After that the log reports the dispatcher, and a spare thread
     * does the work of the callback's thread until the callback returns; not for behaviours with
     * the flag WEIR_BLOCKING. The log also reports a message that a worker keeps 30 times as long.
     * 0 = no limit, and no spare thread. */
    uint64_t turn_warning_ms;
};
#define WEIR_RUNTIME_OPTIONS                                                                       \
    {                                                                                              \
        sizeof(struct weir_runtime_options), 1, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, \
            0, 0, 0                                                                                \
    }

/* The target of output i: entry i of an array. */
struct weir_binding {
    weir_pid target;    /* a pool or an actor; 0 = unbound: the library counts and frees emitted
                         * messages */
    uint32_t when_full; /* enum weir_when_full */
    uint32_t reserved;
};

/*
 * Options of a pool. Initialise them with WEIR_POOL_OPTIONS, which has one worker. 0 and NULL mean
 * the default of a YAML file. Append-only.
 */
struct weir_pool_options {
    uint32_t size;                          /* of this struct */
    uint32_t behaviour_size;                /* of struct weir_behaviour */
    uint32_t binding_size;                  /* of struct weir_binding */
    uint32_t workers;                       /* the number of workers at the start */
    const char *path;                       /* its name; by convention `images/small` for a nested
                                             * pool */
    weir_pid parent;                        /* the PID of the pool that it is a member of; 0 =
                                             * none */
    const struct weir_behaviour *behaviour; /* the behaviour of its workers; NULL: its members are
                                             * pools */
    const void *settings;                   /* for `open`; borrowed until `release`. Must be there
                                             * if the behaviour has a settings_size */
    void (*release)(void *settings);        /* called after their last use; may be NULL */
    const char *dispatcher;                 /* NULL = `default` */
    uint32_t limit;                         /* of each mailbox, in messages; 0 = 64; or
                                             * WEIR_UNLIMITED, WEIR_UNBUFFERED */
    uint32_t workers_min;                   /* bounds of a resize, up to 65536; both 0 = none */
    uint32_t workers_max;
    uint32_t route;             /* enum weir_route */
    uint32_t remove;            /* enum weir_remove */
    uint32_t redeliver;         /* how often a message is delivered again after a worker has failed
                                 * while it handled the message */
    uint64_t remove_timeout_ms; /* the time in which a removed worker, or every worker when the pool
                                 * closes, may finish its messages; the rest then becomes dead
                                 * letters. 0 = 30 s, WEIR_FOR_EVER */
    const struct weir_binding *outputs; /* may be NULL; borrowed until return */
    uint32_t output_count;
    uint32_t restart_max;            /* the number of failures within `restart_within_ms` up to
                                      * which the pool opens a worker, or an escalating member,
                                      * again at once; 0 = 5 */
    uint64_t mailbox_bytes;          /* bytes of payload that may wait in the mailbox of each
                                      * worker; 0 = unlimited */
    uint64_t restart_within_ms;      /* 0 = 10 s */
    uint64_t restart_backoff_ms_min; /* back-off after more failures, and after a failed `open`. It
                                      * doubles each time until the worker has run for
                                      * `restart_within_ms` without a failure. 0 = 100 ms */
    uint64_t restart_backoff_ms_max; /* 0 = 10 s */
    uint32_t restart_then;           /* enum weir_restart_then */
    uint32_t reserved;
    /* The behaviour of the manager, which gets the pool's urgent and high messages and runs on the
     * dispatcher `default`; NULL = the built-in manager (weir/pool.h). */
    const struct weir_behaviour *manager;
    const void *manager_settings;            /* for its `open`; borrowed until `manager_release`;
                                              * as `settings` */
    void (*manager_release)(void *settings); /* may be NULL */
    const char *const *subscribe;            /* names of the events that the pool gets; borrowed
                                              * until return */
    uint32_t subscribe_count;
    uint32_t fan_out;   /* 1: each event goes to every member; 0: to one of them */
    uint32_t clamp;     /* 1: a resize past workers_min or workers_max goes to the nearest
                               * bound; 0: it is WEIR_EINVALID */
    uint32_t log_level; /* as in weir_runtime_options; 0 = the level of the pool above or of the
                         * runtime */
    uint64_t open_timeout_ms; /* the time-out of weir_runtime_wait_open with WEIR_OPEN_TIMEOUT; 0 =
                               * 10 s */
    /* enum weir_scale: the pool changes its number of workers by itself, between workers_min and
     * workers_max, which must differ; not with WEIR_ROUTE_BROADCAST. A resize by a call suspends
     * this until weir_runtime_scale_auto. */
    uint32_t scale;
    uint32_t reserved_2;
    uint64_t scale_wait_ms; /* WEIR_SCALE_BY_WAIT: it grows by half when a message has waited so
                             * long and no worker is idle; 0 = 50 ms */
    uint64_t scale_idle_ms; /* a worker that is unused for so long leaves; 0 = 30 s */
    /* 1: the pool gives its workers out one by one (weir/leases.h). It routes by WEIR_ROUTE_PULL;
     * `route` is that or 0. A pool of pools gives out any worker of its members, as its `route`
     * chooses: WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED or WEIR_ROUTE_RANDOM. Its members
     * are pools of workers and give leases, too; one with `lease` 0 has its parent's time-out. */
    uint32_t lease;
    /* Takers that may wait for a worker in use; 0 = none. A taker waits for a worker that starts or
     * comes back in any case. WEIR_POOL_OPTIONS has 50. */
    uint32_t lease_queue;
    uint64_t lease_timeout_ms; /* a lease that lasts longer is revoked; 0 = 30 s, WEIR_FOR_EVER */
    uint32_t min_ready;        /* workers that must be open for weir_runtime_wait_open to return 0,
                                * if there are so many; 0 = all; or WEIR_MIN_READY_NONE */
    uint32_t reserved_3;
    /* How messages are tried again whose worker returns WEIR_RETRY. Since 1.1. */
    uint32_t retry_max; /* retries of a message, up to 10000; after them it is a dead letter. 0 = 3;
                         * or WEIR_RETRY_NONE, WEIR_UNLIMITED */
    uint32_t reserved_4;
    uint64_t retry_backoff_ms_min; /* the least pause before a retry: it doubles from the first
                                    * value to the second, and each is drawn from its last quarter.
                                    * A longer delay that the worker set is used. Both 0 = none */
    uint64_t retry_backoff_ms_max; /* up to an hour */
    uint64_t retry_for_ms; /* no retry begins later after the first try, up to 7 days; of a message
                            * with an origin or under a lease the pauses count. Needs a back-off;
                            * 0 = no bound */
};
#define WEIR_POOL_OPTIONS                                                                          \
    {                                                                                              \
        sizeof(struct weir_pool_options), sizeof(struct weir_behaviour),                           \
            sizeof(struct weir_binding), 1, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0,  \
            NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    \
            50, 0, 0, 0, 0, 0, 0, 0, 0                                                             \
    }

/* Options of an actor or a source. Initialise them with WEIR_ACTOR_OPTIONS. 0 and NULL have the
 * meaning of WEIR_POOL_OPTIONS. Append-only. */
struct weir_actor_options {
    uint32_t size;           /* of this struct */
    uint32_t behaviour_size; /* of struct weir_behaviour */
    uint32_t binding_size;   /* of struct weir_binding */
    uint32_t limit;          /* of its mailbox; 0 = 64, or WEIR_UNLIMITED or
                              * WEIR_UNBUFFERED */
    const char *name;        /* registered, so that look-ups find it */
    const struct weir_behaviour *behaviour;
    const void *settings;               /* for `open`; borrowed until `release`. Must be there
                                         * if the behaviour has a settings_size */
    void (*release)(void *settings);    /* called after their last use; may be NULL */
    const char *dispatcher;             /* NULL = `default` */
    const struct weir_binding *outputs; /* may be NULL; borrowed until return */
    uint32_t output_count;
    uint32_t reserved;
};
#define WEIR_ACTOR_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(struct weir_actor_options), sizeof(struct weir_behaviour),                          \
            sizeof(struct weir_binding), 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0               \
    }

/* --- life ------------------------------------------------------------------------------------- */

/* The version of the library that is loaded, such as "0.1.0". A constant. */
WEIR_API const char *weir_runtime_version(void);

/*
 * Makes a runtime and starts its threads. Borrows the options. Returns owned. WEIR_EINVALID: an
 * option is not valid. WEIR_ENOMEM: memory is out, or a thread could not be started.
 */
WEIR_API int weir_runtime_create(const struct weir_runtime_options *options,
                                 struct weir_runtime **out);

/*
 * Adds a dispatcher with threads of its own, for behaviours that block. `threads` is a number or
 * WEIR_THREADS_AUTO. `budget` is the number of messages in a turn; 0 = 32. Borrows the name.
 * WEIR_EEXISTS: a dispatcher has this name. WEIR_EINVALID, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_add_dispatcher(struct weir_runtime *runtime, const char *name,
                                         uint32_t threads, uint32_t budget);

/*
 * Ends all sources, pools and actors in order. Sources end first. Each pool or actor ends after all
 * that feed it by their outputs, whose options of kind WEIR_POOL name it, or that have asked it by
 * its PID (a request, a lease, tasks), so that every accepted message is handled; the members of a
 * cycle of outputs close together. Waits.
 *
 * An actor that has not ended within `no_room_ms` may wait for room that never comes. The library
 * then closes early every pool and actor that cannot open, is paused or has no workers; messages
 * that wait for them become dead letters, `no_target`. So without a time-out the call waits only
 * for callbacks that do not return. WEIR_ETIMEOUT: the log names the actors that have not ended;
 * they continue to close. WEIR_ENOMEM, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_shutdown(struct weir_runtime *runtime, uint64_t timeout_ms);

/*
 * Stops the threads after the callbacks that run now have returned, and frees everything, also
 * unhandled messages. Takes the runtime; NULL is allowed. No other thread may be inside a call or
 * own a message of the runtime. On a thread of the runtime's dispatchers it does nothing but log an
 * error.
 */
WEIR_API void weir_runtime_destroy(struct weir_runtime *runtime);

/*
 * The poller calls this when the descriptor of `token` is ready for `readiness`, bits of enum
 * weir_readiness, or was closed (WEIR_EINVALID). Not from a callback. 0, also when the watch has
 * ended. WEIR_ENOMEM: call it again.
 */
WEIR_API int weir_runtime_ready(struct weir_runtime *runtime, uint64_t token, int readiness);

/* The largest status that a behaviour passed to weir_exit_status; 0 if none did. */
WEIR_API int weir_runtime_exit_status(struct weir_runtime *runtime);

/* --- pools and actors ------------------------------------------------------------------------- */

/*
 * Makes a pool. Its workers open in their first turns; until then the pool returns WEIR_EFULL to
 * senders. Borrows the options and copies the behaviour. The texts and tables of the behaviour are
 * borrowed as long as the settings. WEIR_EEXISTS: a pool has this path. WEIR_EUNKNOWN: no such
 * dispatcher or parent. WEIR_ECLOSED: the parent is closing, or the runtime was shut down.
 * WEIR_EINVALID: an option is not valid. WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_add_pool(struct weir_runtime *runtime,
                                   const struct weir_pool_options *options, weir_pid *out_pool);

/*
 * Makes one actor without a pool or, if the behaviour has `produce`, a source, which feeds output
 * 0. Until the actor is open, senders get WEIR_EFULL. An actor that fails or stops ends; the
 * library opens a source again. Errors as weir_runtime_add_pool.
 */
WEIR_API int weir_runtime_add_actor(struct weir_runtime *runtime,
                                    const struct weir_actor_options *options, weir_pid *out_actor);

/*
 * Binds the outputs of a pool's workers, of an actor or of a source, also outputs that are bound
 * already. So two pools can feed each other. Borrows the array. Messages that wait for room go to
 * the new target. WEIR_EINVALID: an entry is not valid. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_bind(struct weir_runtime *runtime, weir_pid from,
                               const struct weir_binding *outputs, uint32_t output_count);

/* How many messages may pass in the long run. */
struct weir_rate {
    uint32_t messages; /* in each `per_ms`, up to 1,000,000; 0 = no rate */
    uint32_t burst;  /* at once after a pause, up to 1,000,000; 0 = those of a tenth of a second */
    uint64_t per_ms; /* up to a day; 0 = 1 s */
};
/* Sets the rate of an output of a pool's workers together, of an actor or of a source; also while
 * messages wait. Borrows `rate`. weir_runtime_bind keeps the rates of the outputs that it binds.
 * WEIR_EINVALID: the last bind has no such output, or a field is out of its bounds. WEIR_EUNKNOWN,
 * WEIR_ENOMEM. */
WEIR_API int weir_runtime_set_rate(struct weir_runtime *runtime, weir_pid from, uint32_t output,
                                   const struct weir_rate *rate);

/*
 * Waits until all workers of a pool, including nested ones, or an actor or source are open; of a
 * pool with `min_ready`, so many. Returns 0 or, when too few can open, the status of a failed
 * `open`; the library tries again. WEIR_ECRASHED: too many workers have stopped since they opened.
 * WEIR_ECLOSED: the pool is closing. WEIR_ETIMEOUT, WEIR_EUNKNOWN, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_wait_open(struct weir_runtime *runtime, weir_pid pid,
                                    uint64_t timeout_ms);

/* The PID of the pool with this path, or of the actor with this name. WEIR_EUNKNOWN. */
WEIR_API int weir_runtime_lookup(struct weir_runtime *runtime, const char *name, weir_pid *out_pid);

/*
 * Sets the target number of workers of a pool. Returns at once; workers open and leave later. A
 * pool with `scale` stops scaling itself. `out` may be NULL. WEIR_EINVALID: `workers` is outside
 * the pool's bounds, and nothing changes; with `clamp` the nearest bound is used instead.
 * WEIR_ECLOSED: the pool is closing. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_resize(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                                 struct weir_resized *out);

/* As weir_runtime_resize: raises the target by `count`. WEIR_EINVALID also if `count` is
 * negative. */
WEIR_API int weir_runtime_add_workers(struct weir_runtime *runtime, weir_pid pool, int32_t count,
                                      struct weir_resized *out);
/* As weir_runtime_resize: lowers the target by `count`. A target below 0 is outside the bounds. */
WEIR_API int weir_runtime_remove_workers(struct weir_runtime *runtime, weir_pid pool,
                                         uint32_t count, struct weir_resized *out);

/*
 * As weir_runtime_resize, and waits until the new workers are open and the removed ones have ended.
 * It does not wait for workers that have stopped since they opened.
 * After WEIR_ETIMEOUT or the status of a failed `open` the new target stays set. WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_resize_wait(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                                      uint64_t timeout_ms, struct weir_resized *out);

/* Lets a pool scale itself again after a resize. 0 also when it does. WEIR_EINVALID: the pool has
 * no `scale`. WEIR_ECLOSED: the pool is closing. WEIR_EUNKNOWN, WEIR_ENOMEM. */
WEIR_API int weir_runtime_scale_auto(struct weir_runtime *runtime, weir_pid pool);

/*
 * Pauses a pool: from the return on, the pool refuses every message with WEIR_EFULL. Its workers
 * finish the messages that they have accepted. Or a source: it finds every pool full, and is not
 * asked to produce. 0 also when it is paused already. WEIR_EUNKNOWN: neither a pool nor a source.
 * WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_pause(struct weir_runtime *runtime, weir_pid pool);
/* Ends the pause and wakes senders that wait for room. 0 also when it is not paused.
 * WEIR_EUNKNOWN, WEIR_ENOMEM. */
WEIR_API int weir_runtime_resume(struct weir_runtime *runtime, weir_pid pool);

/* Called by weir_runtime_members, with the size of the struct in this program. */
WEIR_API int weir_runtime_members_sized(struct weir_runtime *runtime, weir_pid pool,
                                        struct weir_member *out, uint32_t member_size, uint32_t max,
                                        uint32_t *out_count);

/*
 * Lists a pool's members, including leaving ones. Fills up to `max` elements of `out`, which may be
 * NULL when `max` is 0. `out_count` is the number of all members, even if it is larger than `max`.
 * WEIR_EUNKNOWN.
 */
WEIR_INLINE int weir_runtime_members(struct weir_runtime *runtime, weir_pid pool,
                                     struct weir_member *out, uint32_t max, uint32_t *out_count)
{
    return weir_runtime_members_sized(runtime, pool, out, sizeof *out, max, out_count);
}

/*
 * Asks a pool, an actor, a source or a worker for items by name, and waits for the answer. `items`
 * ends with NULL; `items` = NULL asks for all items. A worker answers after its message in hand.
 * The functions of weir/inspect.h read the message in `out`, which the caller owns. Initialise
 * `out` with WEIR_ANSWER. WEIR_EUNKNOWN, WEIR_ETERMINATED: no such actor, or it has ended.
 * WEIR_EINVALID: too many items, or out->size is too small. WEIR_ETIMEOUT, WEIR_ENOMEM,
 * WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_inspect(struct weir_runtime *runtime, weir_pid pid,
                                  const char *const *items, uint64_t timeout_ms,
                                  struct weir_answer *out);

/*
 * Closes a pool, an actor or a source: the actor accepts no new messages, handles the accepted
 * ones, and ends. Returns at once. WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_close(struct weir_runtime *runtime, weir_pid pid);

/*
 * Stops a pool, an actor or a source, also one that is closing: the actor accepts no new messages,
 * and ends after the messages in hand. Waiting and kept messages become dead letters, and their
 * requesters get an answer. The library calls `close`. Returns at once; weir_runtime_close_wait
 * waits for the end. WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_stop_now(struct weir_runtime *runtime, weir_pid pid);

/*
 * As weir_runtime_close, and waits for the end and removes the PID; the figures stay only in the
 * sum. The library removes a nested pool with its parent. WEIR_ETIMEOUT: the actor has not ended
 * yet; call again. WEIR_EUNKNOWN, WEIR_EDEADLK. An actor does not end while its messages wait for
 * room in a pool that is paused or cannot open, so WEIR_FOR_EVER may wait for ever: give a
 * time-out, then call weir_runtime_stop_now.
 */
WEIR_API int weir_runtime_close_wait(struct weir_runtime *runtime, weir_pid pid,
                                     uint64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
