/* SPDX-License-Identifier: MIT */
/* Sources and stand-alone actors in the face: face/source.h, face/standalone.h. */
#include "actor/find.h"
#include "actor/misuse.h"
#include "actor/source.h"
#include "actor/standalone.h"

/* --- sources -------------------------------------------------------------------------------- */

weir_pid source_pid(const struct source *source)
{
    return source->pid;
}

const char *source_path(const struct source *source)
{
    return source->path;
}

bool source_has_ended(const struct source *source)
{
    /* Acquire pairs with the release in source.c: all writes of the actor are visible. */
    return atomic_load_explicit(&source->ended, memory_order_acquire);
}

void source_reopen(struct source *source, struct executor *executor)
{
    struct actor *actor;

    if (actor_find_alive(source->runtime, source->pid, &actor) == 0)
        (void)actor_signal(actor, actor_serial_of(source->pid), executor, SIGNAL_REOPEN);
}

void source_look(struct source *source, struct source_figures *out)
{
    *out = (struct source_figures){
        .is_exhausted = atomic_load_explicit(&source->exhausted, memory_order_acquire),
        .emitted = source_emitted(source),
        .is_throttled = source_is_throttled(source),
        .is_waiting = source_is_waiting(source),
        .misuses = misuses_total(&source->misuses),
    };
    dead_letters_figures(&source->dead, &out->dead);
}

/* --- stand-alone actors --------------------------------------------------------------------- */

weir_pid standalone_pid(const struct standalone *standalone)
{
    return standalone->pid;
}

const char *standalone_name(const struct standalone *standalone)
{
    return standalone->name;
}

bool standalone_has_ended(const struct standalone *standalone)
{
    /* Acquire pairs with the release in standalone.c: all writes of the actor are visible. */
    return atomic_load_explicit(&standalone->ended, memory_order_acquire);
}
