/* SPDX-License-Identifier: MIT */
/*
 * config/settings.h - the checked and typed settings of a file, from which the host builds its
 * runtime.
 *
 * Every array has the order of the file. Nested pools are flattened: a pool comes before its
 * members, and a member has its parent's index. Copies of a template (`size: 3`, `pool: {...}`) are
 * written out as members `0`, `1`, `2`. Each part has its position in the file.
 *
 * Life: made by config_check, freed by settings_destroy. Borrows catalogue entries and nothing
 * else. It is constant, except for the fields that the host writes before a plan is made
 * (`size_now`). Not synchronised.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/dispatcher_policy.h"
#include "base/options.h"
#include "base/pool_settings.h"
#include "base/rate.h"
#include "config/catalogue.h"
#include "config/log_format.h"
#include "config/written.h"

#define SETTINGS_NONE UINT32_MAX /* no index, no number */
/* with copies written out; each is an actor and a line of `status` */
#define SETTINGS_POOLS_MAX 10000u
#define SETTINGS_POOL_DEPTH_MAX 8u    /* levels of nesting */
#define SETTINGS_POOL_SIZE_MAX 65536u /* workers of one pool */
#define SETTINGS_QUARANTINE_MAX 100u
#define SETTINGS_NAME_MAX 63u  /* bytes of a name */
#define SETTINGS_PATH_MAX 100u /* bytes of a pool's path, which is part of every log line */

/* The levels of weir_log_level, and one more for a pool without a level of its own. */
#define SETTINGS_LEVEL_HOST 4u

struct settings_dead_letters {
    uint32_t count;     /* kept per pool */
    uint64_t bytes;     /* kept per pool */
    const char *file;   /* NULL: none */
    uint64_t file_size; /* bytes; 0 = no bound */
};

struct settings_log {
    uint32_t level;  /* enum weir_log_level */
    uint32_t format; /* enum log_format */
};

struct settings_host {
    const char *name;         /* NULL = the machine's */
    struct weir_list plugins; /* directories, searched in order */
    const char *control;      /* path of the socket; NULL = none */
    uint64_t shutdown_timeout_ms;
    uint64_t memory; /* bytes of payload; 0 = no cap */
    struct settings_dead_letters dead_letters;
    const char *crash_file; /* NULL: none */
    bool watch;
    uint64_t turn_warning_ms;
    struct settings_log log;
    struct written written;
};

struct settings_dispatcher {
    const char *name;
    uint32_t threads; /* resolved: `auto` is max(2, effective CPUs) */
    bool threads_auto;
    struct dispatcher_policy policy;
    /* the position of `dispatchers`, for a dispatcher that the file does not name */
    struct written written;
};

/* An output of a behaviour, bound or not. */
struct settings_output {
    const char *name;
    uint32_t pool;      /* index; SETTINGS_NONE = not bound */
    bool drops;         /* bound to `none`: what is emitted there is not wanted */
    uint32_t when_full; /* enum weir_when_full */
    struct rate rate;   /* without messages: none */
};

/* The use of a behaviour: the same for pools and sources. */
struct settings_use {
    const char *use;                     /* plugin.behaviour */
    const struct catalogue_entry *entry; /* borrowed from the catalogue */
    struct options *options;
    uint32_t dispatcher; /* index */
};

struct settings_source {
    const char *name;
    struct settings_use use;
    uint32_t to;        /* index of a pool */
    uint32_t when_full; /* enum weir_when_full */
    struct rate rate;   /* without messages: none */
    struct written written;
};

/* Where the callbacks of workers are carried out. */
enum settings_isolation {
    SETTINGS_THREAD,
    SETTINGS_PROCESS,
};

/* What a process may do after `open`. */
struct settings_sandbox {
    bool on; /* the key is there */
    bool strict;
    bool network;
    struct weir_list read; /* paths */
    struct weir_list write;
};

/* Of a pool whose workers are processes. */
struct settings_process {
    uint64_t timeout_ms; /* of a callback; 0 = none */
    uint64_t memory;     /* bytes of one process; 0 = none */
    uint32_t files;      /* open descriptors of one process; 0 = as the host */
    uint32_t window;     /* messages of one process at a time */
    struct settings_sandbox sandbox;
};

struct settings_pool {
    const char *path; /* `images/small` */
    const char *name; /* its last part */
    uint32_t parent;  /* index; SETTINGS_NONE = top level */
    uint32_t depth;   /* 0 = top level */
    bool nested;      /* its members are pools; `use` and the other keys of workers are unset */
    bool copy;        /* a further copy of a template: its settings belong to the first copy */
    uint32_t member_count; /* of a nested pool */

    struct settings_use use;
    uint32_t size;             /* workers at the start; of a nested pool: its members */
    struct pool_settings core; /* `size_min` equal to `size_max` = the size is fixed */
    uint32_t size_now;    /* written by the host before a plan is made; SETTINGS_NONE = unknown */
    bool scale_suspended; /* likewise: the pool has a law, and its size was set by hand */
    uint32_t redeliver;
    uint32_t quarantine; /* crashes after which a message is not handled; 0 = any number */
    uint32_t isolation;  /* enum settings_isolation */
    struct settings_process process;
    uint32_t min_ready;              /* as many as the workers, or more: all */
    uint32_t output_count;           /* rows of the behaviour's table, in its order */
    struct settings_output *outputs; /* weir_emit takes an index into it */

    struct settings_use manager; /* without a dispatcher; `use` is NULL when there is none */
    struct weir_list subscribe;  /* names of events */
    bool fan_out;
    uint32_t log_level;     /* enum weir_log_level, or SETTINGS_LEVEL_HOST */
    struct written written; /* copies of a template share that of the template */
};

struct settings {
    struct settings_host host;
    uint32_t dispatcher_count;
    struct settings_dispatcher *dispatchers; /* `default` is among them */
    uint32_t source_count;
    struct settings_source *sources;
    uint32_t pool_count;
    struct settings_pool *pools;
    struct text_store store; /* holds everything above but the options */
};

/* NULL is allowed. */
void settings_destroy(struct settings *settings);

/* Indexes by name or path; SETTINGS_NONE when there is none such. */
uint32_t settings_find_pool(const struct settings *settings, const char *path);
uint32_t settings_find_source(const struct settings *settings, const char *name);
uint32_t settings_find_dispatcher(const struct settings *settings, const char *name);

bool settings_has_fixed_size(const struct settings_pool *pool);

/* The option that names a file with a state of the behaviour, such as `position`; NULL: none is
 * set. */
const char *settings_use_state(const struct settings_use *use);

/* The number of workers of a pool after a reload, when it has `now`: a fixed size replaces the
 * number that was set at run time; inside a range that number stays. */
uint32_t settings_size_after(const struct settings_pool *pool, uint32_t now);

/* The number of workers at the start, of all pools. */
uint64_t settings_worker_count(const struct settings *settings);

#endif
