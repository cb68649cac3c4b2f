#include "host/run/crash_watch.h"

#include <stddef.h>

#include "host/run/crash.h"
#include "runtime.h"

struct watched_thread {
    struct executor *executor; /* NULL: not a dispatcher's */
    struct note *note;         /* on pages of its own; NULL: memory was out */
    const struct vault_chunk *names;
    struct crash_stack stack;
    struct crash_note told;
};

/* A signal handler runs on the thread that crashed and has nothing else to start from. */
static struct watched_thread *this_thread(void)
{
    static _Thread_local struct watched_thread thread;

    return &thread;
}

static const char *name_of(const struct watched_thread *thread, const struct weir_tag *tag)
{
    return vault_holds(thread->names, tag, sizeof *tag) ? vault_text(thread->names, tag->name)
                                                        : NULL;
}

/* A pointer in the note comes from memory that a plugin may have overwritten: it is followed into
 * the vault and nowhere else. */
const struct crash_note *crash_watch_current(void)
{
    struct watched_thread *thread = this_thread();
    const struct note *note = thread->note;

    if (!note || !note->label)
        return NULL;
    thread->told = (struct crash_note){
        .pool = vault_text(thread->names, note->place),
        .label = vault_text(thread->names, note->label),
        .tag = name_of(thread, note->tag),
        .worker = note->worker,
        .inside = note->inside,
    };
    return &thread->told;
}

const struct actor *crash_watch_actor(void)
{
    const struct watched_thread *thread = this_thread();

    return thread->executor ? thread->executor->current : NULL;
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
    struct watched_thread *thread = this_thread();
    struct runtime *runtime = executor->runtime;

    thread->executor = executor;
    thread->note = vault_map(sizeof *thread->note);
    if (thread->note)
        executor->note = thread->note;
    /* With the first name there is a first chunk. */
    (void)tag_table_label(&runtime->tags, "weir");
    thread->names = atomic_load_explicit(&runtime->tags.vault.first, memory_order_acquire);
    (void)crash_thread_begin(&thread->stack);
}

void crash_watch_thread_end(struct executor *executor)
{
    struct watched_thread *thread = this_thread();

    crash_thread_end(&thread->stack);
    executor->note = &executor->own_note;
    vault_unmap(thread->note, sizeof *thread->note);
    thread->note = NULL;
    thread->executor = NULL;
}
