#include "actor/place.h"

#include <stdlib.h>
#include <string.h>

#include "actor/runtime.h"
#include "message/control_queue.h"

/* There is room for which the place waits: wakes its actor. */
static void wake(struct waiter *waiter, struct executor *executor)
{
    struct actor *actor = LIST_ENTRY(waiter, struct place, waiter)->actor;
    uint32_t serial = actor_serial_of(actor_pid(actor));
    bool asleep;

    if (control_queue_signal(&actor->mailbox, serial, SIGNAL_ROOM, &asleep) != 0)
        return;
    if (asleep)
        executor_submit_behind(executor, actor->dispatcher, &actor->schedulable);
    else
        actor_call(actor);
}

int place_create(const char *path, uint32_t index, struct place **out)
{
    size_t length = strlen(path);
    struct place *place;

    if (length >= PLACE_PATH_MAX)
        return WEIR_EINVALID;
    place = calloc(1, sizeof *place + length + 1);
    if (!place)
        return WEIR_ENOMEM;
    memcpy(place->path, path, length + 1);
    place->index = index;
    place->seat = PLACE_NO_SEAT;
    list_init(&place->link);
    list_init(&place->pulling);
    waiter_init(&place->waiter, wake);
    *out = place;
    return 0;
}

void place_label(struct place *place)
{
    names_label(&place->actor->runtime->names, &place->name, place->path,
                actor_pid(place->actor));
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    tokens_leave(&place->token_wait);
    spec_unref(place->opened_with);
    spec_unref(place->respec);
    free(place->age);
    /* no other thread has it */
    free(atomic_load_explicit(&place->lease, memory_order_relaxed));
    free(atomic_load_explicit(&place->progress, memory_order_relaxed)); /* no other thread has it */
    /* no other thread has it */
    free(atomic_load_explicit(&place->open_reason, memory_order_relaxed));
    free(place);
}

struct place *place_get(struct actor *actor)
{
    if (!actor->place && place_create("", 0, &actor->place) == 0)
        actor->place->actor = actor;
    return actor->place;
}

struct progress *place_make_progress(struct place *place)
{
    /* Relaxed: written in turns of this actor only. */
    struct progress *progress = atomic_load_explicit(&place->progress, memory_order_relaxed);

    if (progress)
        return progress;
    progress = calloc(PLACE_UNITS, sizeof *progress);
    /* Release pairs with the acquire in place_progress. */
    atomic_store_explicit(&place->progress, progress, memory_order_release);
    return progress;
}

void place_keep_open_reason(struct place *place, const char *text)
{
    /* Relaxed: written in turns of this actor only. */
    if (text[0] && !atomic_load_explicit(&place->open_reason, memory_order_relaxed))
        /* Release pairs with the acquire in place_open_reason: the text is complete. */
        atomic_store_explicit(&place->open_reason, strdup(text), memory_order_release);
}

const char *place_subject(const struct actor *actor)
{
    return place_member_of(actor) ? actor->place->label : place_path(actor);
}

const char *place_open_reason(const struct place *place)
{
    const char *reason = atomic_load_explicit(&place->open_reason, memory_order_acquire);

    return reason ? reason : "";
}
