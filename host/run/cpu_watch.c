/* SPDX-License-Identifier: MIT */
#include "host/run/cpu_watch.h"

void cpu_watch_tick(struct cpu_watch *watch, uint64_t now_ms)
{
    uint32_t cpus;

    if (watch->looked_ms && now_ms - watch->looked_ms < CPU_WATCH_MS)
        return;
    watch->looked_ms = now_ms;
    cpus = watch->read(watch->context);
    if (cpus == watch->seen)
        return;
    watch->seen = cpus;
    watch->on_change(watch->context);
}
