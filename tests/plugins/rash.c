/* SPDX-License-Identifier: MIT */
/* Faults of `check`: one in each behaviour. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct fault_settings, keep, .fallback = "1", .min = 1, .max = 9,
                    .help = "of no use"),
    { 0 },
};

static void check_well(const void *settings, struct weir_report *report)
{
    const struct fault_settings *fault = settings;

    if (fault->keep == 7)
        report->error(report, "keep", "must not be 7");
}

/* Dereferences a null pointer. */
static void check_and_crash(const void *settings, struct weir_report *report)
{
    const char *level = getenv("WEIR_TESTS_NEVER_SET_THIS");

    (void)settings;
    if (isdigit((unsigned char)level[0]))
        report->error(report, NULL, "is a digit");
}

static void check_and_exit(const void *settings, struct weir_report *report)
{
    (void)settings;
    (void)report;
    (void)fprintf(stderr, "the licence has run out\n");
    exit(3);
}

static void check_for_ever(const void *settings, struct weir_report *report)
{
    (void)settings;
    (void)report;
    for (;;)
        pause();
}

#define BEHAVIOUR(behaviour_name, function)                                                        \
    {                                                                                              \
        .name = (behaviour_name), .options = options,                                              \
        .settings_size = sizeof(struct fault_settings), .check = (function),                       \
        .handle = fault_handle,                                                                    \
    }

static const struct weir_behaviour behaviours[] = {
    BEHAVIOUR("well", check_well),
    BEHAVIOUR("crashes", check_and_crash),
    BEHAVIOUR("exits", check_and_exit),
    BEHAVIOUR("hangs", check_for_ever),
    { 0 },
};

WEIR_PLUGIN("rash", "1.0.0", behaviours);
