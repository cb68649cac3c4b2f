/* SPDX-License-Identifier: MIT */
#include "host/isolation/sandbox_check.h"

#include <stdio.h>

#include "host/isolation/sandbox.h"

#include <weir/status.h>

int sandbox_check(const struct settings *settings, struct report *report)
{
    const char *lacks = sandbox_lacks();
    int status = WEIR_OK;

    for (uint32_t i = 0; lacks && i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];
        char path[512];

        if (pool->copy || pool->isolation != SETTINGS_PROCESS || !pool->process.sandbox.on)
            continue;
        if (pool->process.sandbox.strict) {
            written_report(&pool->written, "process.sandbox", report, "%s", lacks);
            status = WEIR_EUNSUPPORTED;
        } else {
            (void)snprintf(path, sizeof path, "pools.%.400s.process.sandbox", pool->path);
            report_warn(report, written_mark(&pool->written, "process"), path, "%s", lacks);
        }
    }
    return status;
}
