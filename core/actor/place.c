#include "actor/place.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/children.h"
#include <string.h>

/* There is room where the place waits for it: its actor looks. */
static void wake(struct waiter *waiter, struct executor *executor)
{
    struct actor *actor = LIST_ENTRY(waiter, struct place, waiter)->actor;

    (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_ROOM);
}

int place_create(const char *path, uint32_t index, struct place **out)
{
    struct place *place = calloc(1, sizeof *place);
    int length;

    if (!place)
        return WEIR_ENOMEM;
    length = snprintf(place->path, sizeof place->path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof place->path) {
        free(place);
        return WEIR_EINVALID;
    }
    place->index = index;
    list_init(&place->link);
    list_init(&place->pulling);
    waiter_init(&place->waiter, wake);
    *out = place;
    return 0;
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    spec_unref(place->opened_with);
    spec_unref(place->respec);
    position_clear(&place->left);
    position_clear(&place->from);
    children_destroy(atomic_load_explicit(&place->children, memory_order_relaxed));
    free(atomic_load_explicit(&place->open_reason, memory_order_relaxed)); /* nobody else is left */
    free(place);
}

void place_keep_open_reason(struct place *place, const char *text)
{
    /* Relaxed: written in turns of this actor only. */
    if (text[0] && !atomic_load_explicit(&place->open_reason, memory_order_relaxed))
        /* Release pairs with the acquire in place_open_reason: the words are there. */
        atomic_store_explicit(&place->open_reason, strdup(text), memory_order_release);
}

const char *place_open_reason(const struct place *place)
{
    const char *reason = atomic_load_explicit(&place->open_reason, memory_order_acquire);

    return reason ? reason : "";
}
