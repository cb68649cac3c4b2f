#include "host/run/crash_watch.h"

#include <stddef.h>

#include "actor/place.h"
#include "host/run/crash.h"
#include "pool/pool.h"

struct watched_thread {
    struct executor *executor; /* NULL: not a dispatcher's */
    struct crash_stack stack;
    struct crash_note note;
};

/* A signal handler runs on the thread that crashed and has nothing else to start from. */
static struct watched_thread *this_thread(void)
{
    static _Thread_local struct watched_thread thread;

    return &thread;
}

const struct crash_note *crash_watch_current(void)
{
    struct watched_thread *thread = this_thread();
    const struct actor *actor = thread->executor ? thread->executor->current : NULL;

    if (!actor || !actor->spec)
        return NULL;
    thread->note = (struct crash_note){
        .path = actor_path(actor),
        .pool = actor->place && actor->place->pool ? actor->place->pool->path : actor_path(actor),
        .plugin = actor->spec->plugin,
        .version = actor->spec->version,
        .generation = actor->spec->generation,
        .worker = actor->place ? actor->place->index : 0,
        .behaviour = actor->spec->behaviour->name,
        .tag = actor->current && actor->current->public.tag ? actor->current->public.tag->name
                                                            : NULL,
    };
    return &thread->note;
}

void crash_watch_begin(int descriptor)
{
    (void)crash_install(crash_watch_current, descriptor);
}

void crash_watch_end(void)
{
    crash_uninstall();
}

void crash_watch_thread_start(struct executor *executor)
{
    this_thread()->executor = executor;
    (void)crash_thread_begin(&this_thread()->stack);
}

void crash_watch_thread_end(struct executor *executor)
{
    (void)executor;
    crash_thread_end(&this_thread()->stack);
    this_thread()->executor = NULL;
}
