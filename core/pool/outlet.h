/* SPDX-License-Identifier: MIT */
/*
 * pool/outlet.h - the targets of the outputs of a pool's workers, one set for each table of
 * outputs.
 *
 * A worker emits by number: that of a row in its behaviour's table. So a change to another table
 * gives the new workers an outlet of their own. Earlier workers keep their outlet, whose wiring is
 * frozen from then on; they are *former* workers until they have ended. Workers with the same table
 * share one outlet.
 *
 * Life: outlet_begin, then places join and leave, and changes are prepared and then committed or
 * aborted, one at a time; an outlet ends with its last user. All under pool->lock.
 */
#ifndef POOL_OUTLET_H
#define POOL_OUTLET_H

#include "actor/wiring.h"
#include "pool/pool.h"

struct weir_output;

struct outlet {
    struct wiring_slot slot;        /* read by its workers */
    struct list link;               /* pool->lock: in outlets.used */
    const struct weir_output *rows; /* const: the rows of the numbers; NULL: it has no names */
    uint32_t table;                 /* const: the number of the table in the pool, from 0 on */
    uint32_t users;                 /* pool->lock: places, and the pool or a change */
    struct retired retired;
};

/* Makes the first outlet, for workers of `spec` (may be NULL). Takes the wiring on 0.
 * WEIR_ENOMEM. */
int outlet_begin(struct outlets *outlets, const struct spec *spec, struct wiring *wiring);
/* Frees all outlets: no worker is left, or the runtime ends before its workers have ended. */
void outlet_end(struct outlets *outlets);

/* Gives a new place the outlet of new places. */
void outlet_join_locked(struct outlets *outlets, struct place *place);
/* A place has ended, or was never started. */
void outlet_leave_locked(struct place *place, struct executor *executor);

/*
 * Makes an outlet for workers of `spec` when their table differs from the present one, and takes
 * the wiring for it; otherwise leaves `out_fresh` unchanged. WEIR_ENOMEM: nothing has changed.
 */
int outlet_prepare_locked(struct outlets *outlets, const struct spec *spec, struct wiring **wiring,
                          struct outlet **out_fresh);
/* Makes it the outlet of the present workers. Cannot fail. */
void outlet_commit_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor);
/* Frees it. */
void outlet_abort_locked(struct outlet *fresh, struct executor *executor);

/* Sets the wiring of the pool's present workers, which it takes. */
void outlet_set_locked(struct outlets *outlets, struct wiring *wiring, struct executor *executor);

/* The outputs of a pool's present workers; in a read section. */
static inline struct wiring_slot *outlet_present(struct outlets *outlets)
{
    /* [O1] pairs with the release in outlet_commit_locked. */
    return &atomic_load_explicit(&outlets->present, memory_order_acquire)->slot;
}

#endif
