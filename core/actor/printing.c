/* SPDX-License-Identifier: MIT */
#include "actor/printing.h"

#include "actor/actor_ext.h"
#include "actor/place.h"
#include "actor/runtime.h"

/* 10 ms: in that time a quick reader reads the whole buffer, at some 100 MB/s */
#define LOOK_NS 10000000u

static bool text_is_full(const struct runtime_options *options)
{
    return options->print_is_full && options->print_is_full(options->print_context);
}

static bool store_is_full(const struct actor *actor)
{
    const struct dead_store *store = &actor->runtime->options.dead_store;

    return store->is_full && store->is_full(store->context, place_subject(actor));
}

static void wait(struct actor *actor)
{
    if ((actor->flags & (ACTOR_PRINTS | ACTOR_CLOSING)) || !actor_ext_get(actor))
        return;
    actor->flags |= ACTOR_PRINTS;
    actor_ext_arm(actor, executor_look_at_clock(actor->executor) + LOOK_NS);
}

void printing_print(struct actor *actor, const char *text, size_t size)
{
    const struct runtime_options *options = &actor->runtime->options;

    if (!options->print)
        return;
    lock_expect_none_of_core();
    options->print(options->print_context, text, size);
    if (text_is_full(options))
        wait(actor);
}

void printing_store(struct actor *actor)
{
    if (store_is_full(actor))
        wait(actor);
}

uint64_t printing_time(struct actor *actor, uint64_t now_ns)
{
    const struct runtime_options *options = &actor->runtime->options;

    if (!(actor->flags & ACTOR_PRINTS))
        return TIMER_NEVER;
    if (text_is_full(options) || store_is_full(actor))
        return now_ns + LOOK_NS;
    actor->flags &= (uint8_t)~ACTOR_PRINTS;
    return TIMER_NEVER;
}
