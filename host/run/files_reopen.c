/* SPDX-License-Identifier: MIT */
#include "host/run/files_reopen.h"

static void reopen_sources_locked(struct assembly *assembly, struct executor *executor)
{
    for (uint32_t i = 0; i < assembly->shared->settings->source_count; i++)
        source_reopen(assembly->sources[i], executor);
}

static void reopen_all_locked(struct assembly *assembly, struct executor *executor)
{
    const struct settings *settings = assembly->shared->settings;

    reopen_sources_locked(assembly, executor);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (settings->pools[i].parent == SETTINGS_NONE)
            reopening_signal(assembly->pools[i], executor);
    for (uint32_t i = 0; i < assembly->gone_count; i++)
        reopening_signal(assembly->gone[i], executor);
}

static void notify(struct assembly *assembly,
                   void (*reopen_locked)(struct assembly *, struct executor *))
{
    struct executor *executor = runtime_enter(assembly->runtime);

    if (!executor)
        return;
    lock_acquire(&assembly->lock);
    reopen_locked(assembly, executor);
    lock_release(&assembly->lock);
    runtime_leave(executor);
}

void files_reopen(struct assembly *assembly)
{
    notify(assembly, reopen_all_locked);
}

void files_reopen_sources(struct assembly *assembly)
{
    notify(assembly, reopen_sources_locked);
}
