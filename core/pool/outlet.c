/* SPDX-License-Identifier: MIT */
#include "pool/outlet.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "actor/place.h"
#include "actor/runtime.h"
#include "pool/pool.h"

/* --- one ------------------------------------------------------------------------------------ */

static const struct weir_output *rows_of(const struct spec *spec)
{
    return spec ? spec->behaviour->outputs : NULL;
}

static struct outlet *present_locked(struct outlets *outlets)
{
    /* Relaxed: written under the same lock. */
    return atomic_load_explicit(&outlets->present, memory_order_relaxed);
}

/* The outlet has one user: its creator. */
static struct outlet *create(struct outlets *outlets, const struct weir_output *rows,
                             struct wiring *wiring)
{
    struct outlet *outlet = calloc(1, sizeof *outlet);

    if (!outlet)
        return NULL;
    outlet->rows = rows;
    outlet->table = outlets->tables++;
    outlet->users = 1;
    list_append(&outlets->used, &outlet->link);
    wiring->table = outlet->table;
    atomic_init(&outlet->slot.wiring, wiring);
    return outlet;
}

static void destroy(struct outlet *outlet)
{
    wiring_destroy(atomic_load_explicit(&outlet->slot.wiring, memory_order_relaxed));
    free(outlet);
}

static void free_retired(struct retired *retired, struct reader *reader)
{
    (void)reader;
    destroy((struct outlet *)(void *)((char *)retired - offsetof(struct outlet, retired)));
}

/* Retired, since a reader of the present wiring may still use it. */
static void drop_locked(struct outlet *outlet, struct executor *executor)
{
    if (--outlet->users > 0)
        return;
    list_remove(&outlet->link);
    outlet->retired.free = free_retired;
    reader_retire(&executor->reader, &outlet->retired);
}

/* --- a pool's ------------------------------------------------------------------------------- */

int outlet_begin(struct outlets *outlets, const struct spec *spec, struct wiring *wiring)
{
    struct outlet *outlet = create(outlets, rows_of(spec), wiring);

    if (!outlet)
        return WEIR_ENOMEM;
    atomic_init(&outlets->present, outlet);
    outlets->of_new = outlet;
    return 0;
}

void outlet_end(struct outlets *outlets)
{
    struct list *node = outlets->used.next;

    while (node != &outlets->used) {
        struct outlet *outlet = LIST_ENTRY(node, struct outlet, link);

        node = node->next;
        destroy(outlet);
    }
}

void outlet_join_locked(struct outlets *outlets, struct place *place)
{
    place->wiring = &outlets->of_new->slot;
    outlets->of_new->users++;
}

void outlet_leave_locked(struct place *place, struct executor *executor)
{
    drop_locked(LIST_ENTRY(place->wiring, struct outlet, slot), executor);
}

/* --- changes -------------------------------------------------------------------------------- */

/* The number of the output of that name; the count of the wiring if there is none. */
static uint32_t find_output(const struct outlet *outlet, const struct wiring *wiring,
                            const char *name)
{
    uint32_t i = 0;

    while (i < wiring->count && !(outlet->rows && strcmp(outlet->rows[i].name, name) == 0))
        i++;
    return i;
}

/* The outputs of a new outlet share the buckets of the present outputs of the same names. */
static void share_tokens(struct outlet *fresh, struct outlet *present)
{
    struct wiring *wiring = atomic_load_explicit(&fresh->slot.wiring, memory_order_relaxed);
    const struct wiring *former = wiring_get(&present->slot);

    for (uint32_t i = 0; fresh->rows && wiring->throttles && i < wiring->count; i++) {
        uint32_t from = find_output(present, former, fresh->rows[i].name);

        if (from < former->count)
            wiring_share_tokens(wiring, i, former, from);
    }
}

int outlet_prepare_locked(struct outlets *outlets, const struct spec *spec, struct wiring **wiring,
                          struct outlet **out_fresh)
{
    struct outlet *fresh;

    if (rows_of(spec) == present_locked(outlets)->rows)
        return 0;
    fresh = create(outlets, rows_of(spec), *wiring);
    if (!fresh)
        return WEIR_ENOMEM;
    share_tokens(fresh, present_locked(outlets));
    *wiring = NULL;
    *out_fresh = fresh;
    return 0;
}

void outlet_commit_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor)
{
    struct outlet *old = present_locked(outlets);

    outlets->of_new = fresh;
    wiring_apply_rates(wiring_get(&fresh->slot), executor_look_at_clock(executor));
    /* [O1] pairs with the acquire in outlet_present. */
    atomic_store_explicit(&outlets->present, fresh, memory_order_release);
    drop_locked(old, executor);
}

void outlet_abort_locked(struct outlet *fresh, struct executor *executor)
{
    drop_locked(fresh, executor);
}

void outlet_set_locked(struct outlets *outlets, struct wiring *wiring, struct executor *executor)
{
    struct outlet *present = present_locked(outlets);

    wiring->table = present->table;
    wiring_publish(&present->slot, wiring, executor);
}

/* --- former workers ------------------------------------------------------------------------- */

/* A former worker may use pools that the pool's present workers do not name. */
static bool is_former_locked(struct pool *pool, const struct place *place)
{
    return place->wiring != &present_locked(&pool->outlets)->slot ||
           (place->names_pools && place->made_of != pool->spec);
}

/* True when a place is a former worker; `due` becomes the latest time at which such a place must
 * have left, 0 when one of them has no such time. */
static bool look_for_former_locked(struct pool *pool, const struct list *places, uint64_t *due)
{
    bool found = false;

    for (struct list *node = places->next; node != places; node = node->next) {
        const struct place *place = LIST_ENTRY(node, struct place, link);

        if (!is_former_locked(pool, place))
            continue;
        found = true;
        if (*due > 0 && (place->ordered_due_ns == 0 || place->ordered_due_ns > *due))
            *due = place->ordered_due_ns;
    }
    return found;
}

bool outlet_has_former(struct pool *pool, uint64_t *out_due_ns)
{
    uint64_t due = 1;
    bool has;

    lock_acquire(&pool->lock);
    has = look_for_former_locked(pool, &pool->leavers, &due);
    has |= look_for_former_locked(pool, &pool->closers, &due);
    lock_release(&pool->lock);
    *out_due_ns = due;
    return has;
}
