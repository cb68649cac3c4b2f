/* SPDX-License-Identifier: MIT */
#include "actor/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message/tag.h"

struct spec *spec_create(const struct weir_behaviour *behaviour, const void *settings)
{
    struct spec *spec = aligned_alloc(alignof(struct spec), sizeof *spec);

    if (!spec)
        return NULL;
    memset((void *)spec, 0, sizeof *spec);
    atomic_init(&spec->references, 1);
    spec->behaviour = behaviour;
    spec->settings = settings;
    spec->plugin = "";
    spec->in_hand_max = behaviour->in_hand ? behaviour->in_hand : 1;
    spec->in_order = spec->in_hand_max == 1;
    spec->retry = retry_usual();
    spec->redeliver_max = 0;
    spec->outbox_max = SPEC_OUTBOX_MAX;
    spec->restart = restart_usual(WEIR_RESTART_KEEP_TRYING);
    return spec;
}

int spec_make_label(struct spec *spec, struct tag_table *names)
{
    char text[TAG_LABEL_MAX + 1];

    (void)snprintf(text, sizeof text, "plugin=%.128s/%.64s generation=%u behaviour=%.128s",
                   spec->plugin, spec->version ? spec->version : "", spec->generation,
                   spec->behaviour->name ? spec->behaviour->name : "");
    spec->label = tag_table_label(names, text);
    return spec->label ? 0 : WEIR_ENOMEM;
}

int spec_set_poison(struct spec *spec, const struct poison *poison, uint32_t count)
{
    if (count == 0)
        return 0;
    spec->poison = calloc(count, sizeof *poison);
    if (!spec->poison)
        return WEIR_ENOMEM;
    memcpy(spec->poison, poison, count * sizeof *poison);
    spec->poison_count = count;
    return 0;
}

uint32_t spec_crashes_of(const struct spec *spec, uint64_t identity)
{
    for (uint32_t i = 0; identity != 0 && i < spec->poison_count; i++)
        if (spec->poison[i].identity == identity)
            return spec->poison[i].crashes;
    return 0;
}

struct spec *spec_ref(struct spec *spec)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&spec->references, 1, memory_order_relaxed);
    return spec;
}

/* --- the pools that its options name -------------------------------------------------------- */

static void visit_map(const struct weir_map *map, void (*visit)(void *context, const char *path),
                      void *context)
{
    for (size_t i = 0; i < map->count; i++)
        visit(context, map->items[i].value);
}

void spec_visit_pools(const struct spec *spec, void (*visit)(void *context, const char *path),
                      void *context)
{
    const struct weir_option *row = spec->settings ? spec->behaviour->options : NULL;

    for (; row && row->name; row++) {
        const char *field = (const char *)spec->settings + row->offset;
        const char *path = NULL;
        struct weir_map map;

        if (row->kind == WEIR_POOL) {
            memcpy((void *)&path, field, sizeof path);
            if (path)
                visit(context, path);
        } else if (row->kind == WEIR_MAP && row->pools) {
            memcpy(&map, field, sizeof map);
            visit_map(&map, visit, context);
        }
    }
}

static void note_path(void *context, const char *path)
{
    (void)path;
    *(bool *)context = true;
}

bool spec_names_pools(const struct spec *spec)
{
    bool names = false;

    spec_visit_pools(spec, note_path, &names);
    return names;
}

/* --- the end -------------------------------------------------------------------------------- */

void spec_unref(struct spec *spec)
{
    /* Each release pairs with the acquire of the last one: all uses were before. */
    if (!spec || atomic_fetch_sub_explicit(&spec->references, 1, memory_order_acq_rel) != 1)
        return;
    if (spec->release)
        spec->release(spec->owner);
    free(spec->poison);
    free(spec);
}
