/* SPDX-License-Identifier: MIT */
#include "config/quarantine.h"

void quarantine_check(struct checking *checking)
{
    const struct settings *settings = checking->settings;
    const struct settings_host *host = &settings->host;
    const char *why = !host->crash_file ? "needs `host.crash_file`, where crashes are counted"
                      : !host->dead_letters.file
                          ? "needs `host.dead_letters.file`, where the message is stored"
                          : NULL;

    for (uint32_t i = 0; why && i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->copy || pool->quarantine == 0)
            continue;
        written_report(&pool->written, "quarantine", checking->report, "%s", why);
        checking->wrong = true;
    }
}
