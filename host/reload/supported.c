/* SPDX-License-Identifier: MIT */
#include "host/reload/supported.h"

#include <string.h>

#include "host/apply/opener.h"
#include "host/control/control_socket.h"
#include "weir_core.h"

#define DISPATCHERS_MAX (RUNTIME_DISPATCHERS_MAX - 2u) /* the host uses two itself */

/* An event that no plugin can publish has no place in `subscribe`. */
static void check_events(const struct settings_pool *pool, struct report *report)
{
    for (size_t i = 0; i < pool->subscribe.count; i++) {
        size_t length = strlen(pool->subscribe.items[i]);

        if (length == 0 || length > EVENTS_NAME_MAX)
            written_report(&pool->written, "subscribe", report,
                           "the name of an event has 1 to %d bytes, got %zu", EVENTS_NAME_MAX,
                           length);
    }
}

static void check_pool(const struct settings_pool *pool, struct report *report)
{
    if (pool->copy)
        return; /* its first copy is reported */
    check_events(pool, report);
}

static void check_name(const struct settings *settings, const char *name, struct report *report)
{
    uint32_t own = settings_find_dispatcher(settings, name);

    if (own != SETTINGS_NONE)
        written_report(&settings->dispatchers[own].written, NULL, report,
                       "is the name of the host's own dispatcher");
}

static void check_dispatchers(const struct settings *settings, struct report *report)
{
    check_name(settings, SUPERVISOR_DISPATCHER, report);
    check_name(settings, OPENER_DISPATCHER, report);
    if (settings->dispatcher_count > DISPATCHERS_MAX)
        written_report(&settings->dispatchers[DISPATCHERS_MAX].written, NULL, report,
                       "is one of %u dispatchers, there may be %u", settings->dispatcher_count,
                       DISPATCHERS_MAX);
}

static void check_host(const struct settings_host *host, struct report *report)
{
    if (host->control && strlen(host->control) >= CONTROL_SOCKET_PATH_MAX)
        written_report(&host->written, "control", report,
                       "the path of a socket has at most %u bytes, got %zu",
                       CONTROL_SOCKET_PATH_MAX - 1, strlen(host->control));
}

int supported_check(const struct settings *settings, struct report *report)
{
    size_t before = report_count(report);

    check_host(&settings->host, report);
    check_dispatchers(settings, report);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        check_pool(&settings->pools[i], report);
    return report_count(report) == before ? 0 : WEIR_EUNSUPPORTED;
}
