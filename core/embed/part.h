/* SPDX-License-Identifier: MIT */
/*
 * embed/part.h - a pool, actor or source of an embedding program, found by its PID.
 *
 * A part is counted: by its runtime until it is forgotten, and by each call that works with it, so
 * that one thread may wait for its end while another forgets it.
 */
#ifndef EMBED_PART_H
#define EMBED_PART_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/lock.h"
#include "embed/levels.h"
#include "weir_core.h"

#include <weir/runtime.h>

struct part {
    struct list link;             /* lock of the runtime: of all parts; empty = forgotten */
    struct table_node node;       /* likewise, by PID */
    struct list members;          /* likewise: pools that are nested in it */
    struct list member_link;      /* likewise: of the pool it is nested in */
    _Atomic uint32_t references;  /* changed by all; the last one frees */
    enum part_kind kind;          /* const */
    weir_pid pid;                 /* const */
    weir_pid parent;              /* const: the pool it is a member of; 0 = none */
    struct weir_runtime *runtime; /* const */
    uint32_t log_level;           /* const: see levels.h; 0 = the runtime's */
    struct level *level;          /* const: of a pool that has one; may be NULL */
    uint32_t min_ready;           /* const: of a pool; UINT32_MAX = all */
    struct lease_settings lease;  /* const: of a pool */
    uint64_t open_timeout_ms;     /* lock: its own, or the longest of those nested in it */
    /* const: `kind` says which */
    union {
        struct pool *pool;
        struct standalone *standalone;
        struct source *source;
    };
};

struct weir_runtime {
    struct runtime *core; /* const */
    void (*log)(void *context, enum weir_log_level level, const char *component, const char *event,
                const struct weir_field *fields); /* const */
    void *log_context;                            /* const */
    struct dead_letters_bounds dead_letters;      /* const: of each part */
    uint64_t no_room_ms;                          /* const: of the shutdown: see closing_options */
    uint64_t turn_warning_ms;                     /* const: 0 = none */
    struct levels levels;
    struct lock lock;
    struct list parts;          /* lock: oldest first */
    struct table by_pid;        /* lock: the same */
    bool closing;               /* lock: nothing new is made */
    struct ledger_reading gone; /* lock: of parts that were forgotten */
};

/* Begins to make a part: on 0 the runtime is locked until part_end_locked, which takes the part and
 * adds it if `status` is 0. WEIR_ENOMEM, WEIR_ECLOSED. */
int part_begin(struct weir_runtime *runtime, struct part **out);
void part_end_locked(struct part *part, int status);
/* Between part_begin and part_end_locked: borrowed; NULL: no such part. */
struct part *part_find_locked(struct weir_runtime *runtime, weir_pid pid);

/* Counted for the caller; NULL: no such part. */
struct part *part_find(struct weir_runtime *runtime, weir_pid pid);
/* As part_find for pools only. */
struct part *part_find_pool(struct weir_runtime *runtime, weir_pid pid);
/* NULL is allowed. */
void part_unref(struct part *part);

/* All parts, each with a reference, oldest first; NULL when memory is out. Returns owned: free it.
 * */
struct part **part_list(struct weir_runtime *runtime, uint32_t *out_count);

/* Removes a part from the runtime, whose reference goes to the caller. */
void part_unlink_locked(struct part *part);

/* Removes a part that has ended, and the parts nested in it, from the runtime; adds their figures
 * to `gone`. */
void part_forget(struct part *part);

/* For the functions for parts of any kind. */
struct part_ref part_ref(const struct part *part);

/* Accepts nothing new; finishes and ends. */
void part_close(struct part *part);
/* Likewise; waiting messages become dead letters. */
void part_stop_now(struct part *part);

#endif
