#include "actor/printing.h"

#include "actor/actor_ext.h"
#include "actor/runtime.h"

/* 10 ms: in that time a quick reader reads the whole buffer, at some 100 MB/s */
#define LOOK_NS 10000000u

static bool is_full(const struct runtime_options *options)
{
    return options->print_is_full && options->print_is_full(options->print_context);
}

void printing_print(struct actor *actor, const char *text, size_t size)
{
    const struct runtime_options *options = &actor->runtime->options;

    if (!options->print)
        return;
    options->print(options->print_context, text, size);
    if ((actor->flags & (ACTOR_PRINTS | ACTOR_CLOSING)) || !is_full(options) ||
        !actor_ext_get(actor))
        return;
    actor->flags |= ACTOR_PRINTS;
    actor_ext_arm(actor, executor_look_at_clock(actor->executor) + LOOK_NS);
}

uint64_t printing_time(struct actor *actor, uint64_t now_ns)
{
    if (!(actor->flags & ACTOR_PRINTS))
        return TIMER_NEVER;
    if (is_full(&actor->runtime->options))
        return now_ns + LOOK_NS;
    actor->flags &= (uint8_t)~ACTOR_PRINTS;
    return TIMER_NEVER;
}
