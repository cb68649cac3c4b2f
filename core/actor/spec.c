#include "actor/spec.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/layout.h"
#include "message/tag.h"

static void release_spec(struct refcount *uses)
{
    struct spec *spec = (struct spec *)(void *)((char *)uses - offsetof(struct spec, uses));

    if (spec->release)
        spec->release(spec->owner);
    free(spec);
}

struct spec *spec_create(const struct weir_behaviour *behaviour, const void *settings)
{
    struct spec *spec = aligned_alloc(alignof(struct spec), sizeof *spec);

    if (!spec)
        return NULL;
    memset((void *)spec, 0, sizeof *spec);
    atomic_init(&spec->uses.references, 1);
    spec->uses.release = release_spec;
    spec->behaviour = behaviour;
    spec->settings = settings;
    spec->plugin = "";
    spec->in_hand_max = behaviour->in_hand ? behaviour->in_hand : 1;
    spec->retries_max = 3;
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

struct spec *spec_ref(struct spec *spec)
{
    refcount_take(&spec->uses);
    return spec;
}

void spec_unref(struct spec *spec)
{
    if (spec)
        refcount_give(&spec->uses);
}

/* A thread from outside has no looks, which would return its share. */
static bool has_shares(const struct executor *executor)
{
    return executor->dispatcher != NULL;
}

struct spec *spec_ref_shared(struct spec *spec, struct executor *executor)
{
    if (!has_shares(executor))
        return spec_ref(spec);
    shares_take(&executor->shares, &spec->uses);
    return spec;
}

void spec_unref_shared(struct spec *spec, struct executor *executor)
{
    if (!spec || !has_shares(executor))
        spec_unref(spec);
    else
        shares_give(&executor->shares, &spec->uses);
}
