/* SPDX-License-Identifier: MIT */
#include "config/meetings.h"

#include <stdlib.h>
#include <string.h>

/* An option of the configuration by which behaviours meet. */
struct meeting {
    const struct catalogue_entry *entry;
    const char *option;
    const char *name; /* its text */
    const char *path; /* of the option: `sources.work.args.queue` */
    struct mark mark;
    size_t order;
    bool is_lonely;
};

struct meetings {
    struct checking *checking;
    struct meeting *items; /* owned */
    size_t count;
};

static int add(struct meetings *meetings, const struct settings_use *use, const char *option,
               const char *name, const char *path)
{
    struct meeting *items = realloc(meetings->items, (meetings->count + 1) * sizeof *items);

    if (items)
        meetings->items = items;
    if (!items || !path)
        return WEIR_ENOMEM;
    items[meetings->count] = (struct meeting){
        use->entry, option, name, path, options_mark(use->options, option), meetings->count, false
    };
    meetings->count++;
    return WEIR_OK;
}

/* A behaviour whose options are wrong has no options here. */
static int add_use(struct meetings *meetings, const struct settings_use *use, const char *section,
                   const char *owner)
{
    const struct weir_option *row = use->options ? use->entry->behaviour->options : NULL;
    int status = WEIR_OK;

    for (; row && row->name && status == WEIR_OK; row++) {
        const char *name = NULL;

        if (row->kind != WEIR_STRING || !row->meets)
            continue;
        memcpy(&name, (const char *)options_settings(use->options) + row->offset, sizeof name);
        if (name && *name)
            status = add(
                meetings, use, row->name, name,
                checking_text(meetings->checking, "%s%s.args.%s", section, owner, row->name));
    }
    return status;
}

static int add_all(struct meetings *meetings)
{
    const struct checking *checking = meetings->checking;
    const struct settings *settings = checking->settings;
    int status = WEIR_OK;

    for (uint32_t i = 0; i < settings->source_count && status == WEIR_OK; i++)
        status = add_use(meetings, &settings->sources[i].use, "sources.",
                         settings->sources[i].name);
    for (uint32_t i = 0; i < settings->pool_count && status == WEIR_OK; i++)
        if (!settings->pools[i].copy)
            status = add_use(meetings, &settings->pools[i].use, "", checking->pools[i].path);
    return status;
}

static int compare(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;
    int order = strcmp(a->entry->plugin, b->entry->plugin);

    if (order == 0)
        order = strcmp(a->option, b->option);
    return order == 0 ? strcmp(a->name, b->name) : order;
}

static int compare_order(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;

    return a->order < b->order ? -1 : 1;
}

/* Marks those of items `begin` to `end`, which have one name, when all are of one behaviour. */
static void mark_lonely(struct meetings *meetings, size_t begin, size_t end)
{
    struct meeting *items = meetings->items;
    bool is_lonely = true;

    for (size_t i = begin + 1; i < end; i++)
        is_lonely &= items[i].entry->behaviour == items[begin].entry->behaviour;
    for (size_t i = begin; i < end; i++)
        items[i].is_lonely = is_lonely;
}

static void find_lonely(struct meetings *meetings)
{
    size_t begin = 0;

    qsort(meetings->items, meetings->count, sizeof *meetings->items, compare);
    for (size_t i = 1; i <= meetings->count; i++) {
        if (i < meetings->count && compare(&meetings->items[i], &meetings->items[begin]) == 0)
            continue;
        mark_lonely(meetings, begin, i);
        begin = i;
    }
}

/* In the order of the file. */
static void warn_of_lonely(struct meetings *meetings)
{
    qsort(meetings->items, meetings->count, sizeof *meetings->items, compare_order);
    for (size_t i = 0; i < meetings->count; i++) {
        const struct meeting *item = &meetings->items[i];

        if (item->is_lonely)
            report_warn(meetings->checking->report, &item->mark, item->path,
                        "\"%s\" stands here alone: no other behaviour of %s in this file has "
                        "this %s",
                        item->name, item->entry->plugin, item->option);
    }
}

int meetings_check(struct checking *checking)
{
    struct meetings meetings = { .checking = checking };
    int status = add_all(&meetings);

    if (status == WEIR_OK && meetings.count > 0) {
        find_lonely(&meetings);
        warn_of_lonely(&meetings);
    }
    free(meetings.items);
    return status;
}
