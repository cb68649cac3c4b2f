/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
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

/* --- copies ----------------------------------------------------------------------------------- */

/* The texts of a connection; all of them, so that one loop copies and one frees. */
#define TEXTS_MAX 7u

static void list_texts(struct amqp_settings *settings, const char **out[TEXTS_MAX])
{
    out[0] = &settings->user;
    out[1] = &settings->password;
    out[2] = &settings->ca;
    out[3] = &settings->certificate;
    out[4] = &settings->key;
    out[5] = &settings->queue;
    out[6] = &settings->dead_letters;
}

static void free_list(struct weir_list *list)
{
    for (size_t i = 0; list->items && i < list->count; i++)
        free((char *)(uintptr_t)list->items[i]);
    free((void *)(uintptr_t)list->items);
}

/* False: memory is out; free_list frees what there is. */
static bool copy_list(struct weir_list *out, const struct weir_list *list)
{
    char **items = calloc(list->count + 1, sizeof *items);

    *out = (struct weir_list){ (const char *const *)items, list->count };
    for (size_t i = 0; items && i < list->count; i++) {
        items[i] = strdup(list->items[i]);
        if (!items[i])
            return false;
    }
    return items != NULL;
}

struct amqp_settings *settings_copy(const struct amqp_settings *settings)
{
    struct amqp_settings *copy = malloc(sizeof *copy);
    const char **texts[TEXTS_MAX];
    bool is_whole = copy != NULL;

    if (!copy)
        return NULL;
    *copy = *settings;
    copy->servers = copy->before = copy->tags = (struct weir_list){ NULL, 0 };
    list_texts(copy, texts);
    for (size_t i = 0; i < TEXTS_MAX; i++) {
        const char *text = *texts[i];

        *texts[i] = text ? strdup(text) : NULL;
        is_whole = is_whole && (!text || *texts[i]);
    }
    is_whole = copy_list(&copy->servers, &settings->servers) && is_whole;
    is_whole = copy_list(&copy->before, &settings->before) && is_whole;
    if (is_whole)
        return copy;
    settings_free(copy);
    return NULL;
}

void settings_free(struct amqp_settings *settings)
{
    const char **texts[TEXTS_MAX];

    if (!settings)
        return;
    if (settings->password)
        explicit_bzero((char *)(uintptr_t)settings->password, strlen(settings->password));
    list_texts(settings, texts);
    for (size_t i = 0; i < TEXTS_MAX; i++)
        free((char *)(uintptr_t)*texts[i]);
    free_list(&settings->servers);
    free_list(&settings->before);
    free(settings);
}
