/* SPDX-License-Identifier: MIT */
#include "host/run/crash_watch.h"

#include <stddef.h>

#include "host/crash/crash.h"

struct watched_thread {
    struct callback_watch watch; /* zeros: not a dispatcher's thread */
    struct crash_stack stack;
    struct callback_note note; /* read last */
    struct crash_note reported;
};

/* A signal handler runs on the thread that crashed, and has only this variable to start from. */
static struct watched_thread *this_thread(void)
{
    static _Thread_local struct watched_thread thread;

    return &thread;
}

const struct crash_note *crash_watch_current(void)
{
    struct watched_thread *thread = this_thread();
    const struct callback_note *note = &thread->note;

    if (!callback_watch_read(&thread->watch, &thread->note))
        return NULL;
    thread->reported = (struct crash_note){
        .pool = note->place,
        .code = note->code,
        .tag = note->tag,
        .label = note->message_label,
        .identity = note->identity,
        .attempt = note->attempt,
        .worker = note->worker,
        .callback = note->callback,
        .inside = note->inside,
    };
    return &thread->reported;
}

bool crash_watch_turn(struct turn_note *out)
{
    const struct watched_thread *thread = this_thread();

    return thread->watch.executor && executor_read_turn(thread->watch.executor, out);
}

void crash_watch_begin(void)
{
    const struct crash_setup setup = { .current = crash_watch_current, .effect = "the host ends" };

    (void)crash_install(&setup);
}

void crash_watch_end(void)
{
    crash_uninstall();
}

void crash_watch_thread_start(struct executor *executor)
{
    struct watched_thread *thread = this_thread();

    callback_watch_begin(&thread->watch, executor);
    (void)crash_thread_begin(&thread->stack);
}

void crash_watch_thread_end(struct executor *executor)
{
    struct watched_thread *thread = this_thread();

    (void)executor;
    crash_thread_end(&thread->stack);
    callback_watch_end(&thread->watch);
}
