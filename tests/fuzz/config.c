/* SPDX-License-Identifier: MIT */
/*
 * Goal:   no bytes harm the reader of the configuration or its check: a file is refused with a
 *         reason and a position in it, or it becomes settings; twice the same bytes give the same
 *         verdict, and no change between both.
 * Method: the input as the text of weir.yaml, read and checked as `weir check` does it, with tables
 *         of behaviours in the place of plugins. No folder can be read, since those of the machine
 *         change between the two times.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/check.h"
#include "config/plan.h"
#include "fuzz.h"
#include "trial.h"
#include "unit/config/fake_catalogue.h"

#define NAME "/nowhere/t.yaml" /* `include` finds nothing beside it */
#define CPUS 4

/* For the linker: opendir of everything that is linked, also of the fuzzer. */
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

static bool is_trial; /* an input is being read */

DIR *__wrap_opendir(const char *path)
{
    if (!is_trial)
        return __real_opendir(path);
    errno = ENOENT;
    return NULL;
}

/* What became of a text. */
struct verdict {
    int status;
    struct settings *settings; /* owned; NULL: refused */
    struct report report;
};

static const char *find_variable(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "SET") == 0 ? "7" : strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static struct verdict judge(const char *text, size_t size)
{
    const struct config_source source = { .variable = find_variable, .is_checked_next = true };
    struct verdict verdict = { .settings = NULL };
    struct config_tree *tree = NULL;

    report_init(&verdict.report);
    verdict.status = config_read_text(NAME, text, size, &source, &verdict.report, &tree);
    if (verdict.status == WEIR_OK)
        verdict.status = config_check(tree, &fake_catalogue, CPUS, &verdict.report,
                                      &verdict.settings);
    config_tree_destroy(tree);
    return verdict;
}

static void forget(struct verdict *verdict)
{
    settings_destroy(verdict->settings);
    report_finish(&verdict->report);
}

/* --- a refusal -------------------------------------------------------------------------------- */

static uint32_t count_lines(const char *text, size_t size)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n' || text[i] == '\r';
    return lines;
}

static void check_entries(const struct report_list *list, uint32_t lines)
{
    char text[4096];

    for (size_t i = 0; i < list->kept; i++) {
        const struct report_entry *entry = &list->entries[i];

        trial_must(entry->reason && entry->reason[0], "no reason");
        trial_must(!entry->file || strcmp(entry->file, NAME) != 0 || entry->line <= lines + 1,
                   "a position behind the end of the file");
        (void)report_format(entry, text, sizeof text);
        for (const char *at = text; *at; at++)
            trial_must((unsigned char)*at >= ' ' && *at != 0x7f, "a control character in an error");
    }
}

static void check_verdict(const struct verdict *verdict, uint32_t lines)
{
    if (verdict->status == WEIR_OK)
        trial_must(verdict->settings && report_count(&verdict->report) == 0,
                   "settings of a file with errors");
    else
        trial_must(verdict->status == WEIR_EINVALID && !verdict->settings &&
                       report_count(&verdict->report) > 0,
                   "a refusal without an error");
    check_entries(&verdict->report.errors, lines);
    check_entries(&verdict->report.warnings, lines);
}

/* --- twice ------------------------------------------------------------------------------------ */

static void compare_lists(const struct report_list *left, const struct report_list *right)
{
    char one[4096], other[4096];

    trial_must(left->count == right->count && left->kept == right->kept,
               "another number of errors the second time");
    for (size_t i = 0; i < left->kept; i++) {
        (void)report_format(&left->entries[i], one, sizeof one);
        (void)report_format(&right->entries[i], other, sizeof other);
        trial_must(strcmp(one, other) == 0, "another error the second time");
    }
}

static size_t count_steps(const struct settings *before, const struct settings *after)
{
    struct plan *plan = NULL;
    FILE *nowhere = fopen("/dev/null", "w");
    size_t count;

    trial_must(nowhere && plan_create(before, after, &plan) == 0, "no plan");
    plan_print(plan, nowhere, true);
    count = plan->count;
    plan_destroy(plan);
    (void)fclose(nowhere);
    return count;
}

static void compare(const struct verdict *first, const struct verdict *second)
{
    trial_must(first->status == second->status, "another verdict the second time");
    compare_lists(&first->report.errors, &second->report.errors);
    compare_lists(&first->report.warnings, &second->report.warnings);
    if (!first->settings)
        return;
    (void)count_steps(NULL, first->settings);
    trial_must(count_steps(first->settings, second->settings) == 0,
               "a plan between a file and itself has steps");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = trial_copy(data, size);
    struct verdict first, second;

    is_trial = true;
    first = judge(text, size);
    second = judge(text, size);
    is_trial = false;
    check_verdict(&first, count_lines(text, size));
    compare(&first, &second);
    forget(&first);
    forget(&second);
    free(text);
    return 0;
}
