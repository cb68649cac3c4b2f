/* SPDX-License-Identifier: MIT */
/* The behaviour station.journal: a source that goes on in its file after a crash, if that is still
 * the same file. Each line is a sensor and a value. */
#include <fcntl.h>
#include <inttypes.h>

#include <weir/settling.h>

#include "station.h"

#define OUTPUT_OUT 0u
#define WINDOW 1000u  /* lines that are not settled */
#define LOOK_MS 100u  /* between two looks at the file */
#define SAVE_MS 1000u /* between two saves, which wait for the disk */
#define LINE_SIZE 64u

struct settings {
    const char *path;
    const char *position;
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *tag;
    struct weir_settling settling;
    struct weir_file_identity identity; /* of the file, as far as the position */
    int lock;                           /* of the position; -1: none */
    int descriptor;                     /* of the file */
    uint64_t offset;                    /* of the next line */
    uint64_t saved_ms;
};

static void release(struct state *state)
{
    weir_settling_finish(&state->settling);
    weir_settling_unlock(state->lock);
    if (state->descriptor >= 0)
        (void)close(state->descriptor);
}

/* Opens the file, and finds the place in it. */
static int open_at_place(struct weir_self *self, struct state *state)
{
    const char *position = state->settings->position;
    int error;

    state->descriptor = open(state->settings->path, O_RDONLY | O_CLOEXEC);
    error = state->descriptor < 0 ? errno : weir_settling_lock(position, &state->lock);
    if (error == 0)
        error = weir_settling_load_file(position, state->descriptor, &state->offset,
                                        &state->identity);
    if (error == ESTALE) {
        weir_log(self, WEIR_LOG_WARNING, "another journal than before; read from its start",
                 weir_str("path", state->settings->path));
        error = 0;
    }
    return error;
}

static int journal_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;
    char text[512];
    int error;

    state->settings = settings;
    state->lock = state->descriptor = -1;
    state->tag = weir_tag(self, STATION_READING_TAG);
    error = open_at_place(self, state);
    if (error == 0 && state->tag &&
        weir_settling_init(&state->settling, WINDOW, state->offset) == 0)
        return 0;
    if (error != 0)
        weir_reason(self, "%s",
                    weir_settling_reason(state->settings->position, error, text, sizeof text));
    release(state);
    return error == 0 ? WEIR_ENOMEM : WEIR_EINVALID;
}

/* The reading of the line at `from`, and where the line ends. False: there is none yet. */
static bool read_line(const struct state *state, uint64_t from, struct station_reading *out,
                      uint64_t *out_end)
{
    char line[LINE_SIZE + 1] = "", *end;
    ssize_t size = pread(state->descriptor, line, LINE_SIZE, (off_t)from);

    end = size > 0 ? memchr(line, '\n', (size_t)size) : NULL;
    if (!end)
        return false;
    *out = (struct station_reading){ .number = from };
    (void)sscanf(line, "%" SCNu32 " %" SCNu32, &out->sensor, &out->value);
    *out_end = from + (uint64_t)(end - line) + 1;
    return true;
}

static int emit(struct weir_self *self, const struct state *state,
                const struct station_reading *reading, uint64_t token)
{
    struct weir_message *message = weir_message_new(self, state->tag, sizeof *reading);
    int status = message ? weir_set_origin(self, message, token) : WEIR_ENOMEM;

    if (status == 0) {
        memcpy(message->data, reading, sizeof *reading);
        status = weir_emit(self, OUTPUT_OUT, message);
    }
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

static int save(struct state *state)
{
    return weir_settling_save_file(state->settings->position, state->descriptor,
                                   state->settling.place, &state->identity);
}

static void look_again(struct weir_self *self, void *memory, void *context)
{
    (void)self;
    (void)memory;
    (void)context;
}

static int emit_lines(struct weir_self *self, struct state *state, uint32_t credit)
{
    struct station_reading reading;
    int status = 0;
    uint64_t end;

    while (status == 0 && credit-- > 0 && weir_settling_has_room(&state->settling) &&
           read_line(state, state->offset, &reading, &end)) {
        status = emit(self, state, &reading, weir_settling_add(&state->settling, end));
        if (status == 0)
            state->offset = end;
        else
            weir_settling_undo(&state->settling);
    }
    return status;
}

static int journal_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct state *state = memory;
    int status = emit_lines(self, state, credit);

    if (status != 0 && status != WEIR_EFULL && status != WEIR_ENOMEM)
        return status;
    if (weir_now_ms(self) - state->saved_ms >= SAVE_MS) {
        state->saved_ms = weir_now_ms(self);
        if (save(state) == ESTALE) { /* the next one begins at the start */
            weir_reason(self, "the journal was written again");
            return WEIR_EREJECTED;
        }
    }
    return weir_after(self, LOOK_MS, look_again, NULL, NULL) == 0 ? WEIR_WAIT : WEIR_ENOMEM;
}

/* Sends a line again, with its token. */
static void send_again(struct weir_self *self, void *memory, void *context)
{
    const uint64_t token = (uint64_t)(uintptr_t)context;
    struct state *state = memory;
    const struct weir_settling *settling = &state->settling;
    const uint64_t from = token == settling->first
                              ? settling->place
                              : settling->places[(token - 1) % settling->capacity];
    struct station_reading reading;
    uint64_t end;

    if (!read_line(state, from, &reading, &end) || emit(self, state, &reading, token) != 0)
        (void)weir_after(self, LOOK_MS, send_again, context, NULL);
}

static void journal_settled(struct weir_self *self, void *memory,
                            const struct weir_outcome *outcome)
{
    struct state *state = memory;

    (void)weir_settling_end(&state->settling, outcome);
    if (outcome->result == WEIR_OUTCOME_RETRY)
        (void)weir_after(self, outcome->delay_ms + 1, send_again, (void *)(uintptr_t)outcome->token,
                         NULL);
}

static void journal_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;
    int error = save(state);

    (void)reason;
    if (error != 0)
        weir_log(self, WEIR_LOG_ERROR, "position cannot be saved",
                 weir_str("reason", strerror(error)));
    release(state);
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, path, .help = "the journal", .required = true),
    WEIR_OPTION_STRING(struct settings, position,
                       .help = "file that says how far the lines are settled", .required = true,
                       .state = true),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each reading", .required = true },
    { 0 },
};

const struct weir_behaviour station_journal = {
    .name = "journal",
    .summary = "sends the readings of a journal, as it grows",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING | WEIR_ENDLESS | WEIR_ORIGINS,
    .open = journal_open,
    .produce = journal_produce,
    .close = journal_close,
    .settled = journal_settled,
};
