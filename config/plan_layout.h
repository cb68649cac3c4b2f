/*
 * config/plan_layout.h - what a plan consists of: steps of certain kinds, and tasks made of them.
 */
#ifndef CONFIG_PLAN_LAYOUT_H
#define CONFIG_PLAN_LAYOUT_H

#include "config/settings.h"

/* Of what kind the part is that a step is about. */
enum plan_part {
    PLAN_PART_HOST,
    PLAN_PART_DISPATCHER,
    PLAN_PART_SOURCE,
    PLAN_PART_POOL,
};

/* What it takes to carry out a step; no bit: the part takes its settings from the new file. */
enum plan_effect {
    PLAN_ADDS = 1u << 0,
    PLAN_REMOVES = 1u << 1,
    PLAN_RESPECS = 1u << 2,     /* what runs there is made of another spec */
    PLAN_REMAKES = 1u << 3,     /* not all of that is live: new workers, or another source */
    PLAN_STOPS_FIRST = 1u << 4, /* two cannot live side by side: the old stops, the new one opens */
    PLAN_REBINDS = 1u << 5,     /* outputs lead elsewhere */
    PLAN_MANAGES = 1u << 6,     /* another manager, or none */
};

/* what, its part, what it takes, word in `plan_kind_name`, how it takes effect */
#define PLAN_STEP_LIST(X)                                                                          \
    X(HOST, HOST, 0, "host", "a key of `host` changed")                                            \
    X(DISPATCHER_ADDED, DISPATCHER, PLAN_ADDS, "dispatcher added", "its threads start")            \
    X(DISPATCHER_REMOVED, DISPATCHER, PLAN_REMOVES, "dispatcher removed",                          \
      "its threads end after the last user")                                                       \
    X(DISPATCHER_THREADS, DISPATCHER, 0, "dispatcher threads", "resized while running")            \
    X(DISPATCHER_BUDGET, DISPATCHER, 0, "dispatcher budget", "at once")                            \
    X(SOURCE_ADDED, SOURCE, PLAN_ADDS, "source added", "opened before the commit")                 \
    X(SOURCE_REMOVED, SOURCE, PLAN_REMOVES, "source removed", "ends, its pools drain")             \
    X(SOURCE_REPLACED, SOURCE, PLAN_RESPECS, "source replaced",                                    \
      "a new one takes over the position")                                                         \
    X(SOURCE_ARGS, SOURCE, PLAN_RESPECS, "source args",                                            \
      "live, or a new one takes over the position")                                                \
    X(SOURCE_TO, SOURCE, PLAN_REBINDS, "source output", "at once")                                 \
    X(POOL_ADDED, POOL, PLAN_ADDS, "pool added", "opened before the commit")                       \
    X(POOL_REMOVED, POOL, PLAN_REMOVES, "pool removed",                                            \
      "drained after the commit, in output order")                                                 \
    X(POOL_REPLACED, POOL, PLAN_RESPECS, "pool replaced",                                          \
      "another behaviour, version or kind of members beside the old")                              \
    X(POOL_ARGS, POOL, PLAN_RESPECS, "pool args", "live, or new workers beside the old")           \
    X(POOL_SIZE, POOL, 0, "pool size", "workers added or removed")                                 \
    X(POOL_MAILBOX, POOL, 0, "pool mailbox", "at once")                                            \
    X(POOL_ROUTE, POOL, 0, "pool route", "at once")                                                \
    X(POOL_OUTPUTS, POOL, PLAN_REBINDS, "pool outputs", "at once, per pool")                       \
    X(POOL_RESTART, POOL, PLAN_RESPECS, "pool restart", "at once")                                 \
    X(POOL_REMOVE, POOL, 0, "pool remove", "at once")                                              \
    X(POOL_MANAGER, POOL, PLAN_MANAGES, "pool manager", "a new one takes over after the commit")   \
    X(POOL_OTHER, POOL, PLAN_RESPECS, "pool",                                                      \
      "redeliver, open_timeout, log, subscribe and the like: at once")

enum plan_kind {
#define PLAN_STEP_ENUM(name, part, effects, word, how) PLAN_##name,
    PLAN_STEP_LIST(PLAN_STEP_ENUM)
#undef PLAN_STEP_ENUM
};

struct plan_step {
    enum plan_kind kind;
    const char *path;     /* of what it is about: `pools.images/small`, `host` */
    const char *field;    /* such as `size`; NULL = the whole of it */
    const char *old_text; /* NULL = it is new */
    const char *new_text; /* NULL = it goes */
    bool live;            /* takes effect without a new worker, source or thread */
    uint32_t effects;     /* of enum plan_effect */
    uint32_t old_index;   /* in the old settings' array of its kind; SETTINGS_NONE = none */
    uint32_t new_index;   /* its index in the new settings */
};

/* A pool that closes: its index in the old settings. Those of one group feed each other in a cycle,
 * and close together. */
struct plan_closing {
    uint32_t pool;
    uint32_t group;
};

struct plan {
    size_t count;
    struct plan_step *steps; /* hosts, dispatchers, pools, sources; in order of the new file */
    /* By index of the new settings: which of the old ones it is; SETTINGS_NONE = it is new. */
    uint32_t *old_pools;
    uint32_t *old_sources;
    struct plan_closing *closing; /* the removed pools: those that feed before those they feed */
    uint32_t closing_count;
    struct text_store store; /* their texts, and these */
};

/* All steps about one part, together: what is done to it. */
struct plan_task {
    enum plan_part part;
    uint32_t old_index;
    uint32_t new_index;
    uint32_t effects;
};

#endif
