/* SPDX-License-Identifier: MIT */
#include "host/pages/stuck.h"

#include <inttypes.h>

/* False: no thread is stuck, or this dispatcher may block. */
static bool look_at(const struct dispatcher_figures *dispatcher, struct stuck_figures *out)
{
    if (dispatcher->policy.budget == 1)
        return false;
    out->stuck = dispatcher->stuck;
    out->spares = dispatcher->spares;
    out->is_blocked = out->stuck > 0 && out->stuck >= dispatcher->threads;
    return out->stuck > 0;
}

struct stuck_figures stuck_look(const struct overview *overview)
{
    struct runtime *runtime = overview->assembly->runtime;
    struct dispatcher_figures dispatcher;
    struct stuck_figures sum = { 0 };

    for (uint32_t i = 0; runtime_look_at_dispatcher(runtime, i, &dispatcher); i++) {
        struct stuck_figures one;

        if (!look_at(&dispatcher, &one))
            continue;
        sum.stuck += one.stuck;
        sum.spares += one.spares;
        sum.is_blocked |= one.is_blocked;
    }
    return sum;
}

bool stuck_look_for_progress(const struct overview *overview, struct stuck_progress *progress)
{
    struct dispatcher_figures dispatcher;
    struct stuck_figures stuck;
    bool moves = true;

    for (uint32_t i = 0; runtime_look_at_dispatcher(overview->assembly->runtime, i, &dispatcher);
         i++) {
        if (look_at(&dispatcher, &stuck) && stuck.is_blocked)
            moves = moves && dispatcher.turns != progress->turns[i];
        progress->turns[i] = dispatcher.turns;
    }
    return moves;
}

static void print_one(const struct dispatcher_figures *dispatcher,
                      const struct stuck_figures *figures, const char *prefix, FILE *stream)
{
    fprintf(stream,
            "%sdispatcher %s: threads in a callback that takes longer than turn_warning: %" PRIu32
            "; spare threads in their place: %" PRIu32 "%s\n",
            prefix, dispatcher->name, figures->stuck, figures->spares,
            figures->is_blocked ? "; no thread is left" : "");
}

void stuck_print(const struct overview *overview, const char *blocked, const char *warning,
                 FILE *stream)
{
    struct runtime *runtime = overview->assembly->runtime;
    struct dispatcher_figures dispatcher;

    for (uint32_t i = 0; runtime_look_at_dispatcher(runtime, i, &dispatcher); i++) {
        struct stuck_figures figures;
        const char *prefix;

        if (!look_at(&dispatcher, &figures))
            continue;
        prefix = figures.is_blocked ? blocked : warning;
        if (prefix)
            print_one(&dispatcher, &figures, prefix, stream);
    }
}
