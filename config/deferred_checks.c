/* SPDX-License-Identifier: MIT */
#include "config/deferred_checks.h"

#include <stdlib.h>

/* Reports a mistake that a behaviour's `check` found, at the place of the option that it names. */
struct check_report {
    struct weir_report base; /* first: the plugin has its address */
    const struct catalogue_check *call;
    struct report *report;
    bool wrong;
};

int deferred_checks_add(struct checking *checking, const struct catalogue_check *call)
{
    struct deferred_checks *deferred = &checking->deferred;

    if (!call->entry->behaviour->check)
        return WEIR_OK;
    if (deferred->count == deferred->capacity) {
        size_t capacity = deferred->capacity ? deferred->capacity * 2 : 16;
        struct catalogue_check *calls = realloc(deferred->calls, capacity * sizeof *calls);

        if (!calls)
            return WEIR_ENOMEM;
        deferred->calls = calls;
        deferred->capacity = capacity;
    }
    deferred->calls[deferred->count++] = *call;
    return WEIR_OK;
}

static void on_error(struct weir_report *base, const char *option, const char *reason)
{
    struct check_report *check = (struct check_report *)(void *)base;
    struct mark mark = options_mark(check->call->options, option);
    char path[512];

    (void)snprintf(path, sizeof path, "%s%s%s", check->call->place.path, option ? "." : "",
                   option ? option : "");
    report_add(check->report, &mark, path, "%s", reason ? reason : "is wrong");
    check->wrong = true;
}

static int run_check(const struct checking *checking, const struct catalogue_check *call)
{
    struct check_report check = { { on_error }, call, checking->report, false };
    const struct catalogue *catalogue = checking->catalogue;
    struct catalogue_problem why = { "it may not be called" };

    if (catalogue->begin_check && catalogue->begin_check(catalogue->context, &why) != WEIR_OK) {
        report_add(checking->report, &call->place.mark, call->place.path, "%s", why.text);
        return WEIR_EINVALID;
    }
    call->entry->behaviour->check(options_settings(call->options), &check.base);
    return check.wrong ? WEIR_EINVALID : WEIR_OK;
}

int deferred_checks_run(struct checking *checking)
{
    const struct deferred_checks *deferred = &checking->deferred;
    const struct catalogue *catalogue = checking->catalogue;
    int result = WEIR_OK;

    if (deferred->count && catalogue->begin_checks && !report_has_enough(checking->report))
        catalogue->begin_checks(catalogue->context, deferred->calls, deferred->count);
    for (size_t i = 0; i < deferred->count && !report_has_enough(checking->report); i++) {
        if (run_check(checking, &deferred->calls[i]) != WEIR_OK)
            result = WEIR_EINVALID;
    }
    return result;
}

void deferred_checks_finish(struct deferred_checks *deferred)
{
    free(deferred->calls);
}
