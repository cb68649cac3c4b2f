/*
 * config/plan.h - the steps from one configuration to another.
 *
 * It compares two settings, never two texts: comments, formatting and order are no change. A plan
 * is built before anything happens; who carries it out walks its steps.
 *
 * Life: plan_create .. plan_destroy. It borrows both settings until then. Not synchronised.
 */
#ifndef CONFIG_PLAN_H
#define CONFIG_PLAN_H

#include "config/settings.h"

/* what, word in `plan_step_name`, how it takes effect */
#define PLAN_STEP_LIST(X)                                                                          \
    X(HOST, "host", "a key of `host` changed")                                                     \
    X(DISPATCHER_ADDED, "dispatcher added", "its threads start")                                   \
    X(DISPATCHER_REMOVED, "dispatcher removed", "its threads end after the last user")             \
    X(DISPATCHER_THREADS, "dispatcher threads", "resized while running")                           \
    X(DISPATCHER_BUDGET, "dispatcher budget", "at once")                                           \
    X(SOURCE_ADDED, "source added", "opened before the commit")                                    \
    X(SOURCE_REMOVED, "source removed", "ends, its pools drain")                                   \
    X(SOURCE_REPLACED, "source replaced", "a new one takes over the position")                     \
    X(SOURCE_ARGS, "source args", "live, or a new one takes over the position")                    \
    X(SOURCE_TO, "source output", "at once")                                                       \
    X(POOL_ADDED, "pool added", "opened before the commit")                                        \
    X(POOL_REMOVED, "pool removed", "drained after the commit, in output order")                   \
    X(POOL_REPLACED, "pool replaced",                                                              \
      "another behaviour, version or kind of members beside the old")                              \
    X(POOL_ARGS, "pool args", "live, or new workers beside the old")                               \
    X(POOL_SIZE, "pool size", "workers added or removed")                                          \
    X(POOL_MAILBOX, "pool mailbox", "at once")                                                     \
    X(POOL_ROUTE, "pool route", "at once")                                                         \
    X(POOL_OUTPUTS, "pool outputs", "at once, per pool")                                           \
    X(POOL_RESTART, "pool restart", "at once")                                                     \
    X(POOL_REMOVE, "pool remove", "at once")                                                       \
    X(POOL_MANAGER, "pool manager", "a new one takes over after the commit")                       \
    X(POOL_OTHER, "pool", "redeliver, open_timeout, log, subscribe and the like: at once")

enum plan_kind {
#define PLAN_STEP_ENUM(name, word, effect) PLAN_##name,
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
    bool stops_first;     /* two cannot live side by side: the old stops before the new opens */
    uint32_t old_index;   /* in the old settings' array of its kind; SETTINGS_NONE = none */
    uint32_t new_index;   /* likewise in the new settings */
};

struct plan {
    size_t count;
    struct plan_step *steps; /* hosts, dispatchers, pools, sources; in order of the new file */
    struct text_store store; /* their texts */
};

/* `old_settings` may be NULL: everything is new. WEIR_ENOMEM. Returns owned. */
int plan_create(const struct settings *old_settings, const struct settings *new_settings,
                struct plan **out_plan);
/* NULL is allowed. */
void plan_destroy(struct plan *plan);

/* Static; "?" for no kind. */
const char *plan_kind_name(enum plan_kind kind);

/*
 * Prints a diff, one line a step: `~ pools.verify.size: 2 -> 8`, `+`, `-`; `nothing to do` when
 * there is none. Colour by escape sequences when asked for.
 */
void plan_print(const struct plan *plan, FILE *stream, bool colour);

#endif
