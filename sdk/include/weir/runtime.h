/*
 * weir/runtime.h - Weir inside a program: pools and mailboxes without the host, from libweir.
 *
 * For programs that link libweir; a plugin does not include this. A behaviour is the same struct
 * that a plugin exports (weir/plugin.h), and its callbacks see the same host table.
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
 * Threads: those that were asked for and no others. Nothing is global: several runtimes live side
 * by side. No signal handler, no output, no exit: words for people go to the `log` callback.
 *
 * Every function may be called from any thread, also inside a callback of a behaviour, unless it
 * says that it waits. One that waits answers WEIR_EDEADLK at once on a thread of this runtime's own
 * dispatchers, where the wait could hold up what it waits for. On another runtime's thread it
 * waits: that is a callback that blocks, which belongs to a behaviour flagged WEIR_BLOCKING.
 * Time-outs are in milliseconds, never early; UINT64_MAX is without end.
 *
 * Ownership as in weir/message.h: *takes* when the answer is 0, *borrows*, *returns owned*.
 */
#ifndef WEIR_RUNTIME_H
#define WEIR_RUNTIME_H

#include "plugin.h"

#define WEIR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* One running Weir: its dispatchers, actors, pools and names. */
struct weir_runtime;

/*
 * What waits for descriptors that behaviours watch (weir/watch.h): the program's own event loop. It
 * may be called from any thread, also several at once, must not block, and calls
 * weir_runtime_ready when a descriptor is ready, from a thread that is in no callback of a
 * behaviour, at most once for each `begin` that answered 0. It holds no lock meanwhile that `begin`
 * or `end` take. Append-only.
 */
struct weir_poller {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    void *context;
    /* Waits until the descriptor is ready for one of `events`, bits of enum weir_readiness. `token`
     * is told by weir_runtime_ready, maybe before this returns. WEIR_EINVALID, WEIR_EUNSUPPORTED,
     * WEIR_EEXISTS, WEIR_ENOMEM: it does not wait. */
    int (*begin)(void *context, int descriptor, uint32_t events, uint64_t token);
    /* Waits no more; the descriptor may be closed then, and may be closed already. It may have told
     * `token`, and may do so while this runs. */
    void (*end)(void *context, int descriptor, uint64_t token);
};

/* Begin with WEIR_RUNTIME_OPTIONS. Append-only. */
struct weir_runtime_options {
    uint32_t size;    /* of this struct */
    uint32_t threads; /* of the dispatcher `default`, at least 1 */
    uint32_t budget;  /* messages a turn; 0 = the usual 32 */
    uint32_t reserved;
    /* Every line for people, from any thread, also several at once; must not block for long, nor
     * call back. `component` is a path or a part. All borrowed until return. NULL: dropped. */
    void (*log)(void *context, enum weir_log_level level, const char *component, const char *event,
                const struct weir_field *fields);
    void *log_context;
    /* What behaviours write by weir_print; likewise. NULL: dropped. */
    void (*print)(void *context, const char *text, size_t size);
    void *print_context;
    /* Cap on the bytes of payload in all messages and blobs that behaviours make; 0 = none. Past it
     * they get NULL; sources wait when less than a quarter is left. */
    uint64_t memory;
    /* Of each pool, actor and source: letters kept, and their bytes of payload; 0 = the usual 1000
     * and 16 MiB, UINT32_MAX and UINT64_MAX = none. All are counted. */
    uint64_t dead_letters_bytes;
    uint32_t dead_letters;
    uint32_t reserved_2;
    const struct weir_poller *poller; /* for weir_watch; NULL: unsupported. Copied */
    uint64_t no_room_ms;              /* of a shutdown: see there; 0 = the usual 10 s */
};
#define WEIR_RUNTIME_OPTIONS                                                                       \
    {                                                                                              \
        sizeof(struct weir_runtime_options), 1, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0  \
    }

/* Which member of a pool gets a message. */
enum weir_route {
    WEIR_ROUTE_ROUND_ROBIN = 0,
    WEIR_ROUTE_LEAST_LOADED = 1,
    WEIR_ROUTE_RANDOM = 2, /* the less loaded of two */
    WEIR_ROUTE_HASH = 3,   /* by the message's key */
    WEIR_ROUTE_PULL = 4,   /* one queue of workers x limit; whoever is free takes. Not for pools of
                            * pools */
    WEIR_ROUTE_BROADCAST = 5, /* to every member, or to none; a request is WEIR_EINVALID */
};

/* What becomes of a worker that fails more often than its pool allows. */
enum weir_restart_then {
    WEIR_RESTART_USUAL = 0,    /* as in a file: keep trying; a pool of pools escalates */
    WEIR_RESTART_STOP = 1,     /* its place stays closed */
    WEIR_RESTART_ESCALATE = 2, /* likewise, and the pool above opens all workers of its member anew,
                                * or does what its own `restart_then` says; without one `escalated`
                                * says so: see weir_runtime_figures */
    WEIR_RESTART_KEEP_TRYING = 3, /* it is opened again, after the longest backoff */
};

/* What becomes of the mailbox of a worker that is removed. */
enum weir_remove {
    WEIR_REMOVE_DRAIN = 0, /* it finishes what it accepted */
    WEIR_REMOVE_REROUTE = 1,
    WEIR_REMOVE_DISCARD = 2, /* dead as `removed` */
};

/* What `emit` does when the pool behind an output is full. */
enum weir_when_full {
    WEIR_FULL_WAIT = 0, /* the message waits, the worker gets nothing new, no thread waits */
    WEIR_FULL_REJECT = 1,
    WEIR_FULL_DROP_NEWEST = 2,
    WEIR_FULL_DEAD_LETTER = 3,
};

/* Where output number i leads: entry i of an array. */
struct weir_binding {
    weir_pid target;    /* a pool or an actor; 0 = unbound: what is emitted is counted and freed */
    uint32_t when_full; /* enum weir_when_full */
    uint32_t reserved;
};

/*
 * Begin with WEIR_POOL_OPTIONS, which has one worker. What is 0 or NULL is what a file that leaves
 * the key out has. Append-only.
 */
struct weir_pool_options {
    uint32_t size;                          /* of this struct */
    uint32_t behaviour_size;                /* of struct weir_behaviour */
    uint32_t binding_size;                  /* of struct weir_binding */
    uint32_t workers;                       /* at first */
    const char *path;                       /* its name; of a nested one by custom `images/small` */
    weir_pid parent;                        /* the pool it is a member of; 0 = none */
    const struct weir_behaviour *behaviour; /* of its workers; NULL: its members are pools */
    const void *settings;                   /* for `open`; borrowed until `release` */
    void (*release)(void *settings);        /* nobody uses the settings any more; may be NULL */
    const char *dispatcher;                 /* NULL = `default` */
    uint32_t limit;       /* of each mailbox; 0 = the usual 64, UINT32_MAX = unlimited */
    uint32_t workers_min; /* bounds of a resize; both 0 = none */
    uint32_t workers_max;
    uint32_t route;             /* enum weir_route */
    uint32_t remove;            /* enum weir_remove */
    uint32_t redeliver;         /* how often a message is given again whose worker failed with it */
    uint64_t remove_timeout_ms; /* for a worker that is removed, and for all when the pool closes:
                                 * then the rest is dead; 0 = the usual 30 s, UINT64_MAX = as long
                                 * as it takes */
    const struct weir_binding *outputs; /* may be NULL; borrowed until return */
    uint32_t output_count;
    uint32_t restart_max;            /* failures within `restart_within_ms` that are replaced at
                                      * once, of workers or of members that escalate; 0 = the usual
                                      * 5 */
    uint64_t mailbox_bytes;          /* of payload that waits at each worker; 0 = unlimited */
    uint64_t restart_within_ms;      /* 0 = 10 s */
    uint64_t restart_backoff_ms_min; /* pause then, and after a failed `open`; it doubles each time
                                      * until the worker has lived `restart_within_ms` without a
                                      * failure. 0 = 100 ms */
    uint64_t restart_backoff_ms_max; /* 0 = 10 s */
    uint32_t restart_then;           /* enum weir_restart_then */
    uint32_t reserved;
    /* What gets the pool's urgent and high messages, on the dispatcher `default`; NULL = the one
     * that weir/pool.h describes. */
    const struct weir_behaviour *manager;
    const void *manager_settings;            /* for its `open`; borrowed until `manager_release` */
    void (*manager_release)(void *settings); /* may be NULL */
};
#define WEIR_POOL_OPTIONS                                                                          \
    {                                                                                              \
        sizeof(struct weir_pool_options), sizeof(struct weir_behaviour),                           \
            sizeof(struct weir_binding), 1, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0,  \
            NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL                                         \
    }

/* Begin with WEIR_ACTOR_OPTIONS; 0 and NULL as in WEIR_POOL_OPTIONS. Append-only. */
struct weir_actor_options {
    uint32_t size;           /* of this struct */
    uint32_t behaviour_size; /* of struct weir_behaviour */
    uint32_t binding_size;   /* of struct weir_binding */
    uint32_t limit;          /* of its mailbox; 0 = the usual 64, UINT32_MAX = unlimited */
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
 * What became of every message that was accepted, exact at the instant it is read:
 * accepted = done + dead + moved + queued + in_hand + held. Begin with WEIR_LEDGER.
 */
struct weir_ledger {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;  /* all reasons */
    uint64_t moved; /* handed to another worker, which accepted it */
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held; /* waiting for a retry, or for room behind an output */
};
#define WEIR_LEDGER                                                                                \
    {                                                                                              \
        sizeof(struct weir_ledger), 0, 0, 0, 0, 0, 0, 0, 0                                         \
    }

/* A message that could not be handled, of those that are kept. */
struct weir_dead_letter {
    uint64_t number;            /* 1, 2, ... in the order of death */
    const char *reason;         /* `crashed`, `rejected`, ...; static text */
    const struct weir_tag *tag; /* lives as long as the runtime; may be NULL */
    uint64_t payload_size;
    uint64_t age_ms;
    uint64_t key;
    weir_pid from;
    uint32_t attempt;
    uint32_t lane;      /* enum weir_lane */
    uint32_t whole;     /* 1: its payload is kept, and it can be sent again */
    uint32_t head_size; /* of the payload's first bytes: */
    unsigned char head[32];
    char detail[48]; /* what the worker said; may be empty */
};

/* What became of dead letters that were sent again. Begin with WEIR_REPLAYED. */
struct weir_replayed {
    uint32_t size;     /* of this struct */
    uint32_t replayed; /* accepted anew */
    uint32_t left;     /* stay dead */
    uint32_t unable;   /* of these, the ones that have no payload any more */
    int32_t status;    /* of the last refusal among the others; 0 = none */
    uint32_t reserved;
};
#define WEIR_REPLAYED                                                                              \
    {                                                                                              \
        sizeof(struct weir_replayed), 0, 0, 0, 0, 0                                                \
    }

/* Of the whole runtime. Begin with WEIR_RUNTIME_FIGURES. */
struct weir_runtime_figures {
    uint32_t size;           /* of this struct */
    uint32_t escalated;      /* 1: a pool with WEIR_RESTART_ESCALATE has given up */
    uint64_t late_replies;   /* to requests that had been given up */
    uint64_t late_notices;   /* of settled messages, to origins that had ended */
    uint64_t memory_limit;   /* as it was asked for; 0 = none, and nothing is counted */
    uint64_t memory;         /* bytes that messages, blobs and the threads for the next ones hold */
    uint64_t memory_refused; /* messages and blobs for which there was no room */
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
 * Ends everything gracefully: sources first, then pools and actors in the order in which their
 * outputs feed each other, each after all that feed it, so that what was accepted is finished;
 * what feeds itself in a circle closes as one. What does not end within `no_room_ms` may wait for
 * room that never comes: then the pools and actors that cannot open, are paused or have no workers
 * are closed before their turn, and what waits for them is dead `no_target`. So without a time-out
 * it waits for callbacks that do not return, and for nothing else. Waits. 0, or WEIR_ETIMEOUT: what
 * has not ended is named in the log and goes on. WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_shutdown(struct weir_runtime *runtime, uint64_t timeout_ms);

/*
 * Stops the threads after the callbacks that run now, and frees everything, also what was never
 * handled. Takes the runtime; NULL is allowed. No other thread may be inside a call or own a
 * message of it. Not from a callback.
 */
WEIR_API void weir_runtime_destroy(struct weir_runtime *runtime);

/* Figures of the whole runtime. WEIR_EINVALID: out->size is too small. */
WEIR_API int weir_runtime_figures(struct weir_runtime *runtime, struct weir_runtime_figures *out);

/*
 * From the poller: the descriptor of `token` is ready for `readiness`, bits of enum weir_readiness,
 * or, with WEIR_EINVALID, was closed. From a thread that is in no callback. 0, also when nobody
 * waits for it any more; WEIR_ENOMEM: nobody was told, tell it again.
 */
WEIR_API int weir_runtime_ready(struct weir_runtime *runtime, uint64_t token, int readiness);

/* The largest status that a behaviour asked the program to exit with (weir_exit_status). */
WEIR_API int weir_runtime_exit_status(struct weir_runtime *runtime);

/* --- pools and actors ------------------------------------------------------------------------- */

/*
 * Makes a pool; its workers open in their first turns, until then it answers WEIR_EFULL. Borrows
 * the options, copies the behaviour; its texts and tables are borrowed as the settings are.
 * WEIR_EINVALID, WEIR_EEXISTS (the path), WEIR_EUNKNOWN (dispatcher or parent), WEIR_ECLOSED (the
 * parent), WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_add_pool(struct weir_runtime *runtime,
                                   const struct weir_pool_options *options, weir_pid *out_pool);

/*
 * Makes one actor that belongs to no pool, or a source if the behaviour has `produce`, which feeds
 * output 0. Until it is open it has no room; it ends when it fails or stops, a source is opened
 * anew. Otherwise as weir_runtime_add_pool.
 */
WEIR_API int weir_runtime_add_actor(struct weir_runtime *runtime,
                                    const struct weir_actor_options *options, weir_pid *out_actor);

/*
 * Leads the outputs of a pool's workers, or of an actor or source, elsewhere from now on; also
 * those that were bound when it was made, so that two pools can feed each other. Borrows. Messages
 * that wait for room follow. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_bind(struct weir_runtime *runtime, weir_pid from,
                               const struct weir_binding *outputs, uint32_t output_count);

/*
 * Waits until all workers of a pool, also of nested ones, or an actor are open. 0; the status of an
 * `open` that failed (it is tried again); WEIR_ETIMEOUT, WEIR_EUNKNOWN, WEIR_ECLOSED, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_wait_open(struct weir_runtime *runtime, weir_pid pid,
                                    uint64_t timeout_ms);

/* The PID of a pool's path or an actor's name. WEIR_EUNKNOWN. */
WEIR_API int weir_runtime_lookup(struct weir_runtime *runtime, const char *name, weir_pid *out_pid);

/*
 * Sets how many workers a pool has. The target is set on return; workers open and leave as they
 * can. `out` may be NULL. WEIR_EINVALID: over the bounds, no change; WEIR_ECLOSED, WEIR_EUNKNOWN,
 * WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_resize(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                                 struct weir_resized *out);

/* As weir_runtime_resize by `count` more. WEIR_EINVALID also when it is negative. */
WEIR_API int weir_runtime_add_workers(struct weir_runtime *runtime, weir_pid pool, int32_t count,
                                      struct weir_resized *out);
/* As weir_runtime_resize by `count` fewer. WEIR_EINVALID: there are not so many. */
WEIR_API int weir_runtime_remove_workers(struct weir_runtime *runtime, weir_pid pool,
                                         uint32_t count, struct weir_resized *out);

/*
 * As weir_runtime_resize; waits until the new workers are open and the removed ones have ended.
 * WEIR_ETIMEOUT and the status of an `open` that failed: the target is set all the same.
 */
WEIR_API int weir_runtime_resize_wait(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                                      uint64_t timeout_ms, struct weir_resized *out);

/*
 * From its return on the pool refuses every message with WEIR_EFULL; its workers go on with what
 * they have. 0 also when it was paused. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_pause(struct weir_runtime *runtime, weir_pid pool);
/* Takes that back, and wakes whoever waits for room. */
WEIR_API int weir_runtime_resume(struct weir_runtime *runtime, weir_pid pool);

/* For weir_runtime_members, with the size that the program knows. */
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

/* For weir_runtime_dead_letters, with the size that the program knows. */
WEIR_API int weir_runtime_dead_letters_sized(struct weir_runtime *runtime, weir_pid pid,
                                             struct weir_dead_letter *out, uint32_t letter_size,
                                             uint32_t max, uint32_t *out_count);

/*
 * Reads the dead letters that a pool, an actor or a source keeps, oldest first: fills up to `max`
 * elements of `out`, which may be NULL when `max` is 0. `out_count` is how many are kept; a nested
 * pool has its own. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
static inline int weir_runtime_dead_letters(struct weir_runtime *runtime, weir_pid pid,
                                            struct weir_dead_letter *out, uint32_t max,
                                            uint32_t *out_count)
{
    return weir_runtime_dead_letters_sized(runtime, pid, out, sizeof *out, max, out_count);
}

/*
 * Sends the dead letters of a pool, an actor or a source again, oldest first, each once: where they
 * were meant to go, as new messages. What is refused stays dead in its place. `out` may be NULL.
 * WEIR_EINVALID: out->size is too small; WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_replay(struct weir_runtime *runtime, weir_pid pid,
                                 struct weir_replayed *out);

/* A pool's figures, after its end until it is forgotten. Set out->size to sizeof *out first.
 * WEIR_EINVALID: it is too small; WEIR_EUNKNOWN. */
WEIR_API int weir_runtime_pool_stats(struct weir_runtime *runtime, weir_pid pool,
                                     struct weir_pool_stats *out);

/*
 * The ledger of a pool, an actor or a source, or with PID 0 the sum of all that this runtime ever
 * had. WEIR_EINVALID: out->size is too small; WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_ledger(struct weir_runtime *runtime, weir_pid pid,
                                 struct weir_ledger *out);

/*
 * Asks a pool, an actor, a source or a worker for items by name; `items` ends with NULL, and NULL
 * itself asks for all. See weir/inspect.h, whose functions read the message left in `out`, which
 * the caller owns; begin with WEIR_ANSWER. Waits; a worker answers behind the message that it has
 * in hand. WEIR_ETIMEOUT; WEIR_EUNKNOWN, WEIR_ETERMINATED: no such actor; WEIR_EINVALID: too many
 * items, or out->size is too small; WEIR_ENOMEM, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_inspect(struct weir_runtime *runtime, weir_pid pid,
                                  const char *const *items, uint64_t timeout_ms,
                                  struct weir_answer *out);

/*
 * Lets a pool, an actor or a source accept nothing new, finish what it accepted, and end. Returns
 * at once. WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_close(struct weir_runtime *runtime, weir_pid pid);

/*
 * Lets a pool, an actor or a source accept nothing new, and end behind the messages that are in
 * hand: what waits is dead, and so is what a worker keeps; their requesters are told. `close` is
 * called. Also of what is closing. Returns at once; weir_runtime_close_wait waits. WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_stop_now(struct weir_runtime *runtime, weir_pid pid);

/*
 * As weir_runtime_close; waits for the end, and then forgets it: its figures stay in the sum only.
 * A nested pool is forgotten with the pool it is a member of. WEIR_ETIMEOUT: it is not over yet;
 * ask again. WEIR_EUNKNOWN, WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_close_wait(struct weir_runtime *runtime, weir_pid pid,
                                     uint64_t timeout_ms);

/* --- messages --------------------------------------------------------------------------------- */

/* The one tag of a name; lives as long as the runtime. NULL: no memory. Borrows the name. */
WEIR_API const struct weir_tag *weir_runtime_tag(struct weir_runtime *runtime, const char *name);

/* A new message with `size` bytes of zeroed payload. Returns owned; NULL when memory is out. */
WEIR_API struct weir_message *weir_runtime_message_new(struct weir_runtime *runtime,
                                                       const struct weir_tag *tag, size_t size);

/* Takes a message that was not sent, or an answer. NULL is allowed. */
WEIR_API void weir_runtime_message_free(struct weir_runtime *runtime, struct weir_message *message);

/*
 * Sends a message; its `from` is 0. Takes it on 0; never waits. WEIR_EFULL no room anywhere below,
 * or not open yet; WEIR_EUNKNOWN, WEIR_ETERMINATED no such actor any more; WEIR_ECLOSED it drains;
 * WEIR_EINVALID by hash without a key; WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_send(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                               struct weir_message *message);

/*
 * As weir_runtime_send in the normal lane, but waits while there is no room, in one line with the
 * workers whose outputs lead there. It is released by a freed place, by growth of the pool, by its
 * closing (WEIR_ECLOSED, or WEIR_ETERMINATED if it has ended by then), and by the time-out
 * (WEIR_ETIMEOUT); the caller keeps the message then. WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_send_wait(struct weir_runtime *runtime, weir_pid to,
                                    struct weir_message *message, uint64_t timeout_ms);

/*
 * Sends a request, and returns at once. Takes the message on 0: then there is exactly one answer
 * for the reference, to be fetched by weir_runtime_await or given up by weir_runtime_cancel. What
 * is known to be impossible is answered here and now, as for weir_runtime_send: a full pool says
 * WEIR_EFULL.
 */
WEIR_API int weir_runtime_request(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                                  struct weir_message *message, uint64_t timeout_ms,
                                  uint64_t *out_reference);

/*
 * Waits for the answer to a request until the time-out that it was sent with; closes the reference.
 * Returns 0 with the reply in `out`, or why there is none: WEIR_ETIMEOUT, WEIR_EREJECTED,
 * WEIR_ECRASHED, WEIR_EREMOVED, WEIR_ETERMINATED, WEIR_ENOREPLY. `out` begins with WEIR_ANSWER. The
 * reference stays open with WEIR_EDEADLK, and with WEIR_EINVALID: out->size is too small.
 * WEIR_EUNKNOWN: no such reference, or another thread waits for it.
 */
WEIR_API int weir_runtime_await(struct weir_runtime *runtime, uint64_t reference,
                                struct weir_answer *out);

/* Gives a request up: its reply will be late. WEIR_EUNKNOWN: it is not open any more. */
WEIR_API int weir_runtime_cancel(struct weir_runtime *runtime, uint64_t reference);

/*
 * Request and answer in one call. Takes the message always: a refused one is freed. Answers as
 * weir_runtime_request and weir_runtime_await do.
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

#endif
