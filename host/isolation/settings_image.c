/* SPDX-License-Identifier: MIT */
#include "host/isolation/settings_image.h"

#include <stdlib.h>
#include <string.h>

static void pack_string(struct parcel *out, const char *text)
{
    parcel_number(out, text != NULL);
    if (text)
        parcel_text(out, text);
}

static void pack_field(const struct weir_option *option, const void *field, struct parcel *out)
{
    if (option->kind == WEIR_STRING || option->kind == WEIR_POOL) {
        pack_string(out, *(const char *const *)field);
    } else if (option->kind == WEIR_LIST) {
        const struct weir_list *list = field;

        parcel_number(out, list->count);
        for (size_t i = 0; i < list->count; i++)
            pack_string(out, list->items[i]);
    } else if (option->kind == WEIR_MAP) {
        const struct weir_map *map = field;

        parcel_number(out, map->count);
        for (size_t i = 0; i < map->count; i++) {
            pack_string(out, map->items[i].key);
            pack_string(out, map->items[i].value);
        }
    }
}

void settings_image_pack(const struct weir_behaviour *behaviour, const void *settings,
                         struct parcel *out)
{
    const struct weir_option *option = behaviour->options;

    parcel_bytes(out, settings, settings ? behaviour->settings_size : 0);
    for (; settings && option && option->name; option++)
        pack_field(option, (const char *)settings + option->offset, out);
}

static const char *unpack_string(struct unparcel *from)
{
    return unparcel_number(from) ? strdup(unparcel_text(from)) : NULL;
}

/* A count that the bytes can have; each element takes eight of them. */
static size_t unpack_count(struct unparcel *from)
{
    uint64_t count = unparcel_number(from);

    if (count > (uint64_t)(from->end - from->at) / sizeof(uint64_t))
        from->wrong = true;
    return from->wrong ? 0 : (size_t)count;
}

static void unpack_list(struct unparcel *from, struct weir_list *out)
{
    size_t count = unpack_count(from);
    const char **items = calloc(count + 1, sizeof *items);

    for (size_t i = 0; items && i < count; i++)
        items[i] = unpack_string(from);
    *out = (struct weir_list){ .items = items, .count = items ? count : 0 };
    from->wrong |= !items;
}

static void unpack_map(struct unparcel *from, struct weir_map *out)
{
    size_t count = unpack_count(from);
    struct weir_pair *items = calloc(count + 1, sizeof *items);

    for (size_t i = 0; items && i < count; i++) {
        items[i].key = unpack_string(from);
        items[i].value = unpack_string(from);
    }
    *out = (struct weir_map){ .items = items, .count = items ? count : 0 };
    from->wrong |= !items;
}

void *settings_image_unpack(const struct weir_behaviour *behaviour, struct unparcel *from)
{
    const struct weir_option *option = behaviour->options;
    size_t size;
    const void *bytes = unparcel_bytes(from, &size);
    char *settings;

    if (from->wrong || (size != 0 && size != behaviour->settings_size))
        return NULL;
    settings = calloc(1, (size_t)behaviour->settings_size + 1);
    if (!settings)
        return NULL;
    if (size)
        memcpy(settings, bytes, size);
    for (; size && option && option->name; option++) {
        char *field = settings + option->offset;

        if (option->kind == WEIR_STRING || option->kind == WEIR_POOL)
            *(const char **)(void *)field = unpack_string(from);
        else if (option->kind == WEIR_LIST)
            unpack_list(from, (struct weir_list *)(void *)field);
        else if (option->kind == WEIR_MAP)
            unpack_map(from, (struct weir_map *)(void *)field);
    }
    if (!from->wrong)
        return settings;
    free(settings);
    return NULL;
}
