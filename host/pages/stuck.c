#include "host/pages/stuck.h"

#include <inttypes.h>

/* Relaxed, all: figures for people. False: no thread is stuck, or this dispatcher may block. */
static bool look_at(const struct dispatcher *dispatcher, struct stuck_figures *out)
{
    uint32_t threads = atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed);

    if (atomic_load_explicit(&dispatcher->budget, memory_order_relaxed) == 1)
        return false;
    out->stuck = atomic_load_explicit(&dispatcher->stuck, memory_order_relaxed);
    out->spares = atomic_load_explicit(&dispatcher->spares, memory_order_relaxed);
    out->is_blocked = out->stuck > 0 && out->stuck >= threads;
    return out->stuck > 0;
}

/* Acquire pairs with the release that counts a new dispatcher, so its fields are visible. */
static uint32_t count_of(const struct runtime *runtime)
{
    return atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire);
}

struct stuck_figures stuck_look(const struct overview *overview)
{
    const struct runtime *runtime = overview->assembly->runtime;
    struct stuck_figures sum = { 0 };

    for (uint32_t i = 0; i < count_of(runtime); i++) {
        struct stuck_figures one;

        if (!look_at(runtime->dispatchers[i], &one))
            continue;
        sum.stuck += one.stuck;
        sum.spares += one.spares;
        sum.is_blocked |= one.is_blocked;
    }
    return sum;
}

static void tell_one(struct dispatcher *dispatcher, const struct stuck_figures *figures,
                     const char *prefix, FILE *stream)
{
    char name[DISPATCHER_NAME_MAX];

    if (!dispatcher_try_name(dispatcher, name))
        (void)snprintf(name, sizeof name, "?");
    fprintf(stream,
            "%sdispatcher %s: threads in a callback that takes longer than turn_warning: %" PRIu32
            "; spare threads in their place: %" PRIu32 "%s\n",
            prefix, name, figures->stuck, figures->spares,
            figures->is_blocked ? "; no thread is left" : "");
}

void stuck_tell(const struct overview *overview, const char *blocked, const char *warning,
                FILE *stream)
{
    const struct runtime *runtime = overview->assembly->runtime;

    for (uint32_t i = 0; i < count_of(runtime); i++) {
        struct stuck_figures figures;
        const char *prefix;

        if (!look_at(runtime->dispatchers[i], &figures))
            continue;
        prefix = figures.is_blocked ? blocked : warning;
        if (prefix)
            tell_one(runtime->dispatchers[i], &figures, prefix, stream);
    }
}
