/* SPDX-License-Identifier: MIT */
#include "actor/place.h"

#include <stdlib.h>
#include <string.h>

#include "actor/handover.h"
#include "actor/runtime.h"

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
    list_init(&place->backed_up);
    *out = place;
    return 0;
}

void place_label(struct place *place)
{
    names_label(&place->actor->runtime->names, &place->name, place->path, actor_pid(place->actor));
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    outbox_destroy(place_outbox(place));
    spec_unref(place->opened_with);
    spec_unref(place->respec);
    free(place->age);
    free(place->hand_age);
    handover_unref(atomic_load_explicit(&place->handover, memory_order_relaxed));
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

struct outbox *place_make_outbox(struct place *place)
{
    struct outbox *outbox = place_outbox(place);

    if (outbox)
        return outbox;
    outbox = outbox_create(place->actor);
    /* Release pairs with the acquire in place_throttled: the fields are zero at first. */
    atomic_store_explicit(&place->outbox, outbox, memory_order_release);
    return outbox;
}

uint32_t place_throttled(const struct place *place)
{
    const struct outbox *outbox = atomic_load_explicit(&place->outbox, memory_order_acquire);

    /* Relaxed: a figure for people. */
    return outbox ? atomic_load_explicit(&outbox->token_wait.messages, memory_order_relaxed) : 0;
}

uint32_t place_waits_at(const struct place *place)
{
    /* As above. */
    const struct outbox *outbox = atomic_load_explicit(&place->outbox, memory_order_acquire);

    return outbox ? atomic_load_explicit(&outbox->waits_at, memory_order_relaxed) : 0;
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
