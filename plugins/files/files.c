/* SPDX-License-Identifier: MIT */
/*
 * files - a source of the lines of many files.
 *
 * It produces as many messages as there is room for and holds one line at a time: memory does not
 * grow with the input. Its position is the file's place in the list, and the reader's position in
 * the file.
 */
#include "files.h"

#include <assert.h>
#include <glob.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weir/plugin.h>

#include "paths.h"
#include "position.h"
#include "reader.h"
#include "tail.h"
#include "waiting.h"

#define OUTPUT_OUT 0u

/* Bytes of one read from the disk: large enough that system calls do not count, small against any
 * cache. */
#define CHUNK_SIZE (64u * 1024u)
/* Reads and opens in one call, so that a stop takes effect in input without lines, too. */
#define STEPS_MAX 256u
/* Before another try to get memory. */
#define NO_MEMORY_MS 10u
/* Before another try to open a file, for want of a descriptor or memory. */
#define SHORT_MS 250u
/* At least one file or read failed, or there was no file: the exit code of `weir run` shows it. */
#define EXIT_INCOMPLETE 1

struct settings {
    struct weir_list paths;
    struct weir_list exclude;
    const char *position; /* NULL: none */
    uint64_t save_every;
    uint32_t unsettled;
    uint64_t unsettled_bytes;
    uint32_t on_change; /* enum on_change */
};

struct lines {
    struct durable *durable; /* owned; with a position: it does everything, see below */
    const struct weir_tag *tag;
    struct reader reader;
    struct reader_line line; /* valid when have_line: read, but not emitted */
    bool have_line;
    glob_t found;              /* owns the paths */
    char **paths;              /* owned; without those that are left out, in order */
    size_t count;              /* of `paths` */
    uint64_t *sizes;           /* owned; of each file, when this worker opened */
    bool *done;                /* owned; files that an earlier source has read; NULL = none */
    struct position_here here; /* the position in the file that is opened first */
    size_t current;            /* index of the file that is being read, or will be next */
    uint64_t key;              /* of the current file's name */
    uint64_t bytes_total;
    uint64_t bytes_passed; /* in the files before the current one */
    uint64_t lines_done;
    bool is_short; /* the host lacks what the next file needs: the log has it */
};

/* --- finding the files ------------------------------------------------------------------------ */

static int find_files(struct weir_self *self, glob_t *files, const char *pattern)
{
    const size_t before = files->gl_pathc;
    struct paths_trouble trouble;

    if (paths_glob(pattern, files, &trouble) != 0)
        return WEIR_ENOMEM;
    if (trouble.error != 0) {
        paths_log_trouble(self, pattern, &trouble, "its files are left out");
    } else if (files->gl_pathc == before) {
        weir_log(self, WEIR_LOG_WARNING, "no file matches", weir_str("paths", pattern));
        weir_exit_status(self, EXIT_INCOMPLETE);
    }
    return 0;
}

static int find_all_files(struct weir_self *self, struct lines *state,
                          const struct weir_list *paths, const struct weir_list *exclude)
{
    for (size_t i = 0; i < paths->count; i++) {
        int status = find_files(self, &state->found, paths->items[i]);

        if (status < 0)
            return status;
    }
    state->paths = calloc(state->found.gl_pathc + 1, sizeof *state->paths);
    if (!state->paths)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < state->found.gl_pathc; i++) {
        char *path = state->found.gl_pathv[i];
        int is_left_out = paths_exclude(exclude, path);

        if (is_left_out < 0)
            return WEIR_ENOMEM;
        if (!is_left_out)
            state->paths[state->count++] = path;
    }
    return 0;
}

/* For the progress figures only: a file that changes later does not matter. */
static int measure_files(struct lines *state)
{
    state->sizes = calloc(state->count + 1, sizeof *state->sizes);
    if (!state->sizes)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < state->count; i++) {
        struct stat about;

        assert(state->paths[i]); /* for the analyzer: calloc made room for more than there are */
        if (stat(state->paths[i], &about) == 0 && S_ISREG(about.st_mode))
            state->sizes[i] = (uint64_t)about.st_size;
        state->bytes_total += state->sizes[i];
    }
    return 0;
}

static void release(struct lines *state)
{
    reader_finish(&state->reader);
    free(state->sizes);
    state->sizes = NULL;
    free(state->done);
    state->done = NULL;
    free(state->paths);
    state->paths = NULL;
    globfree(&state->found);
}

/* --- with a position: files.tail, which ends -------------------------------------------------- */

#define POLL_MS 250u

struct durable {
    struct tail_settings settings;
    max_align_t tail[];
};

static int open_durable(struct weir_self *self, struct lines *state, const struct settings *wanted)
{
    int status;

    state->durable = calloc(1, sizeof *state->durable + files_tail.state_size);
    if (!state->durable)
        return WEIR_ENOMEM;
    state->durable->settings = (struct tail_settings){ .paths = wanted->paths,
                                                       .exclude = wanted->exclude,
                                                       .position = wanted->position,
                                                       .from = TAIL_FROM_BEGIN,
                                                       .poll = POLL_MS,
                                                       .save_every = wanted->save_every,
                                                       .unsettled = wanted->unsettled,
                                                       .unsettled_bytes = wanted->unsettled_bytes,
                                                       .on_change = wanted->on_change,
                                                       .ends = true };
    status = files_tail.open(self, &state->durable->settings, state->durable->tail);
    if (status < 0) {
        free(state->durable);
        state->durable = NULL;
    }
    return status;
}

static void close_durable(struct weir_self *self, struct lines *state, int reason)
{
    files_tail.close(self, state->durable->tail, reason);
    free(state->durable);
}

static void lines_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct lines *state = memory;

    files_tail.settled(self, state->durable->tail, outcome);
}

static void lines_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    struct lines *state = memory;

    if (state->durable)
        files_tail.inspect(self, state->durable->tail, out);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int lines_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct settings *wanted = settings;
    struct lines *state = memory;
    int status;

    if (wanted->position)
        return open_durable(self, state, wanted);
    status = reader_init(&state->reader, FILES_LINE_MAX, CHUNK_SIZE);

    state->tag = weir_tag(self, FILES_LINE_TAG);
    if (status == 0 && !state->tag)
        status = WEIR_ENOMEM;
    if (status == 0)
        status = find_all_files(self, state, &wanted->paths, &wanted->exclude);
    if (status == 0)
        status = measure_files(state);
    if (status == WEIR_ENOMEM)
        weir_reason(self, "descriptors or memory are short");
    if (status < 0)
        release(state);
    return status;
}

/* --- going through them ----------------------------------------------------------------------- */

static const char *current_path(const struct lines *state)
{
    return state->paths[state->current];
}

/* Skips the files that an earlier source has read. */
static void pass_done(struct lines *state)
{
    while (state->done && state->current < state->count && state->done[state->current])
        state->bytes_passed += state->sizes[state->current++];
}

static void next_file(struct lines *state)
{
    if (state->done)
        state->done[state->current] = true;
    state->bytes_passed += state->sizes[state->current++];
    pass_done(state);
}

static void log_progress(struct weir_self *self, const struct lines *state)
{
    uint64_t done = state->bytes_passed;

    if (state->reader.descriptor >= 0) {
        uint64_t size = state->sizes[state->current];
        uint64_t here = state->reader.offset;

        done += here < size ? here : size;
    }
    weir_progress(self, "bytes", done, state->bytes_total);
    weir_progress(self, "lines", state->lines_done, 0);
}

static void give_up_file(struct weir_self *self, struct lines *state, const char *event)
{
    char text[128];

    weir_log(self, WEIR_LOG_WARNING, event, weir_str("path", current_path(state)),
             weir_str("reason", strerror_r(state->reader.error, text, sizeof text)));
    weir_exit_status(self, EXIT_INCOMPLETE);
    next_file(state);
}

static void warn_of_long_line(struct weir_self *self, struct lines *state)
{
    weir_log(self, WEIR_LOG_WARNING, "line too long; skipped",
             weir_str("path", current_path(state)), weir_uint("line", state->line.number),
             weir_uint("limit", FILES_LINE_MAX));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

static void open_file(struct weir_self *self, struct lines *state)
{
    const char *path = current_path(state);
    bool is_here = state->here.path == path; /* the same pointer: see go_on_in */
    uint64_t offset = is_here ? state->here.offset : 0;
    uint64_t number = is_here ? state->here.number : 0;
    bool is_open = reader_open_at(&state->reader, path, offset, number) == 0;

    if (!is_open && weir_is_short(state->reader.error)) {
        waiting_log(self, &state->is_short, path, state->reader.error);
        return;
    }
    state->is_short = false;
    if (is_here)
        state->here.path = NULL;
    state->key = weir_key(path, strlen(path));
    if (!is_open)
        give_up_file(self, state, "file cannot be opened; skipped");
}

/* After a shortage the file is opened again at the line that could not be read. */
static bool waits_in_file(struct weir_self *self, struct lines *state)
{
    const struct reader *reader = &state->reader;

    if (!weir_is_short(reader->error))
        return false;
    state->here = (struct position_here){ current_path(state), reader_place(reader),
                                          reader->number };
    waiting_log(self, &state->is_short, current_path(state), reader->error);
    return true;
}

/* True when it has read from the disk. */
static bool read_on(struct weir_self *self, struct lines *state)
{
    switch (reader_next(&state->reader, &state->line)) {
    case READER_LINE:
        state->have_line = true;
        return false;
    case READER_TOO_LONG:
        warn_of_long_line(self, state);
        return false;
    case READER_END:
        next_file(state);
        return true;
    case READER_FAILED:
        if (!waits_in_file(self, state))
            give_up_file(self, state, "file cannot be read; its rest is skipped");
        return true;
    case READER_AGAIN:
        break;
    }
    return true;
}

/* One step to the next line: opens a file or reads on in it. True when it has read from the
 * disk. */
static bool advance(struct weir_self *self, struct lines *state)
{
    if (state->reader.descriptor >= 0)
        return read_on(self, state);
    open_file(self, state);
    return true;
}

/* --- handing the lines on --------------------------------------------------------------------- */

/* Returns owned; NULL when memory is out. The payload is zeroed, so both NULs are there. */
static struct weir_message *make_message(struct weir_self *self, const struct lines *state)
{
    const char *name = current_path(state);
    size_t name_size = strlen(name);
    size_t size = sizeof(struct files_line) + name_size + state->line.size + 2;
    char label[WEIR_LABEL_SIZE];
    struct weir_message *message = weir_message_new_labelled(
        self, state->tag, size, weir_label_of_line(label, name, state->line.number));
    struct files_line *line;

    if (!message)
        return NULL;
    message->key = state->key;
    line = message->data;
    line->name_size = (uint32_t)name_size;
    line->line_size = (uint32_t)state->line.size;
    line->number = state->line.number;
    line->offset = state->line.offset;
    memcpy(line + 1, name, name_size);
    memcpy((char *)(line + 1) + name_size + 1, state->line.text, state->line.size);
    (void)weir_set_identity(self, message, message->data, message->size);
    return message;
}

/* After any result but 0 the line stays, to be emitted later. */
static int emit_line(struct weir_self *self, struct lines *state)
{
    struct weir_message *message = make_message(self, state);
    int status;

    if (!message)
        return WEIR_ENOMEM;
    status = weir_emit(self, OUTPUT_OUT, message);
    if (status < 0) {
        weir_message_free(self, message);
        return status;
    }
    state->have_line = false;
    state->lines_done++;
    return 0;
}

static void wake_up(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

static int wait_for(struct weir_self *self, uint64_t delay_ms)
{
    return weir_after(self, delay_ms, wake_up, NULL, NULL) == 0 ? WEIR_WAIT : WEIR_ENOMEM;
}

/* Keeps the line for later. Waits when memory is out, to avoid a busy loop. */
static int put_off(struct weir_self *self, int status)
{
    if (status == WEIR_EFULL)
        return WEIR_MORE;
    return status == WEIR_ENOMEM ? wait_for(self, NO_MEMORY_MS) : status;
}

static int produce_lines(struct weir_self *self, struct lines *state, uint32_t credit)
{
    uint32_t steps = 0;

    while (credit > 0 && steps < STEPS_MAX) {
        if (state->have_line) {
            int status = emit_line(self, state);

            if (status < 0)
                return put_off(self, status);
            credit--;
        } else if (state->current == state->count) {
            return WEIR_END;
        } else if (advance(self, state)) {
            steps++;
        }
        if (state->is_short)
            return wait_for(self, SHORT_MS);
    }
    return WEIR_MORE;
}

static int lines_produce(struct weir_self *self, void *state, uint32_t credit)
{
    const struct lines *lines = state;
    int produced;

    if (lines->durable)
        return files_tail.produce(self, lines->durable->tail, credit);
    produced = produce_lines(self, state, credit);
    log_progress(self, state);
    return produced;
}

/* --- taking over ------------------------------------------------------------------------------ */

/* The position of the first line that has not been emitted. */
static struct position_here here_of(const struct lines *state)
{
    const struct reader *reader = &state->reader;
    struct position_here here = { NULL, reader_place(reader), reader->number };

    if (state->have_line) {
        here.offset = state->line.offset;
        here.number = state->line.number - 1;
    }
    if (state->have_line || reader->descriptor >= 0)
        here.path = current_path(state);
    return here.path ? here : state->here;
}

/* Lists the files that this source has finished. */
static size_t list_done(const struct lines *state, char **out_paths)
{
    size_t count = 0;

    for (size_t i = 0; i < state->count; i++)
        if (state->done ? state->done[i] : i < state->current)
            out_paths[count++] = state->paths[i];
    return count;
}

static int leave_position(struct weir_self *self, const struct lines *state)
{
    struct position_here here = here_of(state);
    char **done = calloc(state->count + 1, sizeof *done);
    size_t size = 0;
    void *position = NULL;
    int status = WEIR_ENOMEM;

    if (done)
        position = position_pack(&here, done, list_done(state, done), &size);
    if (position)
        status = weir_leave_position(self, position, size);
    free(position);
    free(done);
    return status;
}

/* Puts the file of the former source's position first, so that there are never two half-read
 * files. */
static void go_on_in(struct lines *state, const struct position_here *here)
{
    char **paths = state->paths;

    for (size_t i = 0; here->path && i < state->count; i++) {
        char *path = paths[i];
        uint64_t size = state->sizes[i];

        if (state->done[i] || strcmp(path, here->path) != 0)
            continue;
        memmove(paths + 1, paths, i * sizeof *paths);
        memmove(state->sizes + 1, state->sizes, i * sizeof *state->sizes);
        memmove(state->done + 1, state->done, i * sizeof *state->done);
        paths[0] = path;
        state->sizes[0] = size;
        state->done[0] = false;
        state->here = (struct position_here){ path, here->offset, here->number };
        return;
    }
}

static void lines_resume(struct weir_self *self, void *memory, const void *position, size_t size)
{
    struct lines *state = memory;
    size_t count = state->count;
    struct position_here here;

    if (state->durable) {
        files_tail.resume(self, state->durable->tail, position, size);
        return;
    }
    if (!position_unpack(position, size, &here))
        return;
    state->done = calloc(count + 1, sizeof *state->done);
    if (!state->done || position_mark(position, size, state->paths, count, state->done) != 0) {
        weir_log(self, WEIR_LOG_ERROR, "out of memory for the position; tried again later");
        (void)weir_leave_position(self, NULL, WEIR_POSITION_LOST);
        return;
    }
    go_on_in(state, &here);
    pass_done(state);
}

static void lines_close(struct weir_self *self, void *memory, int reason)
{
    struct lines *state = memory;

    if (state->durable) {
        close_durable(self, state, reason);
        return;
    }
    if (leave_position(self, state) != 0) {
        weir_log(self, WEIR_LOG_ERROR, "position lost: out of memory");
        (void)weir_leave_position(self, NULL, WEIR_POSITION_LOST);
    }
    release(state);
}

static void lines_check(const void *memory, struct weir_report *report)
{
    const struct settings *settings = memory;

    paths_check(&settings->paths, &settings->exclude, settings->position, report);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum on_change. */
static const char *const change_choices[] = { "restart", "skip", "stop", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_LIST(struct settings, paths, .required = true, .min = 1, .max = 1000,
                     .help = "globs of the files to read, in this order; each sorted by name"),
    WEIR_OPTION_LIST(struct settings, exclude, .max = 1000,
                     .help = "globs of files to leave out; without a slash: of their names"),
    WEIR_OPTION_STRING(struct settings, position, .state = true,
                       .help = "file that says how far the lines are settled; default: none"),
    WEIR_OPTION_DURATION(struct settings, save_every, .fallback = "1s", .max = 3600000,
                         .help = "the position is saved at most once in this time"),
    WEIR_OPTION_U32(struct settings, unsettled, .fallback = "10000", .min = 1, .max = 1000000,
                    .help = "with a position: lines that are sent and not settled"),
    WEIR_OPTION_SIZE(struct settings, unsettled_bytes, .fallback = "64MiB", .min = 1,
                     .max = (int64_t)1 << 40, .help = "likewise, their bytes"),
    WEIR_OPTION_ENUM(struct settings, on_change, .fallback = "restart", .choices = change_choices,
                     .help = "with a position: the treatment of a file that was truncated or "
                             "replaced, or is gone"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each line, as files.line/1" },
    { 0 },
};

static const struct weir_behaviour files_lines = {
    .name = "lines",
    .summary = "the lines of any number of files, as fast as they are taken",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct lines),
    .flags = WEIR_BLOCKING | WEIR_GATHERS,
    .check = lines_check,
    .open = lines_open,
    .produce = lines_produce,
    .close = lines_close,
    .settled = lines_settled,
    .inspect = lines_inspect,
    .resume = lines_resume,
};

WEIR_PLUGIN_OF("files", "1.0.0", &files_lines, &files_tail);
