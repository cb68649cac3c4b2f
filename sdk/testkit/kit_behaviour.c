/* SPDX-License-Identifier: MIT */
#include "kit_behaviour.h"

#include <stdlib.h>
#include <string.h>

/* A table of a plugin: rows `stride` bytes apart; the last one has no name. */
struct rows {
    const void *table; /* may be NULL: no rows */
    size_t stride;
};

static const void *row_at(struct rows rows, size_t index)
{
    return (const char *)rows.table + index * rows.stride;
}

/* The first field of every row. */
static const char *name_at(struct rows rows, size_t index)
{
    const char *name;

    memcpy(&name, row_at(rows, index), sizeof name);
    return name;
}

/* Fields that the plugin's SDK does not have stay zero. */
static void copy_row(void *to, size_t size, struct rows rows, size_t index)
{
    memcpy(to, row_at(rows, index), rows.stride < size ? rows.stride : size);
}

static void *copy_table(struct rows rows, size_t size)
{
    size_t count = 0;
    char *copy;

    while (rows.table && name_at(rows, count))
        count++;
    copy = calloc(count + 1, size);
    if (!copy)
        abort();
    for (size_t i = 0; i < count; i++)
        copy_row(copy + i * size, size, rows, i);
    return copy;
}

/* True when the plugin's SDK has a list of behaviours in its descriptor. */
static bool has_list(const struct weir_plugin *plugin)
{
    return plugin->size >= sizeof *plugin && plugin->behaviour_list;
}

/* The row of a behaviour, in the plugin's table or its list; NULL: behind the last one. */
static const void *behaviour_at(const struct weir_plugin *plugin, size_t index)
{
    const struct rows rows = { plugin->behaviours, plugin->behaviour_size };
    const void *row = has_list(plugin) ? plugin->behaviour_list[index] : row_at(rows, index);

    return row && name_at((struct rows){ row, 0 }, 0) ? row : NULL;
}

/* NULL: there is none of that name. */
static const void *find_row(const struct weir_plugin *plugin, const char *name)
{
    const void *row;

    for (size_t i = 0; (row = behaviour_at(plugin, i)); i++)
        if (strcmp(name_at((struct rows){ row, 0 }, 0), name) == 0)
            return row;
    return NULL;
}

void kit_behaviour_print_names(const struct weir_plugin *plugin, const char *name, FILE *to)
{
    const void *row;

    (void)fprintf(to, "weir_kit_create: the plugin %s has no behaviour \"%s\"; it has",
                  plugin->name, name);
    for (size_t i = 0; (row = behaviour_at(plugin, i)); i++)
        (void)fprintf(to, "%s %s", i ? "," : "", name_at((struct rows){ row, 0 }, 0));
    (void)fputc('\n', to);
}

bool kit_behaviour_copy(const struct weir_plugin *plugin, const char *name,
                        struct weir_behaviour *out)
{
    const void *row = find_row(plugin, name);

    if (!row)
        return false;
    memset(out, 0, sizeof *out);
    copy_row(out, sizeof *out, (struct rows){ row, plugin->behaviour_size }, 0);
    out->options = copy_table((struct rows){ out->options, plugin->option_size },
                              sizeof *out->options);
    out->outputs = copy_table((struct rows){ out->outputs, plugin->output_size },
                              sizeof *out->outputs);
    return true;
}

void kit_behaviour_finish(struct weir_behaviour *behaviour)
{
    free((void *)behaviour->options);
    free((void *)behaviour->outputs);
}
