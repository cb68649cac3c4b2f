/*
 * pool/outlet.h - where the outputs of a pool's workers lead, by the table of outputs they know.
 *
 * A worker emits by number: that of a row in its behaviour's table. So a change that brings another
 * table opens the new workers behind an outlet of their own, and the old ones keep theirs until
 * they have ended. It follows by name: a row that the new table has too leads where that leads
 * from the commit on; any other leads where it led. Workers of one table share one outlet, which a
 * change re-binds for all of them.
 *
 * Life: outlet_begin, then places join and leave, and changes are prepared and then committed or
 * aborted, one at a time; an outlet goes with its last user. All under pool->lock.
 */
#ifndef POOL_OUTLET_H
#define POOL_OUTLET_H

#include "actor/wiring.h"
#include "base/list.h"

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
    struct list link;               /* pool->lock: in the pool's */
    struct wiring *next;            /* pool->lock: of a prepared change; NULL: stays as it is */
    struct retired retired;
};

/* The outlets of one pool. */
struct outlets {
    struct list all;                  /* pool->lock */
    _Atomic(struct outlet *) present; /* written under pool->lock, read in a read section */
    struct outlet *of_new;            /* pool->lock: behind which new places are made */
    uint32_t tables;                  /* pool->lock: how many there have been */
};

/* The first one, for workers of `spec` (may be NULL). Takes the wiring on 0. WEIR_ENOMEM. */
int outlet_begin(struct outlets *outlets, const struct spec *spec, struct wiring *wiring);
/* Frees all of them: no worker is left. */
void outlet_end(struct outlets *outlets);

/* A place that is made leads its outputs through the outlet of new ones. */
void outlet_join_locked(struct outlets *outlets, struct place *place);
/* A place has ended, or never begun. */
void outlet_leave_locked(struct outlets *outlets, struct place *place, struct executor *executor);

/*
 * Prepares that the workers of `spec` lead as `wiring` says, and those of other tables follow by
 * name. `out_fresh` is the outlet of new workers when theirs is another table, else NULL. Takes the
 * wiring on 0. WEIR_ENOMEM: nothing has happened.
 */
int outlet_prepare_locked(struct outlets *outlets, const struct spec *spec, struct wiring *wiring,
                          struct outlet **out_fresh);
/* Cannot fail. */
void outlet_commit_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor);
/* Takes it back. */
void outlet_abort_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor);

/* Where the pool's present workers lead: takes the wiring. */
void outlet_set_locked(struct outlets *outlets, struct wiring *wiring, struct executor *executor);

/* Whether a pool has workers that know other outputs than its present ones. Any thread. */
bool outlet_has_former(struct pool *pool);
/*
 * Whether outputs of such workers lead to `fed` or to a pool in it, and by when the last of them
 * must have left, on the runtime's clock; 0 = whenever it has. Any thread, in a read section.
 */
bool outlet_former_lead_to(struct pool *pool, const struct pool *fed, uint64_t *out_due_ns);

/* Where the present workers of a pool lead their outputs; in a read section. */
static inline struct wiring_slot *outlet_present(struct outlets *outlets)
{
    /* [O1] pairs with the release in outlet_commit_locked. */
    return &atomic_load_explicit(&outlets->present, memory_order_acquire)->slot;
}

#endif
