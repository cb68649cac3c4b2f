/* SPDX-License-Identifier: MIT */
#include "tail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <weir/settling.h>

#include "files.h"
#include "follower.h"
#include "paths.h"
#include "reader.h"
#include "sent_line.h"

#define OUTPUT_OUT 0u

/* Bytes read at once. */
#define CHUNK_SIZE ((size_t)64 * 1024)
/* Lines of one file before it is the turn of another one. */
#define TURN_LINES 1024u
#define STEPS_MAX 256u /* reads without a line in one call: then a stop may take effect */
/* Before another try after a failure that the line is not to blame for. */
#define AGAIN_MS 1000u
#define EXIT_INCOMPLETE 1

struct tail {
    const struct tail_settings *settings; /* borrowed until close */
    const struct weir_tag *tag;
    int lock; /* owned: of the position; -1 = none */
    struct follower follower;
    struct reader reader;
    struct followed *reading; /* the file that the reader has; NULL = none */
    uint32_t turn_lines;      /* that it has read in this turn */
    uint32_t steps;           /* of this call, at most STEPS_MAX */
    struct sent_line *line;   /* owned: read, and not accepted yet; NULL = none */

    uint32_t count;     /* lines that are not settled */
    uint32_t again;     /* of these: that are to be sent again */
    uint32_t stopped;   /* of these: dead, and not stored; the position stops at them */
    uint64_t bytes;     /* of these lines */
    bool changed;       /* the position, since it was saved */
    int save_error;     /* of the last try, which the log has; 0 = none */
    uint64_t saved_ms;  /* when it was saved */
    uint64_t looked_ms; /* when the files were looked at */
    bool rests;         /* a timer waits */
    uint64_t wake;

    uint64_t lines;
    uint64_t too_long;
    struct sent_line **sent; /* owned: `unsettled` places; the token is an index */
    uint32_t *free;          /* owned: indices that are free */
    uint32_t free_count;
};

/* --- the position ----------------------------------------------------------------------------- */

/* The reader leaves its file; bytes after the last complete line are read again. */
static void put_down(struct tail *state)
{
    if (state->reading) {
        state->reading->offset = reader_place(&state->reader);
        state->reading->scanned = reader_scanned(&state->reader);
        state->reading->number = state->reader.number;
    }
    state->reading = NULL;
    reader_close(&state->reader);
}

/* Writes how far all files are settled. WEIR_ENOMEM. */
static int write_bookmark(struct tail *state, struct bookmark *bookmark)
{
    put_down(state); /* the file knows its place only then */
    return follower_write(&state->follower, bookmark);
}

/* Once for each reason, and once more when it is over. */
static void log_save(struct weir_self *self, struct tail *state, int error)
{
    const char *path = state->settings->position;
    char text[512];

    if (error != 0 && error != state->save_error)
        weir_log(self, WEIR_LOG_ERROR, "position cannot be saved", weir_str("path", path),
                 weir_str("reason", weir_settling_reason(path, error, text, sizeof text)));
    if (error == 0 && state->save_error != 0)
        weir_log(self, WEIR_LOG_INFO, "position is saved again", weir_str("path", path));
    state->save_error = error;
}

static void save(struct weir_self *self, struct tail *state)
{
    struct bookmark bookmark = { .text = NULL };
    int error = write_bookmark(state, &bookmark) < 0 ? ENOMEM : 0;

    state->saved_ms = weir_now_ms(self);
    if (error == 0)
        error = bookmark_save(&bookmark, state->settings->position);
    state->changed = error != 0;
    log_save(self, state, error);
    bookmark_finish(&bookmark);
}

static bool is_to_save(struct weir_self *self, const struct tail *state)
{
    return state->settings->position && state->changed &&
           weir_now_ms(self) - state->saved_ms >= state->settings->save_every;
}

/* Opens the files of a bookmark. */
static int load(struct weir_self *self, struct tail *state, const struct bookmark *bookmark)
{
    int status = follower_read(self, &state->follower, bookmark);

    if (status == WEIR_EINVALID)
        weir_log(self, WEIR_LOG_ERROR, "position cannot be used",
                 weir_str("path", state->settings->position ? state->settings->position : ""));
    return status;
}

static int load_file(struct weir_self *self, struct tail *state)
{
    struct bookmark bookmark = { .text = NULL };
    const char *path = state->settings->position;
    int error = bookmark_load(&bookmark, path);
    char text[512];
    int status = 0;

    if (error == 0)
        error = bookmark_check(path);
    if (error != 0) {
        const char *reason = error == ENODATA
                                 ? "is empty; remove it for a first start"
                                 : weir_settling_reason(path, error, text, sizeof text);

        weir_log(self, WEIR_LOG_ERROR, "position cannot be used", weir_str("path", path),
                 weir_str("reason", reason));
        weir_reason(self, "position %s: %s", path, reason);
        status = error == ENOMEM ? WEIR_ENOMEM : WEIR_EINVALID;
    } else {
        status = load(self, state, &bookmark);
        if (status == WEIR_EINVALID)
            weir_reason(self, "the position file has an unknown format");
    }
    bookmark_finish(&bookmark);
    return status;
}

/* A folder that is not there is reported by load_file. */
static int lock_file(struct weir_self *self, struct tail *state)
{
    const char *path = state->settings->position;
    int error = weir_settling_lock(path, &state->lock);
    char text[512];

    if (error == 0 || error == ENOENT)
        return 0;
    weir_reason(self, "%s", weir_settling_reason(path, error, text, sizeof text));
    weir_log(self, WEIR_LOG_ERROR, "position cannot be locked", weir_str("path", path),
             weir_str("reason", text));
    return error == ENOMEM ? WEIR_ENOMEM : WEIR_EINVALID;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void release(struct tail *state)
{
    follower_finish(&state->follower); /* it knows the lines */
    for (uint32_t i = 0; state->sent && i < state->settings->unsettled; i++)
        free(state->sent[i]);
    free(state->sent);
    free(state->free);
    free(state->line);
    reader_finish(&state->reader);
    weir_settling_unlock(state->lock);
    state->lock = -1;
}

static int tail_open(struct weir_self *self, const void *settings, void *memory)
{
    struct tail *state = memory;
    int status;

    state->settings = settings;
    state->lock = -1;
    state->tag = weir_tag(self, FILES_LINE_TAG);
    follower_init(&state->follower,
                  &(struct follower_rules){ .paths = &state->settings->paths,
                                            .exclude = &state->settings->exclude,
                                            .position = state->settings->position,
                                            .from_end = state->settings->from == TAIL_FROM_END,
                                            .rotate_wait = state->settings->rotate_wait,
                                            .window = state->settings->unsettled,
                                            .ends = state->settings->ends,
                                            .on_change = state->settings->on_change });
    state->sent = calloc(state->settings->unsettled, sizeof(struct sent_line *));
    state->free = calloc(state->settings->unsettled, sizeof *state->free);
    status = reader_init(&state->reader, FILES_LINE_MAX, CHUNK_SIZE);
    if (!state->tag || !state->sent || !state->free)
        status = WEIR_ENOMEM;
    for (uint32_t i = 0; status == 0 && i < state->settings->unsettled; i++)
        state->free[state->free_count++] = state->settings->unsettled - 1 - i;
    if (status == 0 && state->settings->position)
        status = lock_file(self, state);
    if (status == 0 && state->settings->position)
        status = load_file(self, state);
    state->saved_ms = weir_now_ms(self) -
                      state->settings->save_every; /* the first check is saved */
    if (status < 0)
        release(state);
    return status;
}

static void tail_resume(struct weir_self *self, void *memory, const void *position, size_t size)
{
    struct bookmark bookmark = { .text = NULL };
    struct tail *state = memory;
    int status = bookmark_set(&bookmark, position, size);

    if (status == 0) {
        follower_clear(&state->follower);
        status = load(self, state, &bookmark);
    }
    if (status == WEIR_EINVALID && state->settings->position) /* of another plugin */
        status = load_file(self, state);
    if (status == WEIR_ENOMEM || status == WEIR_EREJECTED)
        (void)weir_leave_position(self, NULL, WEIR_POSITION_LOST);
    bookmark_finish(&bookmark);
}

static void leave_position(struct weir_self *self, struct tail *state)
{
    struct bookmark bookmark = { .text = NULL };

    if (write_bookmark(state, &bookmark) < 0)
        (void)weir_leave_position(self, NULL, WEIR_POSITION_LOST);
    else if (weir_leave_position(self, bookmark.text, bookmark.size) != 0)
        weir_log(self, WEIR_LOG_WARNING, "position lost");
    bookmark_finish(&bookmark);
}

static void tail_close(struct weir_self *self, void *memory, int reason)
{
    struct tail *state = memory;

    (void)reason;
    if (state->settings->position && state->changed)
        save(self, state);
    if (state->settings->position && state->changed) /* lines come again: no silent success */
        weir_exit_status(self, EX_IOERR);
    if (!state->follower.rules.from_end) /* without a check, the successor makes the first one */
        leave_position(self, state);
    release(state);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool pick_up(struct tail *state)
{
    struct followed *file = follower_choose(&state->follower);

    if (!file)
        return false;
    if (!followed_is_as_before(file)) {
        state->follower.is_restless = true;
        return false;
    }
    if (file->offset == 0)
        (void)followed_note(file); /* before its lines, so that they are of the same content */
    if (reader_follow(
            &state->reader, file->descriptor,
            &(struct reader_from){ .offset = file->offset,
                                   .number = file->number,
                                   .scanned = file->scanned,
                                   .follows = !state->settings->ends &&
                                              !follower_is_ending(&state->follower, file) }) < 0)
        return false;
    state->reading = file;
    state->turn_lines = 0;
    return true;
}

static void log_too_long(struct weir_self *self, struct tail *state, const struct reader_line *line)
{
    state->too_long++;
    weir_log(self, WEIR_LOG_WARNING, "line too long, skipped",
             weir_str("path", state->reading->path), weir_uint("line", line->number));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

static void end_file(struct weir_self *self, struct tail *state)
{
    struct followed *file = state->reading;
    const int error = state->reader.error;
    char text[128];

    if (weir_is_short(error))
        follower_lacks(self, &state->follower, file->path, error);
    else if (error != 0 && error != file->read_error)
        weir_log(self, WEIR_LOG_WARNING, "file cannot be read", weir_str("path", file->path),
                 weir_str("reason", strerror_r(error, text, sizeof text)));
    if (error != 0 && state->settings->ends && !weir_is_short(error))
        weir_exit_status(self, EXIT_INCOMPLETE);
    file->read_error = error;
    state->follower.is_restless |= file->read_error != 0;
    file->tried = file->size;
    put_down(state);
}

/* Reads until `line` is one, nothing is left for now, or this call has read enough: false. */
static bool read_line(struct weir_self *self, struct tail *state)
{
    struct reader_line line;

    while (!state->line && state->steps < STEPS_MAX) {
        if (!state->reading && !pick_up(state))
            return false;
        switch (reader_next(&state->reader, &line)) {
        case READER_LINE:
            state->line = sent_line_create(state->reading, &line);
            if (!state->line) { /* read again, later */
                state->reading->offset = state->reading->scanned = line.offset;
                state->reading->number = line.number - 1;
                reader_close(&state->reader);
                state->reading = NULL;
                return false;
            }
            followed_add(state->reading, state->line);
            break;
        case READER_TOO_LONG:
            log_too_long(self, state, &line);
            break;
        case READER_AGAIN:
            state->steps++;
            break;
        case READER_END:
        case READER_FAILED:
            state->steps++;
            end_file(self, state);
            break;
        }
    }
    if (!state->line && !state->settings->ends)
        put_down(state);
    return state->line != NULL;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int send(struct weir_self *self, struct tail *state, const struct sent_line *line,
                uint32_t token)
{
    struct weir_message *message = sent_line_message(self, line, state->tag);
    int status = message ? weir_set_origin(self, message, token) : WEIR_ENOMEM;

    if (status == 0)
        status = weir_emit(self, OUTPUT_OUT, message);
    if (status < 0)
        weir_message_free(self, message);
    return status;
}

/* True when the file has no more room between its position and the next line. */
static bool is_far_ahead(const struct tail *state)
{
    const struct sent_line *first = state->reading ? state->reading->first : NULL;

    return first && state->reader.number - (first->number - 1) >= state->settings->unsettled;
}

static int send_new(struct weir_self *self, struct tail *state)
{
    struct sent_line *line = state->line;
    uint32_t token = state->free[state->free_count - 1];
    int status = send(self, state, line, token);

    if (status < 0)
        return status;
    state->free_count--;
    state->sent[token] = line;
    state->line = NULL;
    state->count++;
    state->bytes += line->size;
    state->lines++;
    state->turn_lines++;
    if ((state->turn_lines >= TURN_LINES && !state->settings->ends) || is_far_ahead(state))
        put_down(state);
    return 0;
}

/* Sends lines again whose time has come. */
static int send_again(struct weir_self *self, struct tail *state, uint32_t *credit)
{
    uint64_t now = weir_now_ms(self);

    for (uint32_t i = 0; state->again > 0 && *credit > 0 && i < state->settings->unsettled; i++) {
        struct sent_line *line = state->sent[i];
        int status;

        if (!line || line->again_ms == 0 || line->again_ms > now)
            continue;
        status = send(self, state, line, i);
        if (status < 0)
            return status;
        line->again_ms = 0;
        state->again--;
        (*credit)--;
    }
    return 0;
}

static bool has_room(const struct tail *state)
{
    return state->free_count > 0 && state->bytes < state->settings->unsettled_bytes;
}

static int send_lines(struct weir_self *self, struct tail *state, uint32_t credit)
{
    int status = send_again(self, state, &credit);

    state->steps = 0;
    if (state->reading && !followed_is_as_before(state->reading))
        put_down(state); /* pick_up leaves it to the next check */
    while (status == 0 && credit > 0 && has_room(state) && read_line(self, state)) {
        status = send_new(self, state);
        credit--;
    }
    if (status != 0)
        return status;
    return credit == 0 || state->steps == STEPS_MAX ? WEIR_EFULL : 0;
}

static void wake_up(struct weir_self *self, void *memory, void *context)
{
    struct tail *state = context;

    (void)self;
    (void)memory;
    state->rests = false;
}

/* True when nothing is left to read, to send and to settle. */
static bool is_at_end(struct tail *state)
{
    return state->settings->ends && state->count == state->stopped && !state->line &&
           !state->reading && !state->follower.is_short && !follower_choose(&state->follower);
}

static int tail_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct tail *state = memory;
    uint64_t now = weir_now_ms(self);
    int status;

    if (state->looked_ms == 0 || now - state->looked_ms >= state->settings->poll) {
        put_down(state);
        /* The first check is saved, also without a file: it is the start that `from` means. */
        state->changed |= follower_look(self, &state->follower, now) || state->looked_ms == 0;
        state->looked_ms = weir_now_ms(self); /* a check may take longer than `poll` */
        if (state->follower.stops)
            return WEIR_EREJECTED;
    }
    status = send_lines(self, state, credit);
    if (is_to_save(self, state))
        save(self, state);
    weir_progress(self, "lines", state->lines, 0);
    if (status == WEIR_EFULL)
        return WEIR_MORE;
    if (status < 0 && status != WEIR_ENOMEM)
        return status;
    if (status == 0 && is_at_end(state))
        return WEIR_END;
    if (!state->rests)
        state->rests = weir_after(self, state->settings->poll, wake_up, state, &state->wake) == 0;
    return state->rests ? WEIR_WAIT : WEIR_ENOMEM;
}

/* --- outcomes --------------------------------------------------------------------------------- */

/* The dead letter is lost with the host: the next one begins at this line, or before. */
static void stop_position(struct weir_self *self, struct tail *state, const struct sent_line *line,
                          const char *reason)
{
    state->stopped++;
    weir_log(
        self, WEIR_LOG_ERROR, "position stops at a dead line", weir_str("path", line->text),
        weir_uint("line", line->number), weir_str("reason", reason),
        weir_str("effect", "the next start goes on there; set host.dead_letters.file to pass it"));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

static void tail_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct tail *state = memory;
    uint32_t token = (uint32_t)outcome->token;
    struct sent_line *line = state->sent[token];
    bool retried = outcome->result == WEIR_OUTCOME_RETRY;

    if (retried || (outcome->result == WEIR_OUTCOME_DEAD && !weir_outcome_is_final(outcome))) {
        line->again_ms = weir_now_ms(self) + (retried ? outcome->delay_ms + 1 : AGAIN_MS);
        line->attempt = (uint16_t)(retried ? outcome->attempt + 1 : 1);
        state->again++;
        return;
    }
    if (outcome->result == WEIR_OUTCOME_DEAD && state->settings->position && !outcome->is_stored &&
        line->file) {
        stop_position(self, state, line, outcome->reason);
        return;
    }
    followed_remove(line);
    state->bytes -= line->size;
    state->count--;
    state->sent[token] = NULL;
    state->free[state->free_count++] = token;
    state->changed = true;
    free(line);
}

static void tail_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct tail *state = memory;

    (void)self;
    weir_inspect_add(out, "files", "%" PRIu32, follower_count(&state->follower));
    weir_inspect_add(out, "behind_bytes", "%" PRIu64, follower_behind(&state->follower));
    weir_inspect_add(out, "checks", "%" PRIu64, state->follower.checks);
    weir_inspect_add(out, "unsettled", "%" PRIu32, state->count);
    weir_inspect_add(out, "stopped", "%" PRIu32, state->stopped);
    weir_inspect_add(out, "lines", "%" PRIu64, state->lines);
    weir_inspect_add(out, "too_long", "%" PRIu64, state->too_long);
    weir_inspect_add(out, "rotations", "%" PRIu64, state->follower.rotations);
    weir_inspect_add(out, "truncations", "%" PRIu64, state->follower.truncations);
}

static void tail_check(const void *memory, struct weir_report *report)
{
    const struct tail_settings *settings = memory;

    paths_check(&settings->paths, &settings->exclude, settings->position, report);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum tail_from. */
static const char *const from_choices[] = { "begin", "end", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_LIST(struct tail_settings, paths, .required = true, .min = 1, .max = 1000,
                     .help = "globs; files may come and go"),
    WEIR_OPTION_LIST(struct tail_settings, exclude, .max = 1000,
                     .help = "globs of files to leave out; without a slash: of their names"),
    WEIR_OPTION_STRING(struct tail_settings, position, .state = true,
                       .help = "file that says how far the lines are settled; default: none"),
    WEIR_OPTION_ENUM(struct tail_settings, from, .fallback = "begin", .choices = from_choices,
                     .help = "where files begin that are there at the start, without a position"),
    WEIR_OPTION_DURATION(struct tail_settings, poll, .fallback = "250ms", .min = 1, .max = 3600000,
                         .help = "between two looks at the files"),
    WEIR_OPTION_DURATION(struct tail_settings, save_every, .fallback = "1s", .max = 3600000,
                         .help = "the position is saved at most once in this time"),
    WEIR_OPTION_DURATION(struct tail_settings, rotate_wait, .fallback = "5s", .max = 86400000,
                         .help = "how long a file that was renamed may still grow"),
    WEIR_OPTION_U32(struct tail_settings, unsettled, .fallback = "10000", .min = 1, .max = 1000000,
                    .help = "lines that are sent and not settled"),
    WEIR_OPTION_SIZE(struct tail_settings, unsettled_bytes, .fallback = "64MiB", .min = 1,
                     .max = (int64_t)1 << 40, .help = "likewise, their bytes"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each line, as files.line/1" },
    { 0 },
};

const struct weir_behaviour files_tail = {
    .name = "tail",
    .summary = "the lines of files that grow and rotate, as they come",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct tail_settings),
    .state_size = sizeof(struct tail),
    .flags = WEIR_BLOCKING | WEIR_ENDLESS | WEIR_ORIGINS,
    .check = tail_check,
    .open = tail_open,
    .produce = tail_produce,
    .close = tail_close,
    .settled = tail_settled,
    .resume = tail_resume,
    .inspect = tail_inspect,
};
