#include "pool/outlet.h"

#include <assert.h>
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

/* Has one user: whoever makes it. */
static struct outlet *create(struct outlets *outlets, const struct weir_output *rows,
                             struct wiring *wiring)
{
    struct outlet *outlet = calloc(1, sizeof *outlet);

    if (!outlet)
        return NULL;
    outlet->rows = rows;
    outlet->table = outlets->tables++;
    outlet->users = 1;
    wiring->table = outlet->table;
    atomic_init(&outlet->slot.wiring, wiring);
    list_append(&outlets->all, &outlet->link);
    return outlet;
}

static void destroy(struct outlet *outlet)
{
    wiring_destroy(atomic_load_explicit(&outlet->slot.wiring, memory_order_relaxed));
    wiring_destroy(outlet->next);
    free(outlet);
}

static void free_retired(struct retired *retired, struct reader *reader)
{
    (void)reader;
    destroy((struct outlet *)(void *)((char *)retired - offsetof(struct outlet, retired)));
}

/* Who reads where the present workers lead may be looking at it still. */
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
    struct outlet *outlet;

    list_init(&outlets->all);
    outlet = create(outlets, rows_of(spec), wiring);
    if (!outlet)
        return WEIR_ENOMEM;
    atomic_init(&outlets->present, outlet);
    outlets->of_new = outlet;
    return 0;
}

void outlet_end(struct outlets *outlets)
{
    for (struct list *node = outlets->all.next, *next; node != &outlets->all; node = next) {
        next = node->next;
        destroy(LIST_ENTRY(node, struct outlet, link));
    }
}

void outlet_join_locked(struct outlets *outlets, struct place *place)
{
    place->wiring = &outlets->of_new->slot;
    outlets->of_new->users++;
}

void outlet_leave_locked(struct outlets *outlets, struct place *place, struct executor *executor)
{
    (void)outlets;
    drop_locked(LIST_ENTRY(place->wiring, struct outlet, slot), executor);
}

/* --- changes -------------------------------------------------------------------------------- */

static const struct binding *find_by_name(const struct weir_output *rows,
                                          const struct wiring *wiring, const char *name)
{
    for (uint32_t i = 0; rows && rows[i].name && i < wiring->count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &wiring->bindings[i];
    return NULL;
}

/* Where the workers of another table lead when those of `rows` lead as `wiring` says. */
static struct wiring *follow(struct outlet *outlet, const struct weir_output *rows,
                             const struct wiring *wiring)
{
    const struct wiring *present = atomic_load_explicit(&outlet->slot.wiring, memory_order_relaxed);
    struct wiring *next = wiring_create(present->count);
    bool is_named = outlet->rows != NULL;

    for (uint32_t i = 0; next && i < present->count; i++) {
        const struct binding *found;

        is_named = is_named && outlet->rows[i].name;
        found = is_named ? find_by_name(rows, wiring, outlet->rows[i].name) : NULL;
        next->bindings[i] = found ? *found : present->bindings[i];
    }
    return next;
}

static void forget_next_locked(struct outlets *outlets)
{
    for (struct list *node = outlets->all.next; node != &outlets->all; node = node->next) {
        struct outlet *outlet = LIST_ENTRY(node, struct outlet, link);

        wiring_destroy(outlet->next);
        outlet->next = NULL;
    }
}

/* What the workers of other tables than that of `led` are to follow. */
static int prepare_others_locked(struct outlets *outlets, const struct outlet *led,
                                 const struct wiring *wiring)
{
    for (struct list *node = outlets->all.next; node != &outlets->all; node = node->next) {
        struct outlet *outlet = LIST_ENTRY(node, struct outlet, link);

        if (outlet == led)
            continue;
        outlet->next = follow(outlet, led->rows, wiring);
        if (!outlet->next)
            return WEIR_ENOMEM;
        outlet->next->table = outlet->table;
    }
    return 0;
}

/* Takes back an outlet that nobody has seen; its wiring stays the caller's. */
static void uncreate_locked(struct outlet *fresh)
{
    list_remove(&fresh->link);
    free(fresh);
}

int outlet_prepare_locked(struct outlets *outlets, const struct spec *spec, struct wiring *wiring,
                          struct outlet **out_fresh)
{
    struct outlet *present = present_locked(outlets);
    struct outlet *fresh = NULL;

    if (rows_of(spec) != present->rows) {
        fresh = create(outlets, rows_of(spec), wiring);
        if (!fresh)
            return WEIR_ENOMEM;
    }
    if (prepare_others_locked(outlets, fresh ? fresh : present, wiring) != 0) {
        forget_next_locked(outlets);
        if (fresh)
            uncreate_locked(fresh);
        return WEIR_ENOMEM;
    }
    if (!fresh) {
        wiring->table = present->table;
        present->next = wiring;
    }
    *out_fresh = fresh;
    return 0;
}

void outlet_commit_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor)
{
    struct outlet *old = present_locked(outlets);

    for (struct list *node = outlets->all.next; node != &outlets->all; node = node->next) {
        struct outlet *outlet = LIST_ENTRY(node, struct outlet, link);

        if (outlet->next)
            wiring_publish(&outlet->slot, outlet->next, &executor->reader);
        outlet->next = NULL;
    }
    if (!fresh)
        return;
    outlets->of_new = fresh;
    /* [O1] pairs with the acquire in outlet_present. */
    atomic_store_explicit(&outlets->present, fresh, memory_order_release);
    drop_locked(old, executor);
}

void outlet_abort_locked(struct outlets *outlets, struct outlet *fresh, struct executor *executor)
{
    forget_next_locked(outlets);
    if (fresh)
        drop_locked(fresh, executor);
}

void outlet_set_locked(struct outlets *outlets, struct wiring *wiring, struct executor *executor)
{
    struct outlet *present = present_locked(outlets);

    wiring->table = present->table;
    wiring_publish(&present->slot, wiring, &executor->reader);
}

/* --- former workers ------------------------------------------------------------------------- */

/* A prepared change has one of its own, which nobody has been behind yet. */
static bool is_former_locked(struct outlets *outlets, const struct outlet *outlet)
{
    return outlet->users > 0 && outlet->table < present_locked(outlets)->table;
}

bool outlet_has_former(struct pool *pool)
{
    bool has = false;

    pthread_mutex_lock(&pool->lock);
    for (struct list *node = pool->outlets.all.next; node != &pool->outlets.all; node = node->next)
        has |= is_former_locked(&pool->outlets, LIST_ENTRY(node, struct outlet, link));
    pthread_mutex_unlock(&pool->lock);
    return has;
}

static bool is_in(struct runtime *runtime, weir_pid pid, const struct pool *above)
{
    const struct pool *pool = pool_find(runtime, pid);

    while (pool && pool != above)
        pool = pool->parent;
    return pool != NULL;
}

static bool leads_to(struct runtime *runtime, struct outlet *outlet, const struct pool *fed)
{
    const struct wiring *wiring = wiring_get(&outlet->slot);

    for (uint32_t i = 0; i < wiring->count; i++)
        if (wiring->bindings[i].target && is_in(runtime, wiring->bindings[i].target, fed))
            return true;
    return false;
}

/* The latest time at which one of the places behind an outlet must have left; 0: there is none. */
static uint64_t last_due_locked(const struct list *places, const struct outlet *outlet,
                                uint64_t due)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        const struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->wiring != &outlet->slot || due == 0)
            continue;
        due = place->told_due_ns == 0 ? 0 : place->told_due_ns > due ? place->told_due_ns : due;
    }
    return due;
}

bool outlet_former_lead_to(struct pool *pool, const struct pool *fed, uint64_t *out_due_ns)
{
    bool leads = false;
    uint64_t due = 1;

    pthread_mutex_lock(&pool->lock);
    for (struct list *node = pool->outlets.all.next; node != &pool->outlets.all;
         node = node->next) {
        struct outlet *outlet = LIST_ENTRY(node, struct outlet, link);

        if (!is_former_locked(&pool->outlets, outlet) || !leads_to(pool->runtime, outlet, fed))
            continue;
        leads = true;
        due = last_due_locked(&pool->leavers, outlet, due);
        due = last_due_locked(&pool->closers, outlet, due);
    }
    pthread_mutex_unlock(&pool->lock);
    *out_due_ns = due;
    return leads;
}
