/*
 * pool/change.h - the change of one pool as a transaction: prepare, look, commit or abort.
 *
 * Everything that can fail happens in prepare: memory, and new workers, which open beside the
 * present ones and are let in by the commit. The commit allocates nothing and cannot fail; it takes
 * its place in the order of the pool's resizes. One change of a pool at a time.
 *
 * Where two workers cannot live side by side, the present ones are stopped before the change is
 * prepared. When it is given up, workers like them are opened again.
 */
#ifndef POOL_CHANGE_H
#define POOL_CHANGE_H

#include "pool/figures.h"

struct pool_change_options {
    struct spec
        *spec;  /* takes a reference; NULL = as it is; where members are pools, workers come */
    bool nests; /* workers go: from the commit on the members are pools that have joined */
    uint32_t joining;              /* how many of them at most, beside those that are there */
    bool live;                     /* the new spec differs in live options only: workers stay */
    struct dispatcher *dispatcher; /* of new workers; NULL = as it is */
    struct dispatcher *opener;     /* where they open; NULL = where they run */
    uint32_t size;
    uint32_t size_min, size_max;
    bool clamps;
    uint32_t limit;
    uint64_t bytes_limit;
    enum weir_route route;
    enum weir_remove remove;
    uint64_t remove_timeout_ms;
    struct restart restart; /* of its member pools; `within_ms` 0 = as it is */
    struct wiring *wiring;  /* takes it; NULL = as it is, and so is the table of outputs */
    bool renews_manager;    /* by `manager`, after the commit */
    struct spec *manager;   /* takes a reference; NULL = the built-in one */
};

struct pool_change {
    struct pool *pool;
    struct pool_change_options options;
    struct members *next;  /* room for `size`, or for the nested pools */
    struct outlet *outlet; /* of the new workers; NULL: that of the present ones */
};

/* WEIR_ECLOSED, WEIR_ENOMEM: nothing has happened, but that the wiring is gone. Returns owned. */
int pool_change_prepare(struct pool *pool, struct executor *executor,
                        const struct pool_change_options *options, struct pool_change **out);

/* Carries it out and frees it. */
void pool_change_commit(struct pool_change *change, struct executor *executor);

/* Takes it back and frees it: the prepared workers leave. NULL is allowed. */
void pool_change_abort(struct pool_change *change, struct executor *executor);

/* --- stopping first -------------------------------------------------------------------------- */

/*
 * Before the change is prepared: the workers finish what they accepted, and end. The pool keeps its
 * target and refuses with WEIR_EFULL meanwhile. WEIR_ENOMEM: nothing has happened.
 */
int pool_change_stop(struct pool *pool, struct executor *executor);

/* Whether the last worker that was told to go has ended. */
bool pool_change_has_stopped(struct pool *pool);

/*
 * After a stop, and an abort if the change was prepared: opens workers of the present spec, as many
 * as the target asks for. One that fails is tried again as after any failure. WEIR_ENOMEM: nothing
 * has happened.
 */
int pool_change_reopen(struct pool *pool, struct executor *executor);

#endif
