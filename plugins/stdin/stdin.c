/* SPDX-License-Identifier: MIT */
/*
 * stdin - a source of the lines of the host's standard input.
 *
 * It reads when its target has room, and only bytes that are there: it needs no thread that waits
 * for the writer, and does not change the mode of the descriptor, which other processes may share.
 */
#include "stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/plugin.h>

#include "lines.h"

#define OUTPUT_OUT 0u
#define NAME "stdin.lines"

/* Bytes of one read: the usual size of a pipe. */
#define CHUNK_SIZE ((size_t)64 * 1024)
/* Reads in one call, so that a stop takes effect in input without lines, too. */
#define READS_MAX 64u
#define NO_MEMORY_MS 10u
#define EXIT_INCOMPLETE 1
#define MAGIC 0x32306e6964747377u            /* identifies the plugin and the format */
#define MAGIC_UNNUMBERED 0x31306e6964747377u /* of a head without `number` */

struct settings {
    bool nul;
    bool key;
    uint64_t line_max;
};

struct input {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *tag;
    int descriptor; /* owned; a duplicate of standard input */
    struct lines lines;
    const char *line; /* read, but not emitted; NULL = none; in `lines` */
    size_t line_size;
    bool ended;
    uint64_t earlier; /* lines that an earlier source has read */
    uint64_t count;
    uint64_t bytes;
    uint64_t too_long;
};

/* The position: the head, then the bytes that were read and not emitted. */
struct head {
    uint64_t magic;
    uint32_t skipping;
    uint32_t at_end;
    uint64_t number; /* of lines before these bytes */
};

static void release(struct input *state)
{
    if (state->descriptor >= 0)
        (void)close(state->descriptor);
    lines_finish(&state->lines);
}

/* A host that starts without a standard input has one that cannot be read. */
static bool is_open_for_reading(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

static int open_input(struct weir_self *self, struct input *state)
{
    if (weir_name(self, NAME) != 0) {
        weir_reason(self, "another source reads standard input");
        return WEIR_EEXISTS;
    }
    if (!is_open_for_reading(STDIN_FILENO)) {
        weir_reason(self, "standard input is not open for reading");
        return WEIR_EINVALID;
    }
    state->descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (state->descriptor >= 0)
        return 0;
    weir_reason(self, "standard input cannot be used");
    return WEIR_EINVALID;
}

static int stdin_open(struct weir_self *self, const void *settings, void *memory)
{
    struct input *state = memory;
    int status;

    state->settings = settings;
    state->descriptor = -1;
    state->tag = weir_tag(self, STDIN_LINE_TAG);
    status = lines_init(&state->lines, state->settings->line_max, CHUNK_SIZE,
                        state->settings->nul ? '\0' : '\n');
    if (status == 0 && !state->tag)
        status = WEIR_ENOMEM;
    if (status == 0)
        status = open_input(self, state);
    if (status < 0)
        release(state);
    return status;
}

/* --- emitting --------------------------------------------------------------------------------- */

/* Of the first word. */
static uint64_t key_of(const char *line, size_t size)
{
    size_t length = 0;

    while (length < size && line[length] != ' ' && line[length] != '\t')
        length++;
    return weir_key(line, length);
}

static uint64_t lines_passed(const struct input *state)
{
    return state->earlier + state->count + state->too_long;
}

/* After any result but 0 the line stays, to be emitted later. */
static int emit_line(struct weir_self *self, struct input *state)
{
    char label[WEIR_LABEL_SIZE];
    struct weir_message *message = weir_message_new_labelled(
        self, state->tag, state->line_size,
        weir_label_of_line(label, "stdin", lines_passed(state) + 1));
    int status;

    if (!message)
        return WEIR_ENOMEM;
    if (state->settings->key)
        message->key = key_of(state->line, state->line_size);
    if (state->line_size > 0)
        memcpy(message->data, state->line, state->line_size);
    status = weir_emit(self, OUTPUT_OUT, message);
    if (status < 0) {
        weir_message_free(self, message);
        return status;
    }
    state->line = NULL;
    state->count++;
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void wake_up(struct weir_self *self, void *memory, void *context)
{
    (void)self;
    (void)memory;
    (void)context;
}

/* The host calls `produce` after this. */
static void on_readable(struct weir_self *self, void *memory, void *context, int descriptor,
                        int readiness)
{
    (void)descriptor;
    (void)readiness;
    wake_up(self, memory, context);
}

static int wait_for_memory(struct weir_self *self)
{
    return weir_after(self, NO_MEMORY_MS, wake_up, NULL, NULL) == 0 ? WEIR_WAIT : WEIR_MORE;
}

static bool is_readable(const struct input *state)
{
    struct pollfd look = { .fd = state->descriptor, .events = POLLIN };

    return poll(&look, 1, 0) != 0;
}

static int watch(struct weir_self *self, struct input *state)
{
    int status = weir_watch(self, state->descriptor, WEIR_READABLE, on_readable, NULL, NULL);

    /* EEXISTS: it is watched since an earlier call. */
    if (status == 0 || status == WEIR_EEXISTS)
        return WEIR_WAIT;
    return status == WEIR_ENOMEM ? wait_for_memory(self) : status;
}

static void read_some(struct weir_self *self, struct input *state)
{
    size_t room;
    char *to = lines_room(&state->lines, &room);
    char text[128];
    ssize_t got;

    do
        got = read(state->descriptor, to, room < CHUNK_SIZE ? room : CHUNK_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got < 0) {
        weir_log(self, WEIR_LOG_ERROR, "standard input cannot be read; it counts as ended",
                 weir_str("reason", strerror_r(errno, text, sizeof text)));
        weir_exit_status(self, EXIT_INCOMPLETE);
        got = 0;
    }
    state->bytes += (uint64_t)got;
    lines_read(&state->lines, (size_t)got);
}

static void log_too_long(struct weir_self *self, struct input *state)
{
    state->too_long++;
    weir_log(self, WEIR_LOG_WARNING, "line too long; skipped",
             weir_uint("line", lines_passed(state)), weir_uint("limit", state->settings->line_max));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* One step to the next line. WEIR_MORE: go on; otherwise the result of `produce`. */
static int advance(struct weir_self *self, struct input *state, uint32_t *reads)
{
    switch (lines_next(&state->lines, &state->line, &state->line_size)) {
    case LINES_LINE:
        return WEIR_MORE;
    case LINES_TOO_LONG:
        log_too_long(self, state);
        return WEIR_MORE;
    case LINES_END:
        state->ended = true;
        return WEIR_END;
    case LINES_READ:
        break;
    }
    if (!is_readable(state))
        return watch(self, state);
    read_some(self, state);
    ++*reads;
    return WEIR_MORE;
}

static int produce_lines(struct weir_self *self, struct input *state, uint32_t credit)
{
    uint32_t reads = 0;

    while (credit > 0 && reads < READS_MAX) {
        bool has_line = state->line != NULL;
        int produced = has_line ? emit_line(self, state) : advance(self, state, &reads);

        if (produced == WEIR_ENOMEM)
            return wait_for_memory(self);
        if (produced == WEIR_EFULL)
            return WEIR_MORE;
        if (produced != WEIR_MORE)
            return produced;
        credit -= has_line;
    }
    return WEIR_MORE;
}

static int stdin_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct input *state = memory;
    int produced = produce_lines(self, state, credit);

    weir_progress(self, "lines", state->count, 0);
    weir_progress(self, "bytes", state->bytes, 0);
    return produced;
}

/* --- taking over ------------------------------------------------------------------------------ */

/* Returns owned; NULL when memory is out. A line that waits to be emitted goes first, with an
 * end. */
static char *pack(const struct input *state, size_t *out_size)
{
    struct head head = { MAGIC, state->lines.skipping, state->lines.at_end, lines_passed(state) };
    size_t line = state->line ? state->line_size + 1 : 0;
    size_t rest;
    const char *text = lines_rest(&state->lines, &rest);
    char *data = malloc(sizeof head + line + rest), *to;

    if (!data)
        return NULL;
    to = mempcpy(data, &head, sizeof head);
    if (state->line) {
        to = mempcpy(to, state->line, state->line_size);
        *to++ = state->lines.end;
    }
    if (rest > 0)
        to = mempcpy(to, text, rest);
    *out_size = (size_t)(to - data);
    return data;
}

/* The bytes of the head; 0: it is not one of this plugin. */
static size_t unpack_head(const void *position, size_t size, struct head *out)
{
    size_t head_size = offsetof(struct head, number);

    *out = (struct head){ 0 };
    if (size < head_size)
        return 0;
    memcpy(out, position, head_size);
    if (out->magic == MAGIC_UNNUMBERED)
        return head_size;
    if (out->magic != MAGIC || size < sizeof *out)
        return 0;
    memcpy(out, position, sizeof *out);
    return sizeof *out;
}

static void stdin_resume(struct weir_self *self, void *memory, const void *position, size_t size)
{
    struct input *state = memory;
    struct head head;
    size_t head_size = unpack_head(position, size, &head);

    if (head_size == 0)
        return;
    if (!lines_put_back(&state->lines, (const char *)position + head_size, size - head_size)) {
        weir_log(self, WEIR_LOG_ERROR, "line_max is less than the bytes that were read already");
        (void)weir_leave_position(self, NULL, WEIR_POSITION_LOST);
        return;
    }
    state->lines.skipping = head.skipping;
    state->lines.at_end = head.at_end;
    state->earlier = head.number;
}

static void stdin_close(struct weir_self *self, void *memory, int reason)
{
    struct input *state = memory;
    size_t size = 0;
    char *position = pack(state, &size);

    (void)reason;
    if (!position || weir_leave_position(self, position, size) != 0) {
        weir_log(self, WEIR_LOG_ERROR, "lines that were read are lost: out of memory");
        (void)weir_leave_position(self, NULL, WEIR_POSITION_LOST);
    }
    free(position);
    release(state);
}

static void stdin_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct input *state = memory;

    (void)self;
    weir_inspect_add(out, "lines", "%llu", (unsigned long long)state->count);
    weir_inspect_add(out, "bytes", "%llu", (unsigned long long)state->bytes);
    weir_inspect_add(out, "too_long", "%llu", (unsigned long long)state->too_long);
    weir_inspect_add(out, "finished", "%s", state->ended ? "yes" : "no");
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct weir_option options[] = {
    WEIR_OPTION_BOOL(struct settings, nul, .fallback = "false",
                     .help = "lines end with a NUL, as `find -print0` writes them"),
    WEIR_OPTION_BOOL(struct settings, key, .fallback = "false",
                     .help = "the first word of a line is its key, for `route: hash`"),
    WEIR_OPTION_SIZE(struct settings, line_max, .fallback = "1MiB", .min = 1, .max = 1 << 28,
                     .help = "skip lines that are longer, with a warning"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each line, as stdin.line/1" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "lines",
        .summary = "the lines of standard input, as fast as they are taken",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct input),
        .flags = WEIR_BLOCKING | WEIR_EXCLUSIVE | WEIR_KEYLESS | WEIR_GATHERS,
        .open = stdin_open,
        .produce = stdin_produce,
        .close = stdin_close,
        .resume = stdin_resume,
        .inspect = stdin_inspect,
    },
    { 0 },
};

WEIR_PLUGIN("stdin", "1.0.0", behaviours);
