/* SPDX-License-Identifier: MIT */
#include "config/plan.h"

#include <stdlib.h>
#include <string.h>

#include "config/key_index.h"
#include "config/plan_pools.h"
#include "config/plan_steps.h"
#include "config/plan_uses.h"

/* --- host and dispatchers --------------------------------------------------------------------- */

static bool is_in(const char *field, const char *section)
{
    return strncmp(field, section, strlen(section)) == 0;
}

static enum plan_kind kind_of_host(const char *field)
{
    if (strcmp(field, "control") == 0)
        return PLAN_HOST_CONTROL;
    if (is_in(field, "dead_letters."))
        return PLAN_HOST_DEAD_LETTERS;
    if (strcmp(field, "crash_file") == 0)
        return PLAN_HOST_CRASH_FILE;
    if (is_in(field, "log."))
        return PLAN_HOST_LOG;
    if (strcmp(field, "memory") == 0 || strcmp(field, "turn_warning") == 0)
        return PLAN_HOST_BOUND;
    return PLAN_HOST;
}

static void plan_host(struct planning *planning)
{
    struct plan_subject subject = { "host", SETTINGS_NONE, SETTINGS_NONE };
    struct plan_pair pair = { &subject, NULL, NULL, kind_of_host };

    if (!planning->old_settings)
        return;
    pair.new_struct = &planning->new_settings->host;
    pair.old_struct = &planning->old_settings->host;
    plan_compare_rows(planning, &pair, language_host, 0);
}

static const char *threads_text(struct planning *planning,
                                const struct settings_dispatcher *dispatcher)
{
    return plan_text(planning, dispatcher->threads_auto ? "auto (%u)" : "%u", dispatcher->threads);
}

static enum plan_kind kind_of_dispatcher(const char *field)
{
    (void)field;
    return PLAN_DISPATCHER_POLICY;
}

static void plan_dispatcher(struct planning *planning, const struct settings_dispatcher *older,
                            const struct settings_dispatcher *newer,
                            const struct plan_subject *subject)
{
    struct plan_pair pair = { subject, older, newer, kind_of_dispatcher };

    if (!older) {
        plan_add(planning, PLAN_DISPATCHER_ADDED, subject, NULL, NULL,
                 plan_text(planning, "%s threads", threads_text(planning, newer)), false);
        return;
    }
    plan_compare(planning, PLAN_DISPATCHER_THREADS, subject, "threads",
                 threads_text(planning, older), threads_text(planning, newer), false);
    plan_compare_rows(planning, &pair, language_dispatcher, 0);
}

/* The dispatchers of one configuration by their names. */
static int index_dispatchers(const struct settings *settings, struct key_index *index)
{
    int status = WEIR_OK;

    for (uint32_t i = 0; settings && i < settings->dispatcher_count && status == WEIR_OK; i++) {
        struct settings_dispatcher *dispatcher = &settings->dispatchers[i];

        status = key_index_put(index, settings, dispatcher->name, dispatcher);
    }
    return status;
}

static uint32_t find_dispatcher(const struct key_index *index, const struct settings *settings,
                                const char *name)
{
    const struct settings_dispatcher *found = settings ? key_index_find(index, settings, name)
                                                       : NULL;

    return found ? (uint32_t)(found - settings->dispatchers) : SETTINGS_NONE;
}

static void plan_new_dispatchers(struct planning *planning, const struct key_index *index)
{
    const struct settings *older = planning->old_settings;
    const struct settings *newer = planning->new_settings;

    for (uint32_t i = 0; i < newer->dispatcher_count; i++) {
        const char *name = newer->dispatchers[i].name;
        struct plan_subject subject = { plan_text(planning, "dispatchers.%s", name),
                                        find_dispatcher(index, older, name), i };

        plan_dispatcher(planning,
                        subject.old_index == SETTINGS_NONE ? NULL
                                                           : &older->dispatchers[subject.old_index],
                        &newer->dispatchers[i], &subject);
    }
}

static void plan_gone_dispatchers(struct planning *planning, const struct key_index *index)
{
    const struct settings *older = planning->old_settings;

    for (uint32_t i = 0; older && i < older->dispatcher_count; i++) {
        const struct settings_dispatcher *gone = &older->dispatchers[i];
        struct plan_subject subject = { plan_text(planning, "dispatchers.%s", gone->name), i,
                                        SETTINGS_NONE };

        if (find_dispatcher(index, planning->new_settings, gone->name) == SETTINGS_NONE)
            plan_add(planning, PLAN_DISPATCHER_REMOVED, &subject, NULL,
                     plan_text(planning, "%s threads", threads_text(planning, gone)), NULL, false);
    }
}

static void plan_dispatchers(struct planning *planning)
{
    struct key_index index;
    int status;

    key_index_init(&index);
    status = index_dispatchers(planning->new_settings, &index);
    if (status == WEIR_OK)
        status = index_dispatchers(planning->old_settings, &index);
    if (status == WEIR_OK) {
        plan_new_dispatchers(planning, &index);
        plan_gone_dispatchers(planning, &index);
    }
    planning->failed |= status != WEIR_OK;
    key_index_finish(&index);
}

/* --- sources ---------------------------------------------------------------------------------- */

static const char *target_text(struct planning *planning, const struct settings *settings,
                               const struct settings_source *source)
{
    return plan_target(planning, &settings->pools[source->to], source->when_full, &source->rate);
}

static void compare_sources(struct planning *planning, const struct plan_subject *subject,
                            const struct settings_source *older,
                            const struct settings_source *newer)
{
    struct plan_uses uses = { &older->use, &newer->use, PLAN_SOURCE_REPLACED, PLAN_SOURCE_ARGS };

    plan_compare_uses(planning, subject, &uses);
    plan_compare(planning, PLAN_SOURCE_TO, subject, "to",
                 target_text(planning, planning->old_settings, older),
                 target_text(planning, planning->new_settings, newer), true);
}

/* The sources of one configuration by their names. */
static int index_sources(const struct settings *settings, struct key_index *index)
{
    int status = WEIR_OK;

    for (uint32_t i = 0; settings && i < settings->source_count && status == WEIR_OK; i++)
        status = key_index_put(index, settings, settings->sources[i].name, &settings->sources[i]);
    return status;
}

static uint32_t find_source(const struct key_index *index, const struct settings *settings,
                            const char *name)
{
    const struct settings_source *found = settings ? key_index_find(index, settings, name) : NULL;

    return found ? (uint32_t)(found - settings->sources) : SETTINGS_NONE;
}

static void plan_new_sources(struct planning *planning, const struct key_index *index)
{
    const struct settings *older = planning->old_settings;
    const struct settings *newer = planning->new_settings;
    uint32_t *old_of = plan_matches(planning, newer->source_count);

    planning->plan->old_sources = old_of;
    for (uint32_t i = 0; old_of && i < newer->source_count; i++) {
        const struct settings_source *source = &newer->sources[i];
        struct plan_subject subject = { plan_text(planning, "sources.%s", source->name),
                                        find_source(index, older, source->name), i };

        old_of[i] = subject.old_index;
        if (subject.old_index == SETTINGS_NONE)
            plan_add(planning, PLAN_SOURCE_ADDED, &subject, NULL, NULL, source->use.use, false);
        else
            compare_sources(planning, &subject, &older->sources[subject.old_index], source);
    }
}

static void plan_gone_sources(struct planning *planning, const struct key_index *index)
{
    const struct settings *older = planning->old_settings;

    for (uint32_t i = 0; older && i < older->source_count; i++) {
        const struct settings_source *gone = &older->sources[i];
        struct plan_subject subject = { plan_text(planning, "sources.%s", gone->name), i,
                                        SETTINGS_NONE };

        if (find_source(index, planning->new_settings, gone->name) == SETTINGS_NONE)
            plan_add(planning, PLAN_SOURCE_REMOVED, &subject, NULL, gone->use.use, NULL, false);
    }
}

static void plan_sources(struct planning *planning)
{
    struct key_index index;
    int status;

    key_index_init(&index);
    status = index_sources(planning->new_settings, &index);
    if (status == WEIR_OK)
        status = index_sources(planning->old_settings, &index);
    if (status == WEIR_OK) {
        plan_new_sources(planning, &index);
        plan_gone_sources(planning, &index);
    }
    planning->failed |= status != WEIR_OK;
    key_index_finish(&index);
}

/* --- all -------------------------------------------------------------------------------------- */

int plan_create(const struct settings *old_settings, const struct settings *new_settings,
                struct plan **out_plan)
{
    struct planning planning = { .old_settings = old_settings, .new_settings = new_settings };

    planning.plan = calloc(1, sizeof *planning.plan);
    if (!planning.plan)
        return WEIR_ENOMEM;
    text_store_init(&planning.plan->store);
    text_store_init(&planning.scratch);
    plan_host(&planning);
    plan_dispatchers(&planning);
    plan_pools(&planning);
    plan_sources(&planning);
    text_store_finish(&planning.scratch);
    if (planning.failed) {
        plan_destroy(planning.plan);
        return WEIR_ENOMEM;
    }
    *out_plan = planning.plan;
    return WEIR_OK;
}

void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->steps);
    text_store_finish(&plan->store);
    free(plan);
}

const char *plan_kind_name(enum plan_kind kind)
{
    static const char *const words[] = {
#define PLAN_STEP_NAME(name, part, effects, word, how) [PLAN_##name] = word,
        PLAN_STEP_LIST(PLAN_STEP_NAME)
#undef PLAN_STEP_NAME
    };

    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "?";
}

/* --- tasks ------------------------------------------------------------------------------------ */

bool plan_next_task(const struct plan *plan, size_t *cursor, struct plan_task *out)
{
    const struct plan_step *first = &plan->steps[*cursor];

    if (*cursor == plan->count)
        return false;
    *out = (struct plan_task){ plan_part_of(first->kind), first->old_index, first->new_index, 0 };
    for (; *cursor < plan->count; (*cursor)++) {
        const struct plan_step *step = &plan->steps[*cursor];

        if (plan_part_of(step->kind) != out->part || step->old_index != out->old_index ||
            step->new_index != out->new_index)
            break;
        out->effects |= step->effects;
    }
    return true;
}

uint32_t plan_effects(const struct plan *plan, enum plan_part part)
{
    uint32_t effects = 0;

    for (size_t i = 0; i < plan->count; i++)
        if (plan_part_of(plan->steps[i].kind) == part)
            effects |= plan->steps[i].effects;
    return effects;
}

/* --- printing --------------------------------------------------------------------------------- */

static const char *colour_of(const struct plan_step *step)
{
    if (!step->old_text)
        return "\033[32m";
    return step->new_text ? "\033[33m" : "\033[31m";
}

/* The effect of a change that is not live. */
static const char *cost_of(const struct plan_step *step)
{
    if (step->effects & PLAN_STOPS_FIRST)
        return "  (stops first, then the new one opens)";
    if (!(step->effects & PLAN_REMAKES))
        return "";
    return plan_part_of(step->kind) == PLAN_PART_POOL ? "  (new workers beside the old)"
                                                      : "  (a new source takes over)";
}

static void print_step(const struct plan_step *step, FILE *stream)
{
    char sign = !step->old_text ? '+' : step->new_text ? '~' : '-';

    (void)fprintf(stream, "%c %s%s%s: ", sign, step->path, step->field ? "." : "",
                  step->field ? step->field : "");
    if (sign == '~')
        (void)fprintf(stream, "%s -> %s%s", step->old_text, step->new_text, cost_of(step));
    else
        (void)fputs(step->old_text ? step->old_text : step->new_text, stream);
}

void plan_print(const struct plan *plan, FILE *stream, bool colour)
{
    if (plan->count == 0)
        (void)fputs("nothing to do\n", stream);
    for (size_t i = 0; i < plan->count; i++) {
        (void)fputs(colour ? colour_of(&plan->steps[i]) : "", stream);
        print_step(&plan->steps[i], stream);
        (void)fputs(colour ? "\033[0m\n" : "\n", stream);
    }
}
