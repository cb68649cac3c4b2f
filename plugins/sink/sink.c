/* SPDX-License-Identifier: MIT */
/*
 * sink - the end of messages, for trials and measurements: counts them, or writes their numbers.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/output_file.h>
#include <weir/plugin.h>

#include "../gen/gen.h"
#include "recorder.h"

#define INDEX_MARK "%i"
/* The exit code of `weir run` when the record is not complete. */
#define EXIT_INCOMPLETE 1
/* `%i` becomes `INDEX-PID`: 10 digits, a dash, 16 hexadecimal digits and a NUL. */
#define WORKER_NAME_SIZE 28u

/* --- work ------------------------------------------------------------------------------------- */

/* Uses the CPU without memory: steps of a generator, each of which needs the result of the one
 * before. */
static uint32_t spin(uint32_t seed, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

/* --- sink.null -------------------------------------------------------------------------------- */

struct null_settings {
    uint32_t spin;
};

struct null {
    uint32_t steps;
    uint32_t noise; /* kept, so that the work is not optimised away */
    uint64_t done;
};

static int null_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct null_settings *wanted = settings;
    struct null *state = memory;

    (void)self;
    state->steps = wanted->spin;
    return 0;
}

static int null_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct null *state = memory;

    (void)message;
    state->noise = spin(state->noise, state->steps);
    state->done++;
    weir_progress(self, "messages", state->done, 0);
    return WEIR_DONE;
}

/* --- sink.record ------------------------------------------------------------------------------ */

struct record_settings {
    const char *path;
    uint32_t batch;
    uint32_t spin;
};

struct record {
    const struct weir_tag *tag;
    char *path; /* owned */
    struct recorder recorder;
    uint32_t steps;
    uint32_t noise; /* kept, so that the work is not optimised away */
    uint64_t done;
};

/* Returns owned; NULL when memory is out. */
static char *path_of_worker(struct weir_self *self, const char *pattern)
{
    const char *mark = strstr(pattern, INDEX_MARK);
    char name[WORKER_NAME_SIZE];
    char *path = NULL;
    int size;

    if (!mark)
        return strdup(pattern);
    (void)snprintf(name, sizeof name, "%u-%llx", weir_index(self),
                   (unsigned long long)weir_pid_of(self));
    size = asprintf(&path, "%.*s%s%s", (int)(mark - pattern), pattern, name,
                    mark + strlen(INDEX_MARK));
    return size < 0 ? NULL : path;
}

static void log_no_file(struct weir_self *self, const struct record *state)
{
    char text[128];

    weir_log(self, WEIR_LOG_ERROR, "record cannot be opened", weir_str("path", state->path),
             weir_str("reason", weir_output_reason(state->recorder.error, text, sizeof text)));
}

static int open_recorder(struct weir_self *self, struct record *state,
                         const struct record_settings *wanted)
{
    char text[128];
    int status;

    state->path = path_of_worker(self, wanted->path);
    if (!state->path)
        return WEIR_ENOMEM;
    status = recorder_init(&state->recorder, state->path, wanted->batch);
    if (status == 0)
        return 0;
    if (status == WEIR_EINVALID) {
        log_no_file(self, state);
        weir_reason(self, "record: %s",
                    weir_output_reason(state->recorder.error, text, sizeof text));
    }
    free(state->path);
    return status;
}

static int record_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct record_settings *wanted = settings;
    struct record *state = memory;

    state->steps = wanted->spin;
    state->tag = weir_tag(self, GEN_NUMBER_TAG);
    return state->tag ? open_recorder(self, state, wanted) : WEIR_ENOMEM;
}

static void log_failure(struct weir_self *self, const struct recorder *recorder)
{
    char text[128];

    weir_log(self, WEIR_LOG_ERROR, "record cannot be written; it is not complete",
             weir_str("reason", strerror_r(recorder->error, text, sizeof text)));
    weir_exit_status(self, EXIT_INCOMPLETE);
    weir_reason(self, "record cannot be written");
}

static int record_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct record *state = memory;
    const struct gen_number *number = NULL;

    if (message->tag == state->tag)
        number = gen_number_get(message);
    if (!number) {
        weir_reason(self, "not a " GEN_NUMBER_TAG);
        return WEIR_REJECT;
    }
    state->noise = spin(state->noise, state->steps);
    if (recorder_add(&state->recorder, number->number) < 0) {
        log_failure(self, &state->recorder);
        return WEIR_FAIL;
    }
    state->done++;
    weir_progress(self, "messages", state->done, 0);
    return WEIR_DONE;
}

/* The file was renamed: further lines go to a new file of the same name. */
static void record_reopen(struct weir_self *self, void *memory)
{
    struct record *state = memory;

    if (recorder_reopen(&state->recorder, state->path) < 0)
        log_no_file(self, state);
}

static void record_close(struct weir_self *self, void *memory, int reason)
{
    struct record *state = memory;

    (void)reason;
    if (recorder_flush(&state->recorder) < 0)
        log_failure(self, &state->recorder);
    recorder_finish(&state->recorder);
    free(state->path);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct weir_option null_options[] = {
    WEIR_OPTION_U32(struct null_settings, spin, .fallback = "0",
                    .help = "steps of work for each message, about a nanosecond each"),
    { 0 },
};

static const struct weir_option record_options[] = {
    WEIR_OPTION_STRING(struct record_settings, path, .required = true, .writes = true,
                       .help = "file to append to; the first %i in it becomes the worker"),
    WEIR_OPTION_U32(struct record_settings, batch, .fallback = "1024", .min = 1, .max = 65536,
                    .help = "numbers that are written at once"),
    WEIR_OPTION_U32(struct record_settings, spin, .fallback = "0",
                    .help = "steps of work for each message, about a nanosecond each"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "null",
        .summary = "counts messages of any kind and lets them go",
        .options = null_options,
        .settings_size = sizeof(struct null_settings),
        .state_size = sizeof(struct null),
        .open = null_open,
        .handle = null_handle,
    },
    {
        .name = "record",
        .summary = "writes down the numbers of gen.numbers, for a comparison with the sent ones",
        .options = record_options,
        .settings_size = sizeof(struct record_settings),
        .state_size = sizeof(struct record),
        .flags = WEIR_BLOCKING,
        .open = record_open,
        .handle = record_handle,
        .close = record_close,
        .reopen = record_reopen,
    },
    { 0 },
};

WEIR_PLUGIN("sink", "1.0.0", behaviours);
