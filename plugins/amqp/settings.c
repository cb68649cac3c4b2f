#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "address.h"
#include "queue.h"

/* In the order of enum amqp_sasl. */
const char *const settings_sasl[] = { "plain", "external", NULL };

static void check_servers(const struct amqp_settings *settings, struct weir_report *report)
{
    struct address address;

    for (size_t i = 0; i < settings->servers.count; i++) {
        const char *reason = address_parse(settings->servers.items[i], &address);

        if (reason)
            weir_report_error(report, "servers", "number %zu: %s", i + 1, reason);
        else if (settings->sasl == AMQP_SASL_BY_CERTIFICATE && !address.is_tls)
            weir_report_error(report, "servers", "number %zu: sasl external needs amqps://", i + 1);
    }
}

void settings_check(const struct amqp_settings *settings, struct weir_report *report)
{
    check_servers(settings, report);
    if (!settings->certificate != !settings->key)
        weir_report_error(report, NULL, "certificate and key need each other");
    if (settings->sasl == AMQP_SASL_BY_CERTIFICATE && !settings->certificate)
        weir_report_error(report, "sasl", "external needs certificate and key");
    if (!queue_is_name(settings->queue))
        weir_report_error(report, "queue", "must have 1 to %u bytes, and not begin with amq.",
                          QUEUE_NAME_MAX);
    if (settings->dead_letters && !queue_is_name(settings->dead_letters))
        weir_report_error(report, "dead_letters",
                          "must have 1 to %u bytes, and not begin with amq.", QUEUE_NAME_MAX);
}

int settings_dead_name(const struct amqp_settings *settings, const char *queue, char *out,
                       size_t size)
{
    int length = settings->dead_letters ? snprintf(out, size, "%s", settings->dead_letters)
                                        : snprintf(out, size, "%s.dead", queue);

    return length >= 0 && (size_t)length < size ? length : -1;
}
