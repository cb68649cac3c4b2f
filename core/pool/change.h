/*
 * pool/change.h - the change of one pool as a transaction: prepare, look, commit or abort.
 *
 * Everything that can fail happens in prepare: memory, and new workers, which open beside the
 * present ones and are let in by the commit. The commit allocates nothing and cannot fail; it takes
 * its place in the order of the pool's resizes. One change of a pool at a time.
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
    bool exclusive;                /* two workers cannot live side by side: see pool_change_stop */
    struct dispatcher *dispatcher; /* of new workers; NULL = as it is */
    struct dispatcher *opener;     /* where they open; NULL = where they run */
    uint32_t size;
    uint32_t size_min, size_max;
    bool clamps;
    uint32_t limit;
    uint64_t bytes_limit;
    enum pool_route route;
    enum remove_mode remove;
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
    bool has_outlets;      /* they are prepared, and to be committed or aborted */

    /* of an exclusive one; both lists are unborn */
    struct list fresh;    /* the new workers, until they begin */
    struct list spare;    /* as the old ones: for an abort */
    struct members *none; /* published while there are no workers */
    struct members *back; /* room for as many workers as there were */
    uint32_t back_size;
    bool stopped;
};

/* WEIR_ECLOSED, WEIR_ENOMEM: nothing has happened, but that the wiring is gone. Returns owned. */
int pool_change_prepare(struct pool *pool, struct executor *executor,
                        const struct pool_change_options *options, struct pool_change **out);

/*
 * An exclusive change: its old workers drain and end before the new ones open. Senders are told
 * FULL meanwhile. An abort opens workers like the old ones.
 */
void pool_change_stop(struct pool_change *change, struct executor *executor);
/* Whether the last of the old workers has ended. */
bool pool_change_has_stopped(struct pool_change *change);
/* Then: opens the new ones. */
void pool_change_begin(struct pool_change *change, struct executor *executor);

/* Carries it out and frees it. */
void pool_change_commit(struct pool_change *change, struct executor *executor);

/* Takes it back and frees it: the prepared workers leave. NULL is allowed. */
void pool_change_abort(struct pool_change *change, struct executor *executor);

#endif
