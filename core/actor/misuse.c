/* SPDX-License-Identifier: MIT */
#include "actor/misuse.h"

#include "actor/place.h"
#include "actor/runtime.h"

struct words {
    const char *event;
    const char *effect;
};

static const struct words words[] = {
#define MISUSE_WORDS(name, event, effect) { event, effect },
    MISUSE_LIST(MISUSE_WORDS)
#undef MISUSE_WORDS
};

/* True for the first report of a generation. */
static bool claim(_Atomic uint64_t *logged, uint64_t generation)
{
    uint64_t before = atomic_load_explicit(logged, memory_order_relaxed);

    while (before <= generation) {
        if (atomic_compare_exchange_weak_explicit(logged, &before, generation + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return false;
}

static bool count(struct actor *actor, enum misuse misuse)
{
    struct misuses *misuses = actor->place ? actor->place->misuses : NULL;

    if (!misuses)
        return true;
    atomic_fetch_add_explicit(&misuses->counts[misuse], 1, memory_order_relaxed);
    return claim(&misuses->logged[misuse], actor->spec->generation);
}

void misuse_report(struct actor *actor, enum misuse misuse, int64_t value)
{
    const struct spec *spec = actor->spec;
    const struct place *place = actor->place;

    if (!count(actor, misuse))
        return;
    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, place_path(actor), words[misuse].event,
              weir_str("pool", place && place_member_of(actor) ? place->label : "-"),
              weir_uint("worker", place ? place->index : 0),
              weir_str("plugin", spec->plugin ? spec->plugin : "-"),
              weir_str("version", spec->version ? spec->version : "-"),
              weir_uint("generation", spec->generation),
              weir_str("behaviour", spec->behaviour->name), weir_int("value", value),
              weir_str("effect", words[misuse].effect), weir_str("from_now_on", "only counted"));
}

uint64_t misuses_total(struct misuses *misuses)
{
    uint64_t sum = 0;

    for (int i = 0; i < MISUSES; i++)
        sum += atomic_load_explicit(&misuses->counts[i], memory_order_relaxed);
    return sum;
}

void misuses_absorb(struct misuses *misuses, struct misuses *gone)
{
    for (int i = 0; i < MISUSES; i++)
        atomic_fetch_add_explicit(&misuses->counts[i],
                                  atomic_load_explicit(&gone->counts[i], memory_order_relaxed),
                                  memory_order_relaxed);
}
