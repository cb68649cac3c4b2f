/* SPDX-License-Identifier: MIT */
/*
 * file - appends messages to a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/output_file.h>
#include <weir/plugin.h>

#include "../files/files.h"
#include "log_file.h"

#define MS_PER_S 1000u
/* Before another try to write. */
#define AGAIN_MS 1000u
/* The exit code of `weir run` when something could not be written at once. */
#define EXIT_INCOMPLETE 1

enum end_choice {
    END_NEWLINE,
    END_NUL,
    END_NONE,
};

struct settings {
    const char *path;
    uint32_t end; /* enum end_choice */
    uint64_t rotate_size;
    uint64_t rotate_every;
    uint32_t keep;
};

struct append {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *line;
    struct log_file file;
    uint64_t count;
    uint64_t bytes;
};

static void log_error(struct weir_self *self, const struct append *state, const char *event,
                      int error)
{
    char text[128];

    weir_log(self, WEIR_LOG_ERROR, event, weir_str("path", state->file.path),
             weir_str("reason", weir_output_reason(error, text, sizeof text)));
}

static char end_of(const struct settings *settings)
{
    return settings->end == END_NUL ? '\0' : '\n';
}

static int append_open(struct weir_self *self, const void *settings, void *memory)
{
    struct append *state = memory;
    char text[128];
    int error;

    state->settings = settings;
    state->line = weir_tag(self, FILES_LINE_TAG);
    if (!state->line)
        return WEIR_ENOMEM;
    state->file = (struct log_file){
        .path = state->settings->path,
        .size_max = state->settings->rotate_size,
        .period = state->settings->rotate_every / MS_PER_S,
        .keep = state->settings->keep,
        .end = end_of(state->settings),
        .has_end = state->settings->end != END_NONE,
    };
    error = log_file_open(&state->file);
    if (error == 0)
        return 0;
    log_error(self, state, "file cannot be opened", error);
    weir_reason(self, "%s: %s", state->file.path, weir_output_reason(error, text, sizeof text));
    return WEIR_EINVALID;
}

static size_t end_size(const struct append *state, const char *text, size_t size, char end)
{
    bool has_end = size > 0 && text[size - 1] == end;

    return state->settings->end == END_NONE || has_end ? 0 : 1;
}

/* While the disk is full, or the host lacks a descriptor for the next file, the message waits. */
static int append_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct append *state = memory;
    char end = end_of(state->settings);
    char reason[128];
    size_t size;
    const char *text = files_text(message, state->line, &size);
    size_t more = end_size(state, text, size, end);
    int error = log_file_append(&state->file, text, size, &end, more, time(NULL));

    if (error != 0) {
        log_error(self, state, "file cannot be written", error);
        weir_retry_after(self, AGAIN_MS);
        weir_reason(self, "file: %s", weir_output_reason(error, reason, sizeof reason));
        if (weir_is_short(error))
            return WEIR_POSTPONE;
        weir_exit_status(self, EXIT_INCOMPLETE);
        return WEIR_RETRY;
    }
    state->count++;
    state->bytes += size + more;
    weir_progress(self, "messages", state->count, 0);
    return WEIR_DONE;
}

static void append_reopen(struct weir_self *self, void *memory)
{
    struct append *state = memory;
    int error = log_file_reopen(&state->file);

    if (error != 0)
        log_error(self, state, "file cannot be opened again; the former one is written", error);
}

static void append_close(struct weir_self *self, void *memory, int reason)
{
    struct append *state = memory;

    (void)self;
    (void)reason;
    log_file_close(&state->file);
}

static void append_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct append *state = memory;

    (void)self;
    weir_inspect_add(out, "messages", "%llu", (unsigned long long)state->count);
    weir_inspect_add(out, "bytes", "%llu", (unsigned long long)state->bytes);
    weir_inspect_add(out, "file_size", "%llu", (unsigned long long)state->file.size);
    weir_inspect_add(out, "rotations", "%llu", (unsigned long long)state->file.rotations);
}

static void append_check(const void *memory, struct weir_report *report)
{
    const struct settings *settings = memory;

    if (settings->path[0] == '\0')
        weir_report_error(report, "path", "is empty");
    if (settings->rotate_every > 0 && settings->rotate_every < MS_PER_S)
        weir_report_error(report, "rotate_every", "must be at least 1s, or 0s");
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum end_choice. */
static const char *const end_choices[] = { "newline", "nul", "none", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, path, .required = true, .writes = true,
                       .help = "file to append to"),
    WEIR_OPTION_ENUM(struct settings, end, .fallback = "newline", .choices = end_choices,
                     .help = "written after each message that does not end with it"),
    WEIR_OPTION_SIZE(struct settings, rotate_size, .fallback = "0",
                     .help = "begin another file before this one is larger; 0: never"),
    WEIR_OPTION_DURATION(struct settings, rotate_every, .fallback = "0s",
                         .help = "begin another file with each such period of UTC; 0s: never"),
    WEIR_OPTION_U32(struct settings, keep, .fallback = "10", .max = 1000,
                    .help = "old files that are kept: PATH.1 is the latest"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "append",
        .summary = "appends messages of any kind to a file, which it rotates",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct append),
        .flags = WEIR_BLOCKING | WEIR_ALONE,
        .check = append_check,
        .open = append_open,
        .handle = append_handle,
        .close = append_close,
        .inspect = append_inspect,
        .reopen = append_reopen,
    },
    { 0 },
};

WEIR_PLUGIN("file", "1.0.0", behaviours);
