/* SPDX-License-Identifier: MIT */
/*
 * reading.h - makes settings from a text in one call, for tests of the language.
 */
#ifndef TESTS_UNIT_CONFIG_READING_H
#define TESTS_UNIT_CONFIG_READING_H

#include <string.h>

#include "config/check.h"
#include "unit/config/fake_catalogue.h"

#define READING_CPUS 4

/* Reads and checks a text under the name `t.yaml`. */
static inline int reading_check(const char *text, const struct catalogue *catalogue,
                                struct report *report, struct settings **out_settings)
{
    struct config_tree *tree = NULL;
    int status = config_read_text("t.yaml", text, strlen(text), NULL, report, &tree);

    if (status == WEIR_OK)
        status = config_check(tree, catalogue, READING_CPUS, report, out_settings);
    config_tree_destroy(tree);
    return status;
}

/* Settings of a text that is right; NULL, and its errors on stderr, when it is not. */
static inline struct settings *reading_settings(const char *text)
{
    struct settings *settings = NULL;
    struct report report;

    report_init(&report);
    (void)reading_check(text, &fake_catalogue, &report, &settings);
    report_print(&report, stderr);
    report_finish(&report);
    return settings;
}

#endif
