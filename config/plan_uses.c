/* SPDX-License-Identifier: MIT */
#include "config/plan_uses.h"

#include <string.h>

#define FIELD_SIZE 256  /* such as `args.NAME` */
#define CHANGES_MAX 512 /* twice the rows that a table may have: all removed, all new */

static const char *dispatcher_name(const struct settings *settings, const struct settings_use *use)
{
    return settings->dispatchers[use->dispatcher].name;
}

void plan_compare_args(struct planning *planning, const struct plan_subject *subject,
                       const struct plan_uses *uses, const char *key, bool replaced)
{
    const struct options *older = uses->older->options;
    const struct options *newer = uses->newer->options;
    struct option_change changes[CHANGES_MAX];
    char field[FIELD_SIZE];
    size_t count;
    bool live;

    if (planning->equal_options[0] == older && planning->equal_options[1] == newer)
        return;
    count = options_changes(older, newer, changes, CHANGES_MAX);
    live = !replaced && options_changes_live(older, newer);
    if (count == 0) {
        planning->equal_options[0] = older;
        planning->equal_options[1] = newer;
    }
    for (size_t i = 0; i < count && i < CHANGES_MAX; i++) {
        (void)snprintf(field, sizeof field, "%s.%s", key, changes[i].name);
        plan_add(planning, uses->args, subject, field, changes[i].old_text, changes[i].new_text,
                 live);
    }
}

/* With the generation when name and version are equal. */
static void compare_entries(struct planning *planning, const struct plan_subject *subject,
                            const struct plan_uses *uses)
{
    const struct catalogue_entry *older = uses->older->entry;
    const struct catalogue_entry *newer = uses->newer->entry;
    bool same_words = strcmp(uses->older->use, uses->newer->use) == 0 &&
                      strcmp(older->version, newer->version) == 0;

    if (same_words)
        plan_add(planning, uses->replaced, subject, "use",
                 plan_text(planning, "%s %s (generation %u)", uses->older->use, older->version,
                           older->generation),
                 plan_text(planning, "%s %s (generation %u)", uses->newer->use, newer->version,
                           newer->generation),
                 false);
    else
        plan_add(planning, uses->replaced, subject, "use",
                 plan_text(planning, "%s %s", uses->older->use, older->version),
                 plan_text(planning, "%s %s", uses->newer->use, newer->version), false);
}

/* Two that keep a state have the same file, or may have: no path is compared. */
static bool stops_first(const struct plan_uses *uses)
{
    return uses->newer->entry->behaviour->flags & WEIR_EXCLUSIVE ||
           (settings_use_state(uses->older) && settings_use_state(uses->newer));
}

void plan_mark_exclusive(struct planning *planning, const struct plan_uses *uses, size_t first)
{
    if (strcmp(uses->older->use, uses->newer->use) != 0 || !stops_first(uses))
        return;
    for (size_t i = first; i < planning->plan->count; i++)
        if (planning->plan->steps[i].effects & PLAN_REMAKES)
            planning->plan->steps[i].effects |= PLAN_STOPS_FIRST;
}

void plan_compare_uses(struct planning *planning, const struct plan_subject *subject,
                       const struct plan_uses *uses)
{
    const char *older = dispatcher_name(planning->old_settings, uses->older);
    const char *newer = dispatcher_name(planning->new_settings, uses->newer);
    bool same_use = strcmp(uses->older->use, uses->newer->use) == 0;
    size_t first = planning->plan->count;
    bool same_code = same_use &&
                     uses->older->entry->content_hash == uses->newer->entry->content_hash;

    if (!same_code)
        compare_entries(planning, subject, uses);
    plan_compare(planning, uses->replaced, subject, "dispatcher", older, newer, false);
    if (same_use)
        plan_compare_args(planning, subject, uses, "args", !same_code || strcmp(older, newer) != 0);
    plan_mark_exclusive(planning, uses, first);
}
