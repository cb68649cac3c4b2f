/*
 * pool/outlet.h - where the outputs of a pool's workers lead, by the table of outputs they know.
 *
 * A worker emits by number: that of a row in its behaviour's table. So a change that brings another
 * table opens the new workers behind an outlet of their own. The workers of before keep their
 * outlet, whose wiring is frozen from then on; they are *former* workers until they have ended.
 * Workers of one table share one outlet.
 *
 * Life: outlet_begin, then places join and leave, and changes are prepared and then committed or
 * aborted, one at a time; an outlet goes with its last user. All under pool->lock.
 */
#ifndef POOL_OUTLET_H
#define POOL_OUTLET_H

#include "actor/wiring.h"

struct executor;
struct place;
struct pool;
struct spec;
struct weir_output;

struct outlet {
    struct wiring_slot slot;        /* read by the workers behind it */
    const struct weir_output *rows; /* const: what the numbers stand for; NULL: it has no names */
    uint32_t table;                 /* const: which of the pool's tables, from 0 on */
    uint32_t users;                 /* pool->lock: places, and the pool or a change */
    struct retired retired;
};

/* The outlets of one pool. */
struct outlets {
    _Atomic(struct outlet *) present; /* written under pool->lock, read in a read section */
    struct outlet *of_new;            /* pool->lock: behind which new places are made */
    uint32_t tables;                  /* pool->lock: how many there have been */
};

/* The first one, for workers of `spec` (may be NULL). Takes the wiring on 0. WEIR_ENOMEM. */
int outlet_begin(struct outlets *outlets, const struct spec *spec, struct wiring *wiring);
/* Frees the last one: no worker is left. */
void outlet_end(struct outlets *outlets);

/* A place that is made leads its outputs through the outlet of new ones. */
void outlet_join_locked(struct outlets *outlets, struct place *place);
/* A place has ended, or never begun. */
void outlet_leave_locked(struct place *place, struct executor *executor);

/*
 * Makes an outlet for workers of `spec` when their table is not that of the present ones, and takes
 * the wiring for it; `out_fresh` stays as it is otherwise. WEIR_ENOMEM: nothing has happened.
 */
int outlet_prepare_locked(struct outlets *outlets, const struct spec *spec, struct wiring **wiring,
                          struct outlet **out_fresh);
/* From now on it is that of the present workers. Cannot fail. */
void outlet_commit_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor);
/* Takes it back. */
void outlet_abort_locked(struct outlet *fresh, struct executor *executor);

/* Where the pool's present workers lead: takes the wiring. */
void outlet_set_locked(struct outlets *outlets, struct wiring *wiring, struct executor *executor);

/*
 * Whether a pool has former workers, and by when the last of them must have left, on the runtime's
 * clock; 0 = whenever it has. Any thread.
 */
bool outlet_has_former(struct pool *pool, uint64_t *out_due_ns);

/* Where the present workers of a pool lead their outputs; in a read section. */
static inline struct wiring_slot *outlet_present(struct outlets *outlets)
{
    /* [O1] pairs with the release in outlet_commit_locked. */
    return &atomic_load_explicit(&outlets->present, memory_order_acquire)->slot;
}

#endif
