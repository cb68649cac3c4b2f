/* SPDX-License-Identifier: MIT */
/*
 * config/plan_layout.h - the layout of a plan: its steps, their kinds, and the tasks made of them.
 */
#ifndef CONFIG_PLAN_LAYOUT_H
#define CONFIG_PLAN_LAYOUT_H

#include "config/settings.h"

/* The kind of part that a step changes. */
enum plan_part {
    PLAN_PART_HOST,
    PLAN_PART_DISPATCHER,
    PLAN_PART_SOURCE,
    PLAN_PART_POOL,
};

/* How a step is carried out; 0: the part takes its settings from the new file. */
enum plan_effect {
    PLAN_ADDS = 1u << 0,
    PLAN_REMOVES = 1u << 1,
    PLAN_RESPECS = 1u << 2, /* workers or a source get a new spec */
    PLAN_REMAKES = 1u << 3, /* the new spec is not live: new workers, or a new source */
    /* old and new cannot run side by side: the old one stops, then the new one opens */
    PLAN_STOPS_FIRST = 1u << 4,
    PLAN_REBINDS = 1u << 5,    /* outputs get other targets */
    PLAN_MANAGES = 1u << 6,    /* another manager, or none */
    PLAN_LISTENS = 1u << 7,    /* another control socket, or none */
    PLAN_KEEPS_DEAD = 1u << 8, /* other bounds or another file of the dead letters */
    PLAN_LOGS = 1u << 9,       /* other levels or another format of the log */
    PLAN_BOUNDS = 1u << 10,    /* another bound of memory or of turns */
};

/* step, its part, its effects, its word in `plan_kind_name`, the text of how it takes effect */
#define PLAN_STEP_LIST(X)                                                                          \
    X(HOST, HOST, 0, "host", "a key of `host` changed")                                            \
    X(HOST_CONTROL, HOST, PLAN_LISTENS, "host", "another socket listens before the commit")        \
    X(HOST_DEAD_LETTERS, HOST, PLAN_KEEPS_DEAD, "host", "the file opens before the commit")        \
    X(HOST_CRASH_FILE, HOST, 0, "host", "from the next start on")                                  \
    X(HOST_LOG, HOST, PLAN_LOGS, "host", "at once")                                                \
    X(HOST_BOUND, HOST, PLAN_BOUNDS, "host", "at once")                                            \
    X(DISPATCHER_ADDED, DISPATCHER, PLAN_ADDS, "dispatcher added", "its threads start")            \
    X(DISPATCHER_REMOVED, DISPATCHER, PLAN_REMOVES, "dispatcher removed",                          \
      "its threads end after the last user")                                                       \
    X(DISPATCHER_THREADS, DISPATCHER, 0, "dispatcher threads", "resized while running")            \
    X(DISPATCHER_POLICY, DISPATCHER, 0, "dispatcher policy", "at once")                            \
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
    X(POOL_LOG, POOL, PLAN_LOGS, "pool", "at once")                                                \
    X(POOL_OTHER, POOL, PLAN_RESPECS, "pool",                                                      \
      "retry, redeliver, quarantine, open_timeout, subscribe and the like: at once")

enum plan_kind {
#define PLAN_STEP_ENUM(name, part, effects, word, how) PLAN_##name,
    PLAN_STEP_LIST(PLAN_STEP_ENUM)
#undef PLAN_STEP_ENUM
};

struct plan_step {
    enum plan_kind kind;
    const char *path;     /* of the part: `pools.images/small`, `host` */
    const char *field;    /* such as `size`; NULL = the whole part */
    const char *old_text; /* NULL = the part is new */
    const char *new_text; /* NULL = the part is removed */
    bool live;            /* takes effect without a new worker, source or thread */
    uint32_t effects;     /* of enum plan_effect */
    uint32_t old_index;   /* in the old settings' array of this part's kind; SETTINGS_NONE = none */
    uint32_t new_index;   /* its index in the new settings */
};

struct plan {
    size_t count;
    struct plan_step *steps; /* hosts, dispatchers, pools, sources; in order of the new file */
    /* By index in the new settings: the index in the old settings; SETTINGS_NONE = it is new. */
    uint32_t *old_pools;
    uint32_t *old_sources;
    uint32_t *removed; /* the removed pools: indexes in the old settings */
    uint32_t removed_count;
    struct text_store store; /* the texts and arrays above */
};

/* All steps about one part, together. */
struct plan_task {
    enum plan_part part;
    uint32_t old_index;
    uint32_t new_index;
    uint32_t effects;
};

#endif
