/* SPDX-License-Identifier: MIT */
/*
 * report - prints the results of an integrity check: a line for each file, a summary at the end.
 *
 * It counts its own messages, so a single worker that receives all results has the true sums.
 */
#include <string.h>

#include <weir/plugin.h>

#include "../integrity/integrity.h"
#include "printable.h"

/* The exit code of `weir run` when a file differs from its package. */
#define EXIT_DIFFERENCES 1
/* The longest verdict is `unreadable`: packages begin in the same column. */
#define VERDICT_WIDTH 12u
#define NO_MEMORY_MS 100u

enum print_choice {
    PRINT_DIFFERENCES,
    PRINT_ALL,
    PRINT_NOTHING,
};

struct settings {
    uint32_t print; /* enum print_choice */
    bool summary;
};

struct results {
    const struct weir_tag *tag;
    const struct settings *settings; /* borrowed until close */
    struct printable line;
    uint64_t counts[INTEGRITY_VERDICTS];
    uint64_t bytes;
};

static int results_open(struct weir_self *self, const void *settings, void *memory)
{
    struct results *state = memory;

    state->settings = settings;
    printable_init(&state->line);
    state->tag = weir_tag(self, INTEGRITY_RESULT_TAG);
    return state->tag ? 0 : WEIR_ENOMEM;
}

/* --- one result ------------------------------------------------------------------------------- */

static bool is_wanted(const struct settings *settings, uint32_t verdict)
{
    if (settings->print == PRINT_DIFFERENCES)
        return verdict != INTEGRITY_OK;
    return settings->print == PRINT_ALL;
}

/* A missing file needs no reason. */
static void add_reason(struct printable *line, const struct integrity_result *result)
{
    char text[128];

    if (result->verdict != INTEGRITY_UNREADABLE)
        return;
    printable_add(line, "\t(");
    printable_add(line, result->error ? strerror_r(result->error, text, sizeof text)
                                      : "Not a regular file");
    printable_add(line, ")");
}

/* `changed bash /bin/bash`; for an unreadable one a tab and the reason in brackets follow. */
static void write_line(struct printable *line, const struct integrity_result *result)
{
    printable_clear(line);
    printable_add(line, integrity_verdict_name(result->verdict));
    printable_pad(line, 0, VERDICT_WIDTH);
    printable_add_name(line, integrity_result_package(result), result->package_size);
    printable_add(line, "  ");
    printable_add_name(line, integrity_result_path(result), result->path_size);
    add_reason(line, result);
    printable_add(line, "\n");
}

static void count(struct weir_self *self, struct results *state,
                  const struct integrity_result *result)
{
    state->counts[result->verdict]++;
    state->bytes += result->bytes;
    if (result->verdict != INTEGRITY_OK)
        weir_exit_status(self, EXIT_DIFFERENCES);
}

static int results_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct results *state = memory;
    const struct integrity_result *result = NULL;

    if (message->tag == state->tag)
        result = integrity_result_get(message);
    if (!result) {
        weir_reason(self, "not an " INTEGRITY_RESULT_TAG);
        return WEIR_REJECT;
    }
    if (is_wanted(state->settings, result->verdict)) {
        write_line(&state->line, result);
        if (state->line.failed) {
            weir_retry_after(self, NO_MEMORY_MS);
            weir_reason(self, "no memory for the line");
            return WEIR_RETRY;
        }
        weir_print(self, state->line.text, state->line.size);
    }
    count(self, state, result);
    return WEIR_DONE;
}

/* --- the summary ------------------------------------------------------------------------------ */

static uint64_t total(const struct results *state)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < INTEGRITY_VERDICTS; i++)
        sum += state->counts[i];
    return sum;
}

/* `checked 111072 files, 3.4 GB: 111070 ok, 1 changed, 1 missing, 0 unreadable` */
static void write_summary(struct printable *line, const struct results *state)
{
    uint64_t files = total(state);

    printable_clear(line);
    printable_add(line, "checked ");
    printable_add_number(line, files);
    printable_add(line, files == 1 ? " file, " : " files, ");
    printable_add_bytes(line, state->bytes);
    for (uint32_t i = 0; i < INTEGRITY_VERDICTS; i++) {
        printable_add(line, i == 0 ? ": " : ", ");
        printable_add_number(line, state->counts[i]);
        printable_add(line, " ");
        printable_add(line, integrity_verdict_name(i));
    }
    printable_add(line, "\n");
}

/* A worker that ends early prints its own summary, if it has results: its figures end with it. */
static void results_close(struct weir_self *self, void *memory, int reason)
{
    struct results *state = memory;
    bool at_end = reason == WEIR_END_SHUTDOWN || reason == WEIR_END_NORMAL;

    if (state->settings->summary && (at_end || total(state) > 0)) {
        write_summary(&state->line, state);
        if (!state->line.failed)
            weir_print(self, state->line.text, state->line.size);
    }
    printable_finish(&state->line);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum print_choice. */
static const char *const print_choices[] = { "differences", "all", "nothing", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_ENUM(struct settings, print, .fallback = "differences", .choices = print_choices,
                     .help = "results that get a line of their own"),
    WEIR_OPTION_BOOL(struct settings, summary, .fallback = "true",
                     .help = "print how many of each there were, at the end"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "results",
        .summary = "prints the results of integrity.md5, and exits with 1 if any is not ok",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct results),
        .open = results_open,
        .handle = results_handle,
        .close = results_close,
    },
    { 0 },
};

WEIR_PLUGIN("report", "1.0.0", behaviours);
