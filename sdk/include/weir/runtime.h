/*
 * weir/runtime.h - libweir: pools and mailboxes inside a program, without the host.
 *
 * For programs that link libweir; a plugin does not include this. Behaviours are the structs that a
 * plugin exports (weir/plugin.h), and their callbacks have the same host table.
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
 * Nothing is global: a program may have several runtimes. Each has the threads that the options and
 * weir_runtime_add_dispatcher ask for, and one more that keeps the time. The library installs no
 * signal handler, writes no output and never exits; text for people goes to the `log` callback.
 *
 * Every function may be called from any thread, also inside a callback of a behaviour, unless its
 * comment says that it waits. A function that waits answers WEIR_EDEADLK at once on a thread of
 * this runtime's dispatchers, because it could block the work that it waits for. On a thread of
 * another runtime it waits: that callback blocks, so its behaviour needs the flag WEIR_BLOCKING.
 * Time-outs are in milliseconds and never end early; WEIR_FOR_EVER means no time-out.
 *
 * Ownership as in weir/message.h: *takes* when the answer is 0, *borrows*, *returns owned*.
 */
#ifndef WEIR_RUNTIME_H
#define WEIR_RUNTIME_H

#include "choices.h"
#include "plugin.h"

#define WEIR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* A runtime: dispatchers, actors, pools and names. */
struct weir_runtime;

/*
 * The program's event loop, which waits for descriptors that behaviours watch (weir/watch.h). Its
 * functions are called from any thread, also at the same time, and must not block. When a
 * descriptor is ready, the loop calls weir_runtime_ready: at most once for each `begin` that
 * returned 0, from a thread that runs no callback of a behaviour, and without a lock that `begin`
 * or `end` take. Append-only.
 */
struct weir_poller {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    void *context;
    /* Waits until the descriptor is ready for one of `events`, bits of enum weir_readiness.
     * weir_runtime_ready gets `token`, perhaps before this returns. WEIR_EINVALID,
     * WEIR_EUNSUPPORTED, WEIR_EEXISTS, WEIR_ENOMEM: it does not wait. */
    int (*begin)(void *context, int descriptor, uint32_t events, uint64_t token);
    /* Stops waiting. The descriptor may be closed already. weir_runtime_ready may have been
     * called with `token`, or be called while this runs. */
    void (*end)(void *context, int descriptor, uint64_t token);
};

/* For the options `log_level`: lines of this level and more important ones. */
#define WEIR_LOG_UP_TO(level) ((uint32_t)(level) + 1)

/* For weir_runtime_wait_open: as long as the option `open_timeout_ms` says. */
#define WEIR_OPEN_TIMEOUT (UINT64_MAX - 1)

/* Begin with WEIR_RUNTIME_OPTIONS. Append-only. */
struct weir_runtime_options {
    uint32_t size;    /* of this struct */
    uint32_t threads; /* of the dispatcher `default`, at least 1 */
    uint32_t budget;  /* messages in a turn; 0 = 32 */
    uint32_t reserved;
    /* Gets each log line, from any thread, also several at once. It must not block for long, and
     * must not call this library. `component` is a path or a part of the library. All arguments
     * are borrowed. NULL: lines are dropped. */
    void (*log)(void *context, enum weir_log_level level, const char *component, const char *event,
                const struct weir_field *fields);
    void *log_context;
    /* Gets the text of weir_print, in the same way. NULL: text is dropped. */
    void (*print)(void *context, const char *text, size_t size);
    void *print_context;
    /* Cap on the bytes of payload in all messages and blobs that behaviours make; 0 = none.
     * Above it behaviours get NULL; sources wait when less than a quarter is left. */
    uint64_t memory;
    /* For each pool, actor and source: the number of dead letters that are kept, and their bytes
     * of payload; 0 = 1000 and 16 MiB, UINT32_MAX and UINT64_MAX = none. All dead letters are
     * counted. */
    uint64_t dead_letters_bytes;
    uint32_t dead_letters;
    uint32_t reserved_2;
    const struct weir_poller *poller; /* for weir_watch; NULL: unsupported. Copied */
    uint64_t no_room_ms;              /* see weir_runtime_shutdown; 0 = 10 s */
    /* The least important lines that `log` gets: WEIR_LOG_UP_TO(WEIR_LOG_DEBUG) for all of them;
     * 0 = up to WEIR_LOG_INFO. A pool may have another level. */
    uint32_t log_level;
    uint32_t reserved_3;
};
#define WEIR_RUNTIME_OPTIONS                                                                       \
    {                                                                                              \
        sizeof(struct weir_runtime_options), 1, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, \
            0, 0                                                                                   \
    }

/* Target of output i: entry i of an array. */
struct weir_binding {
    weir_pid target;    /* a pool or an actor; 0 = unbound: emitted messages are counted and
                         * freed */
    uint32_t when_full; /* enum weir_when_full */
    uint32_t reserved;
};

/*
 * Begin with WEIR_POOL_OPTIONS, which has one worker. 0 and NULL mean the default of a YAML file.
 * Append-only.
 */
struct weir_pool_options {
    uint32_t size;                          /* of this struct */
    uint32_t behaviour_size;                /* of struct weir_behaviour */
    uint32_t binding_size;                  /* of struct weir_binding */
    uint32_t workers;                       /* at first */
    const char *path;                       /* its name; of a nested pool by custom
                                             * `images/small` */
    weir_pid parent;                        /* the pool it is a member of; 0 = none */
    const struct weir_behaviour *behaviour; /* of its workers; NULL: its members are pools */
    const void *settings;                   /* for `open`; borrowed until `release` */
    void (*release)(void *settings);        /* nobody uses the settings any more; may be NULL */
    const char *dispatcher;                 /* NULL = `default` */
    uint32_t limit;                         /* of each mailbox; 0 = 64, or WEIR_UNLIMITED or
                                             * WEIR_UNBUFFERED */
    uint32_t workers_min;                   /* bounds of a resize; both 0 = none */
    uint32_t workers_max;
    uint32_t route;             /* enum weir_route */
    uint32_t remove;            /* enum weir_remove */
    uint32_t redeliver;         /* how often a message is delivered again after its worker failed
                                 * with it */
    uint64_t remove_timeout_ms; /* time for a removed worker, or for all when the pool closes, to
                                 * finish; then its messages become dead letters. 0 = 30 s,
                                 * WEIR_FOR_EVER */
    const struct weir_binding *outputs; /* may be NULL; borrowed until return */
    uint32_t output_count;
    uint32_t restart_max;            /* failures within `restart_within_ms` after which a worker,
                                      * or a member that escalates, is replaced at once; 0 = 5 */
    uint64_t mailbox_bytes;          /* bytes of payload that may wait at each worker; 0 =
                                      * unlimited */
    uint64_t restart_within_ms;      /* 0 = 10 s */
    uint64_t restart_backoff_ms_min; /* pause after more failures, and after a failed `open`; it
                                      * doubles each time until the worker has run for
                                      * `restart_within_ms` without a failure. 0 = 100 ms */
    uint64_t restart_backoff_ms_max; /* 0 = 10 s */
    uint32_t restart_then;           /* enum weir_restart_then */
    uint32_t reserved;
    /* The manager, which gets the pool's urgent and high messages, on the dispatcher `default`;
     * NULL = the built-in manager (weir/pool.h). */
    const struct weir_behaviour *manager;
    const void *manager_settings;            /* for its `open`; borrowed until `manager_release` */
    void (*manager_release)(void *settings); /* may be NULL */
    const char *const *subscribe;            /* names of the events that the pool gets; borrowed
                                              * until return */
    uint32_t subscribe_count;
    uint32_t fan_out;   /* 1: each event goes to every member; 0: to one of them */
    uint32_t clamp;     /* 1: a resize past workers_min or workers_max goes to the nearest
                               * bound; 0: it is WEIR_EINVALID */
    uint32_t log_level; /* as in WEIR_RUNTIME_OPTIONS; 0 = as the pool above, or the runtime */
    uint64_t open_timeout_ms; /* for weir_runtime_wait_open with WEIR_OPEN_TIMEOUT: how long its
                               * workers may take to open; 0 = the usual 10 s */
};
#define WEIR_POOL_OPTIONS                                                                          \
    {                                                                                              \
        sizeof(struct weir_pool_options), sizeof(struct weir_behaviour),                           \
            sizeof(struct weir_binding), 1, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0,  \
            NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0                    \
    }

/* Begin with WEIR_ACTOR_OPTIONS; 0 and NULL as in WEIR_POOL_OPTIONS. Append-only. */
struct weir_actor_options {
    uint32_t size;           /* of this struct */
    uint32_t behaviour_size; /* of struct weir_behaviour */
    uint32_t binding_size;   /* of struct weir_binding */
    uint32_t limit;          /* of its mailbox; 0 = 64, or WEIR_UNLIMITED or
                                             * WEIR_UNBUFFERED */
    const char *name;        /* registered for look-ups */
    const struct weir_behaviour *behaviour;
    const void *settings;               /* for `open`; borrowed until `release` */
    void (*release)(void *settings);    /* nobody uses the settings any more; may be NULL */
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

/*
 * The state of all accepted messages, exact at the instant of reading: accepted = done + dead +
 * moved + queued + in_hand + held. Begin with WEIR_LEDGER.
 */
struct weir_ledger {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;  /* all reasons */
    uint64_t moved; /* accepted by another worker instead */
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held; /* waiting for a retry, for room behind an output, or in a stash */
};
#define WEIR_LEDGER                                                                                \
    {                                                                                              \
        sizeof(struct weir_ledger), 0, 0, 0, 0, 0, 0, 0, 0                                         \
    }

/* A dead letter that is kept: a message that could not be handled. */
struct weir_dead_letter {
    uint64_t number;            /* 1, 2, ... in order of time */
    const char *reason;         /* `crashed`, `rejected`, ...; static text */
    const struct weir_tag *tag; /* lives as long as the runtime; may be NULL */
    uint64_t payload_size;
    uint64_t age_ms;
    uint64_t key;
    weir_pid from;
    uint32_t attempt;
    uint32_t lane;      /* enum weir_lane */
    uint32_t whole;     /* 1: the payload is kept, so the letter can be replayed */
    uint32_t head_size; /* bytes in `head`, the start of the payload */
    unsigned char head[32];
    char detail[48]; /* the text of weir_reason; may be empty */
};

/* The result of weir_runtime_replay. Begin with WEIR_REPLAYED. */
struct weir_replayed {
    uint32_t size;     /* of this struct */
    uint32_t replayed; /* accepted again */
    uint32_t left;     /* stay dead */
    uint32_t unable;   /* of these, letters without a payload */
    int32_t status;    /* of the last refusal of the others; 0 = none */
    uint32_t reserved;
};
#define WEIR_REPLAYED                                                                              \
    {                                                                                              \
        sizeof(struct weir_replayed), 0, 0, 0, 0, 0                                                \
    }

/* Figures of a runtime. Begin with WEIR_RUNTIME_FIGURES. */
struct weir_runtime_figures {
    uint32_t size;           /* of this struct */
    uint32_t escalated;      /* 1: a pool with WEIR_RESTART_ESCALATE at the top has failed too
                              * often */
    uint64_t late_replies;   /* to requests that had ended */
    uint64_t late_notices;   /* results for origins that had ended */
    uint64_t memory_limit;   /* the option `memory`; 0 = none, and `memory` is not counted */
    uint64_t memory;         /* bytes of messages and blobs, and of what threads keep for new
                              * ones */
    uint64_t memory_refused; /* messages and blobs that were refused */
};
#define WEIR_RUNTIME_FIGURES                                                                       \
    {                                                                                              \
        sizeof(struct weir_runtime_figures), 0, 0, 0, 0, 0, 0                                      \
    }

/* --- life ------------------------------------------------------------------------------------- */

/*
 * Makes a runtime and starts its threads. Borrows the options. Returns owned. WEIR_EINVALID,
 * WEIR_ENOMEM (also: the threads could not be started).
 */
WEIR_API int weir_runtime_create(const struct weir_runtime_options *options,
                                 struct weir_runtime **out);

/*
 * Adds a dispatcher with threads of its own, for behaviours that block. Borrows the name.
 * WEIR_EEXISTS, WEIR_EINVALID, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_add_dispatcher(struct weir_runtime *runtime, const char *name,
                                         uint32_t threads, uint32_t budget);

/*
 * Ends everything gracefully. Sources end first, then each pool or actor after all that feed it, so
 * that every accepted message is handled; a cycle of outputs closes as one. When something has not
 * ended within `no_room_ms`, it may be waiting for room that never comes: then pools and actors
 * that cannot open, are paused or have no workers are closed early, and messages that wait for them
 * become dead letters, `no_target`. So with no time-out the call waits only for callbacks that do
 * not return. Waits. 0, or WEIR_ETIMEOUT: the log names what has not ended, and it goes on.
 * WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_shutdown(struct weir_runtime *runtime, uint64_t timeout_ms);

/*
 * Stops the threads when the callbacks that run now have returned, and frees everything, also
 * unhandled messages. Takes the runtime; NULL is allowed. No other thread may be inside a call or
 * own a message of the runtime. Not from a callback.
 */
WEIR_API void weir_runtime_destroy(struct weir_runtime *runtime);

/* Figures of the whole runtime. WEIR_EINVALID: out->size is too small. */
WEIR_API int weir_runtime_figures(struct weir_runtime *runtime, struct weir_runtime_figures *out);

/*
 * Called by the poller: the descriptor of `token` is ready for `readiness`, bits of enum
 * weir_readiness, or was closed (WEIR_EINVALID). Not from a callback. 0, also when the watch has
 * ended; WEIR_ENOMEM: call it again.
 */
WEIR_API int weir_runtime_ready(struct weir_runtime *runtime, uint64_t token, int readiness);

/* The largest status that a behaviour asked the program to exit with (weir_exit_status). */
WEIR_API int weir_runtime_exit_status(struct weir_runtime *runtime);

/* --- pools and actors ------------------------------------------------------------------------- */

/*
 * Makes a pool. Its workers open in their first turns; until then it answers WEIR_EFULL. Borrows
 * the options and copies the behaviour; the texts and tables of the behaviour are borrowed like the
 * settings. WEIR_EINVALID, WEIR_EEXISTS (the path), WEIR_EUNKNOWN (dispatcher or parent),
 * WEIR_ECLOSED (the parent), WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_add_pool(struct weir_runtime *runtime,
                                   const struct weir_pool_options *options, weir_pid *out_pool);

/*
 * Makes one actor without a pool, or, if the behaviour has `produce`, a source, which feeds output
 * 0. Until it is open it answers WEIR_EFULL. An actor that fails or stops ends; a source is opened
 * again. Otherwise as weir_runtime_add_pool.
 */
WEIR_API int weir_runtime_add_actor(struct weir_runtime *runtime,
                                    const struct weir_actor_options *options, weir_pid *out_actor);

/*
 * Binds the outputs of a pool's workers, of an actor or of a source, also outputs that are bound
 * already. So two pools can feed each other. Borrows. Messages that wait for room go to the new
 * target. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_bind(struct weir_runtime *runtime, weir_pid from,
                               const struct weir_binding *outputs, uint32_t output_count);

/*
 * Waits until all workers of a pool, also of nested ones, or an actor are open. 0; the status of a
 * failed `open` (the host tries again); WEIR_ETIMEOUT, WEIR_EUNKNOWN, WEIR_ECLOSED, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_wait_open(struct weir_runtime *runtime, weir_pid pid,
                                    uint64_t timeout_ms);

/* The PID of the pool with this path, or of the actor with this name. WEIR_EUNKNOWN. */
WEIR_API int weir_runtime_lookup(struct weir_runtime *runtime, const char *name, weir_pid *out_pid);

/*
 * Sets how many workers a pool has. The target is set on return; workers open and leave later.
 * `out` may be NULL. WEIR_EINVALID: outside the bounds, nothing changes; WEIR_ECLOSED,
 * WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_resize(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                                 struct weir_resized *out);

/* As weir_runtime_resize, to `count` more. WEIR_EINVALID also when `count` is negative. */
WEIR_API int weir_runtime_add_workers(struct weir_runtime *runtime, weir_pid pool, int32_t count,
                                      struct weir_resized *out);
/* As weir_runtime_resize, to `count` fewer. WEIR_EINVALID also when there are not so many. */
WEIR_API int weir_runtime_remove_workers(struct weir_runtime *runtime, weir_pid pool,
                                         uint32_t count, struct weir_resized *out);

/*
 * As weir_runtime_resize; waits until the new workers are open and the removed ones have ended.
 * With WEIR_ETIMEOUT, or the status of a failed `open`, the target is set all the same.
 */
WEIR_API int weir_runtime_resize_wait(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                                      uint64_t timeout_ms, struct weir_resized *out);

/*
 * Pauses a pool: after the return it refuses every message with WEIR_EFULL. Its workers go on with
 * the messages that they have. 0 also when the pool was paused already. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_pause(struct weir_runtime *runtime, weir_pid pool);
/* Ends the pause, and wakes senders that wait for room. */
WEIR_API int weir_runtime_resume(struct weir_runtime *runtime, weir_pid pool);

/* Called by weir_runtime_members, with the size of the struct in this program. */
WEIR_API int weir_runtime_members_sized(struct weir_runtime *runtime, weir_pid pool,
                                        struct weir_member *out, uint32_t member_size, uint32_t max,
                                        uint32_t *out_count);

/*
 * Lists a pool's members, also those that are leaving: fills up to `max` elements of `out`, which
 * may be NULL when `max` is 0. `out_count` is how many there are. WEIR_EUNKNOWN.
 */
static inline int weir_runtime_members(struct weir_runtime *runtime, weir_pid pool,
                                       struct weir_member *out, uint32_t max, uint32_t *out_count)
{
    return weir_runtime_members_sized(runtime, pool, out, sizeof *out, max, out_count);
}

/* Called by weir_runtime_dead_letters, with the size of the struct in this program. */
WEIR_API int weir_runtime_dead_letters_sized(struct weir_runtime *runtime, weir_pid pid,
                                             struct weir_dead_letter *out, uint32_t letter_size,
                                             uint32_t max, uint32_t *out_count);

/*
 * Reads the dead letters that a pool, an actor or a source keeps, oldest first: fills up to `max`
 * elements of `out`, which may be NULL when `max` is 0. `out_count` is the number that is kept. A
 * nested pool keeps its own dead letters. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
static inline int weir_runtime_dead_letters(struct weir_runtime *runtime, weir_pid pid,
                                            struct weir_dead_letter *out, uint32_t max,
                                            uint32_t *out_count)
{
    return weir_runtime_dead_letters_sized(runtime, pid, out, sizeof *out, max, out_count);
}

/*
 * Sends the dead letters of a pool, an actor or a source again to their targets, as new messages,
 * oldest first, each once. A refused letter stays in its place. `out` may be NULL. WEIR_EINVALID:
 * out->size is too small; WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_replay(struct weir_runtime *runtime, weir_pid pid,
                                 struct weir_replayed *out);

/* The figures of a pool, also after its end, until weir_runtime_close_wait forgets it. Set
 * out->size to sizeof *out first. WEIR_EINVALID: out->size is too small; WEIR_EUNKNOWN. */
WEIR_API int weir_runtime_pool_stats(struct weir_runtime *runtime, weir_pid pool,
                                     struct weir_pool_stats *out);

/*
 * The ledger of a pool, an actor or a source, or, with PID 0, the sum of everything that this
 * runtime ever had. WEIR_EINVALID: out->size is too small; WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_ledger(struct weir_runtime *runtime, weir_pid pid,
                                 struct weir_ledger *out);

/*
 * Asks a pool, an actor, a source or a worker for items by name; `items` ends with NULL, and
 * `items` = NULL asks for all. The functions of weir/inspect.h read the message in `out`, which the
 * caller owns; begin with WEIR_ANSWER. Waits; a worker answers after its message in hand.
 * WEIR_ETIMEOUT; WEIR_EUNKNOWN, WEIR_ETERMINATED: no such actor; WEIR_EINVALID: too many items, or
 * out->size is too small; WEIR_ENOMEM, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_inspect(struct weir_runtime *runtime, weir_pid pid,
                                  const char *const *items, uint64_t timeout_ms,
                                  struct weir_answer *out);

/*
 * Closes a pool, an actor or a source: it accepts no new messages, handles those that it has
 * accepted, and ends. Returns at once. WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_close(struct weir_runtime *runtime, weir_pid pid);

/*
 * Stops a pool, an actor or a source, also one that is closing: it accepts no new messages, and
 * ends after the messages in hand. Waiting and kept messages become dead letters, and their
 * requesters get an answer. `close` is called. Returns at once; weir_runtime_close_wait waits.
 * WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_stop_now(struct weir_runtime *runtime, weir_pid pid);

/*
 * As weir_runtime_close, but waits for the end, and then forgets the PID: its figures stay only in
 * the sum. A nested pool is forgotten with its parent. WEIR_ETIMEOUT: it has not ended yet; call
 * again. WEIR_EUNKNOWN, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_close_wait(struct weir_runtime *runtime, weir_pid pid,
                                     uint64_t timeout_ms);

/* --- messages --------------------------------------------------------------------------------- */

/* The tag of a name; equal names give the same tag. Lives as long as the runtime. NULL: no
 * memory. Borrows the name. */
WEIR_API const struct weir_tag *weir_runtime_tag(struct weir_runtime *runtime, const char *name);

/* A new message with `size` bytes of zeroed payload. Returns owned; NULL when memory is out. */
WEIR_API struct weir_message *weir_runtime_message_new(struct weir_runtime *runtime,
                                                       const struct weir_tag *tag, size_t size);

/* Takes a message that was not sent, or an answer. NULL is allowed. */
WEIR_API void weir_runtime_message_free(struct weir_runtime *runtime, struct weir_message *message);

/*
 * Sends a message; its `from` is 0. Takes it on 0; never waits. WEIR_EFULL: no eligible worker has
 * room, or none is open yet. WEIR_EUNKNOWN, WEIR_ETERMINATED: no such actor, or it has ended.
 * WEIR_ECLOSED: the receiver drains. WEIR_EINVALID: no key for a pool that routes by hash.
 * WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_send(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                               struct weir_message *message);

/*
 * As weir_runtime_send in the normal lane, but waits for room, in one queue with the workers whose
 * outputs lead there. The wait also ends when the receiver closes (WEIR_ECLOSED, or
 * WEIR_ETERMINATED if it has ended) and at the time-out (WEIR_ETIMEOUT); then the caller keeps the
 * message. WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_send_wait(struct weir_runtime *runtime, weir_pid to,
                                    struct weir_message *message, uint64_t timeout_ms);

/*
 * Sends a request, and returns at once. Takes the message on 0: then there is exactly one answer
 * for the reference, which weir_runtime_await fetches or weir_runtime_cancel cancels. A request
 * that cannot be sent is refused at once, with the statuses of weir_runtime_send: WEIR_EFULL when
 * the pool is full.
 */
WEIR_API int weir_runtime_request(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                                  struct weir_message *message, uint64_t timeout_ms,
                                  uint64_t *out_reference);

/*
 * Waits for the answer to a request until the time-out of the request, and closes the reference.
 * Returns 0 with the reply in `out`, or the reason why there is none: WEIR_ETIMEOUT,
 * WEIR_EREJECTED, WEIR_ECRASHED, WEIR_EREMOVED, WEIR_ETERMINATED, WEIR_ENOREPLY. `out` begins with
 * WEIR_ANSWER. The reference stays open with WEIR_EDEADLK, and with WEIR_EINVALID (out->size is too
 * small). WEIR_EUNKNOWN: no such reference, or another thread waits for it.
 */
WEIR_API int weir_runtime_await(struct weir_runtime *runtime, uint64_t reference,
                                struct weir_answer *out);

/* Cancels a request: its reply will be late. WEIR_EUNKNOWN: the reference is not open. */
WEIR_API int weir_runtime_cancel(struct weir_runtime *runtime, uint64_t reference);

/*
 * Request and answer in one call. Always takes the message: a refused one is freed. Returns the
 * statuses of weir_runtime_request and weir_runtime_await.
 */
static inline int weir_runtime_ask(struct weir_runtime *runtime, weir_pid to,
                                   struct weir_message *message, uint64_t timeout_ms,
                                   struct weir_answer *out)
{
    uint64_t reference;
    int status = weir_runtime_request(runtime, to, WEIR_NORMAL, message, timeout_ms, &reference);

    if (status != 0) {
        weir_runtime_message_free(runtime, message);
        return status;
    }
    status = weir_runtime_await(runtime, reference, out);
    if (status == WEIR_EDEADLK || status == WEIR_EINVALID)
        (void)weir_runtime_cancel(runtime, reference);
    return status;
}

#ifdef __cplusplus
}
#endif

#include "tasks.h"

#endif
