/* SPDX-License-Identifier: MIT */
/*
 * face/pool_change.h - the change of a pool by a reload, as a transaction: pool/change.h.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_POOL_CHANGE_H
#define FACE_POOL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "face/pool.h"

struct pool_change;

struct pool_change_options {
    struct spec
        *spec;  /* takes a reference; NULL = unchanged; members that are pools become workers */
    bool nests; /* workers leave: from the commit on the members are pools that have joined */
    uint32_t joining;              /* the most pools that join, besides the present ones */
    bool live;                     /* the new spec differs in live options only: workers stay */
    struct dispatcher *dispatcher; /* of new workers; NULL = as it is */
    struct dispatcher *opener;     /* where they open; NULL = where they run */
    uint32_t size;
    struct pool_settings settings;
    struct wiring *wiring; /* takes it; NULL = as it is, and so is the table of outputs */
    bool renews_manager;   /* by `manager`, after the commit */
    struct spec *manager;  /* takes a reference; NULL = the built-in one */
};

/* WEIR_ECLOSED, WEIR_ENOMEM: nothing has happened, but that the wiring is gone. Returns owned. */
int pool_change_prepare(struct pool *pool, struct executor *executor,
                        const struct pool_change_options *options, struct pool_change **out);

/* Carries it out and frees it. */
void pool_change_commit(struct pool_change *change, struct executor *executor);

/* Takes it back and frees it: the prepared workers leave. NULL is allowed. */
void pool_change_abort(struct pool_change *change, struct executor *executor);

/*
 * Before the change is prepared: the workers finish their accepted messages, and end. The pool
 * keeps its target, and refuses with WEIR_EFULL until it has workers again. WEIR_ENOMEM: nothing
 * has changed.
 */
int pool_change_stop(struct pool *pool, struct executor *executor);

/* Whether the last worker that was ordered to leave has ended. */
bool pool_change_has_stopped(struct pool *pool);

/*
 * After a stop, and an abort if the change was prepared: opens workers of the present spec, as many
 * as the target asks for. One that fails is tried again as after any failure. WEIR_ENOMEM: nothing
 * has happened.
 */
int pool_change_reopen(struct pool *pool, struct executor *executor);

#endif
