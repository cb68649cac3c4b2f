#include "actor/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An outside thread's executor. Reused, and freed with the runtime: messages may refer to its
 * cache for as long as they live. */
struct entry {
    struct executor executor; /* first */
    struct entry *next;       /* const */
    bool in_use;              /* entry_lock */
};

bool runtime_is_own_thread(struct runtime *runtime)
{
    /* Acquire pairs with the release in create_dispatcher: later dispatchers are not the
     * caller's. */
    uint32_t count = atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (dispatcher_is_own_thread(runtime->dispatchers[i]))
            return true;
    return false;
}

/* --- outside threads ------------------------------------------------------------------------ */

static struct entry *take_entry_locked(struct runtime *runtime)
{
    for (struct entry *entry = runtime->entries; entry; entry = entry->next) {
        if (!entry->in_use) {
            entry->in_use = true;
            return entry;
        }
    }
    return NULL;
}

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
    entry->in_use = true;
    return entry;
}

struct executor *runtime_enter(struct runtime *runtime)
{
    struct entry *entry;

    pthread_mutex_lock(&runtime->entry_lock);
    entry = take_entry_locked(runtime);
    if (!entry) {
        entry = make_entry(runtime);
        if (entry) {
            entry->next = runtime->entries;
            runtime->entries = entry;
        }
    }
    pthread_mutex_unlock(&runtime->entry_lock);
    if (!entry)
        return NULL;
    runtime_resume(&entry->executor);
    return &entry->executor;
}

void runtime_pause(struct executor *executor)
{
    reader_rest(&executor->reader);
    cache_flush(&executor->cache);
}

void runtime_resume(struct executor *executor)
{
    reader_online(&executor->reader);
    executor_look_at_clock(executor);
}

void runtime_leave(struct executor *executor)
{
    struct runtime *runtime = executor->runtime;
    struct entry *entry = (struct entry *)(void *)executor;

    runtime_pause(executor);
    pthread_mutex_lock(&runtime->entry_lock);
    entry->in_use = false;
    pthread_mutex_unlock(&runtime->entry_lock);
}

bool runtime_is_entered(struct runtime *runtime)
{
    bool inside = false;

    pthread_mutex_lock(&runtime->entry_lock);
    for (struct entry *entry = runtime->entries; entry && !inside; entry = entry->next)
        inside = entry->in_use;
    pthread_mutex_unlock(&runtime->entry_lock);
    return inside;
}

static void init_notice(struct runtime *runtime)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&runtime->notice_lock, NULL);
    pthread_cond_init(&runtime->notice, &attributes);
    pthread_condattr_destroy(&attributes);
}

void runtime_init_entries(struct runtime *runtime)
{
    pthread_mutex_init(&runtime->entry_lock, NULL);
    init_notice(runtime);
}

void runtime_finish_entries(struct runtime *runtime)
{
    struct entry *entry = runtime->entries;

    while (entry) {
        struct entry *next = entry->next;

        executor_finish(&entry->executor);
        free(entry);
        entry = next;
    }
    pthread_mutex_destroy(&runtime->entry_lock);
    pthread_mutex_destroy(&runtime->notice_lock);
    pthread_cond_destroy(&runtime->notice);
}

/* --- waiting -------------------------------------------------------------------------------- */

void runtime_notice(struct runtime *runtime)
{
    pthread_mutex_lock(&runtime->notice_lock);
    runtime->notice_count++;
    pthread_cond_broadcast(&runtime->notice);
    pthread_mutex_unlock(&runtime->notice_lock);
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

        pthread_mutex_lock(&runtime->notice_lock);
        seen = runtime->notice_count;
        pthread_mutex_unlock(&runtime->notice_lock);
        /* Outside the lock, since it may lock pools, whose turns call runtime_notice. */
        if (done(context))
            return true;
        if (!in_time)
            return false;
        pthread_mutex_lock(&runtime->notice_lock);
        while (seen == runtime->notice_count && in_time)
            in_time = pthread_cond_timedwait(&runtime->notice, &runtime->notice_lock, &deadline) !=
                      ETIMEDOUT;
        pthread_mutex_unlock(&runtime->notice_lock);
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
