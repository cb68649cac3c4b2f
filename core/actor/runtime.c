/* SPDX-License-Identifier: MIT */
#include "actor/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An executor for outside threads. It is reused, and freed with the runtime: messages may refer to
 * its cache as long as they live. */
struct entry {
    struct executor executor; /* first */
    uint32_t index;           /* const: in runtime->entries */
    _Atomic bool in_use;      /* set by the thread that takes it, cleared by the same */
};

bool runtime_is_own_thread(struct runtime *runtime)
{
    const struct executor *executor = executor_of_this_thread();

    return executor && executor->runtime == runtime;
}

/* --- outside threads ------------------------------------------------------------------------ */

/* The index of the entry that the calling thread used last, in any runtime; the thread tries it
 * first. It is a hint, so nothing needs to be undone when the thread or a runtime ends. */
static uint32_t *last_index(void)
{
    static _Thread_local uint32_t index;

    return &index;
}

static bool try_take(struct entry *entry)
{
    bool in_use = false;

    /* [O1] acquire pairs with the release in runtime_give_back: the former user's writes to the
     * executor are visible. */
    return atomic_compare_exchange_strong_explicit(&entry->in_use, &in_use, true,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* NULL: all are in use. */
static struct entry *take_free(struct runtime *runtime, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct entry *entry = runtime->entries[i];

        /* Relaxed: try_take decides; an entry in use is not written to. */
        if (!atomic_load_explicit(&entry->in_use, memory_order_relaxed) && try_take(entry))
            return entry;
    }
    return NULL;
}

/* An entry in use that no other thread sees yet. */
static struct entry *make_entry(struct runtime *runtime)
{
    struct entry *entry = aligned_alloc(64, (sizeof *entry + 63) / 64 * 64);

    if (!entry)
        return NULL;
    memset((void *)entry, 0, sizeof *entry);
    if (executor_init(&entry->executor, NULL, runtime, &runtime->reclaim, runtime->options.clock) !=
        0) {
        free(entry);
        return NULL;
    }
    entry->executor.cache.share.memory = runtime->memory;
    atomic_init(&entry->in_use, true);
    return entry;
}

static struct entry *add_entry_locked(struct runtime *runtime)
{
    uint32_t count = atomic_load_explicit(&runtime->entry_count, memory_order_relaxed);
    /* With all readers there is no room for another entry: each has a reader. */
    struct entry *entry = count < RECLAIM_READERS_MAX ? make_entry(runtime) : NULL;

    if (!entry)
        return NULL;
    entry->index = count;
    runtime->entries[count] = entry;
    /* [O2] release: a thread that sees the count sees the entry. */
    atomic_store_explicit(&runtime->entry_count, count + 1, memory_order_release);
    return entry;
}

static struct entry *add_entry(struct runtime *runtime)
{
    struct entry *entry;

    lock_acquire(&runtime->entry_lock);
    entry = add_entry_locked(runtime);
    lock_release(&runtime->entry_lock);
    return entry;
}

struct executor *runtime_borrow(struct runtime *runtime)
{
    uint32_t *last = last_index();
    /* [O2] acquire. */
    uint32_t count = atomic_load_explicit(&runtime->entry_count, memory_order_acquire);
    struct entry *entry = *last < count ? runtime->entries[*last] : NULL;

    if (entry && try_take(entry))
        return &entry->executor;
    entry = take_free(runtime, count);
    if (!entry)
        entry = add_entry(runtime);
    if (!entry)
        return NULL;
    *last = entry->index;
    return &entry->executor;
}

void runtime_give_back(struct executor *executor)
{
    struct entry *entry = (struct entry *)(void *)executor;

    cache_flush(&executor->cache);
    /* [O1] release. The runtime may be gone after it. */
    atomic_store_explicit(&entry->in_use, false, memory_order_release);
}

struct executor *runtime_enter(struct runtime *runtime)
{
    struct executor *executor = runtime_borrow(runtime);

    if (executor)
        runtime_resume(executor);
    return executor;
}

void runtime_leave(struct executor *executor)
{
    reader_rest(&executor->reader);
    runtime_give_back(executor);
}

void runtime_pause(struct executor *executor)
{
    reader_rest(&executor->reader);
    cache_flush(&executor->cache);
}

void runtime_resume(struct executor *executor)
{
    reader_online(&executor->reader);
}

void runtime_hold(struct runtime *runtime)
{
    /* Relaxed: under the lock of an open port, or of the table of requests, which runtime_stop
     * closes before it looks. */
    atomic_fetch_add_explicit(&runtime->holds, 1, memory_order_relaxed);
}

void runtime_release(struct runtime *runtime)
{
    /* Release pairs with the acquire in runtime_is_entered. The runtime may be gone after it. */
    atomic_fetch_sub_explicit(&runtime->holds, 1, memory_order_release);
}

bool runtime_is_entered(struct runtime *runtime)
{
    /* [O2] acquire. */
    uint32_t count = atomic_load_explicit(&runtime->entry_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        /* [O1] acquire: the thread that left no longer uses the runtime. */
        if (atomic_load_explicit(&runtime->entries[i]->in_use, memory_order_acquire))
            return true;
    /* Acquire pairs with the release in runtime_release. */
    return atomic_load_explicit(&runtime->holds, memory_order_acquire) > 0;
}

static void init_notice(struct runtime *runtime)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    lock_init(&runtime->notice_lock, LOCK_NOTICE);
    pthread_cond_init(&runtime->notice, &attributes);
    pthread_condattr_destroy(&attributes);
}

void runtime_init_entries(struct runtime *runtime)
{
    lock_init(&runtime->entry_lock, LOCK_ENTRIES);
    init_notice(runtime);
}

void runtime_finish_entries(struct runtime *runtime)
{
    for (uint32_t i = 0; i < runtime->entry_count; i++) {
        executor_finish(&runtime->entries[i]->executor);
        free(runtime->entries[i]);
    }
    lock_finish(&runtime->entry_lock);
    lock_finish(&runtime->notice_lock);
    pthread_cond_destroy(&runtime->notice);
}

/* --- waiting -------------------------------------------------------------------------------- */

void runtime_notice(struct runtime *runtime)
{
    lock_acquire(&runtime->notice_lock);
    runtime->notice_count++;
    pthread_cond_broadcast(&runtime->notice);
    lock_release(&runtime->notice_lock);
}

static struct timespec deadline_after(uint64_t timeout_ms)
{
    struct timespec deadline;
    uint64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &deadline);
    ns = (uint64_t)deadline.tv_nsec + timeout_ms % 1000 * 1000000u;
    deadline.tv_sec += (time_t)(timeout_ms / 1000 + ns / 1000000000u);
    deadline.tv_nsec = (long)(ns % 1000000000u);
    return deadline;
}

bool runtime_wait(struct runtime *runtime, bool (*done)(void *context), void *context,
                  uint64_t timeout_ms)
{
    struct timespec deadline = deadline_after(timeout_ms);
    bool in_time = true;

    for (;;) {
        uint64_t seen;

        lock_acquire(&runtime->notice_lock);
        seen = runtime->notice_count;
        lock_release(&runtime->notice_lock);
        /* Outside the lock, since it may lock pools, whose turns call runtime_notice. */
        if (done(context))
            return true;
        if (!in_time)
            return false;
        lock_acquire(&runtime->notice_lock);
        while (seen == runtime->notice_count && in_time)
            in_time = lock_wait_until(&runtime->notice_lock, &runtime->notice, &deadline);
        lock_release(&runtime->notice_lock);
    }
}

void runtime_raise_exit_status(struct runtime *runtime, int wanted)
{
    int present = atomic_load_explicit(&runtime->exit_status, memory_order_relaxed);

    while (present < wanted &&
           !atomic_compare_exchange_weak_explicit(&runtime->exit_status, &present, wanted,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

int runtime_exit_status(struct runtime *runtime)
{
    return atomic_load_explicit(&runtime->exit_status, memory_order_relaxed);
}

void runtime_escalate(struct runtime *runtime)
{
    /* Relaxed: it is read repeatedly. */
    atomic_store_explicit(&runtime->escalated, true, memory_order_relaxed);
    runtime_notice(runtime);
}

bool runtime_has_escalated(struct runtime *runtime)
{
    return atomic_load_explicit(&runtime->escalated, memory_order_relaxed);
}
