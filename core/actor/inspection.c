/* SPDX-License-Identifier: MIT */
#include "actor/inspection.h"

#include <inttypes.h>
#include <stdlib.h>

/* True when the name is in a list of names, each with its NUL; `step` names at a time. */
static bool is_listed(const char *list, size_t size, size_t step, const char *name)
{
    size_t number = 0;

    for (size_t at = 0; at < size; at += strnlen(list + at, size - at) + 1, number++)
        if (number % step == 0 && strncmp(list + at, name, size - at) == 0)
            return true;
    return false;
}

static bool wants(const struct weir_inspection *public, const char *item)
{
    const struct inspection *inspection = (const struct inspection *)(const void *)public;

    return inspection->wanted_size == 0 ||
           is_listed(inspection->wanted, inspection->wanted_size, 1, item);
}

static bool reserve(struct inspection *inspection, size_t size)
{
    size_t capacity = inspection->capacity ? inspection->capacity : 1024;
    char *text;

    if (size > INSPECTION_SIZE_MAX)
        return false;
    while (capacity < size)
        capacity *= 2;
    if (capacity == inspection->capacity)
        return true;
    text = realloc(inspection->text, capacity);
    if (!text)
        return false;
    inspection->text = text;
    inspection->capacity = capacity;
    return true;
}

static void append(struct inspection *inspection, const char *text)
{
    size_t size = strlen(text) + 1;

    memcpy(inspection->text + inspection->size, text, size);
    inspection->size += size;
}

static void add(struct weir_inspection *public, const char *item, const char *value)
{
    struct inspection *inspection = (struct inspection *)(void *)public;
    char name[WEIR_INSPECT_ITEM_MAX + 1], text[WEIR_INSPECT_VALUE_MAX + 1];

    (void)snprintf(name, sizeof name, "%s", item);
    (void)snprintf(text, sizeof text, "%s", value);
    if (!name[0] || !wants(public, name) ||
        is_listed(inspection->text, inspection->size, 2, name) ||
        !reserve(inspection, inspection->size + strlen(name) + strlen(text) + 2))
        return;
    append(inspection, name);
    append(inspection, text);
}

void inspection_init(struct inspection *inspection, const char *wanted, size_t wanted_size)
{
    *inspection = (struct inspection){ .public = { wants, add },
                                       .wanted = wanted,
                                       .wanted_size = wanted_size };
}

void inspection_finish(struct inspection *inspection)
{
    free(inspection->text);
}

void inspection_text(struct inspection *inspection, const char *item, const char *value)
{
    add(&inspection->public, item, value);
}

void inspection_number(struct inspection *inspection, const char *item, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    add(&inspection->public, item, text);
}

void inspection_capacity(struct inspection *inspection, const char *item, uint64_t limit)
{
    if (limit == 0)
        inspection_text(inspection, item, "unlimited");
    else if (limit == WEIR_UNBUFFERED)
        inspection_text(inspection, item, "unbuffered");
    else
        inspection_number(inspection, item, limit);
}
