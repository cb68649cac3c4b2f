/* SPDX-License-Identifier: MIT */
/*
 * stdout - writes messages to the host's standard output.
 *
 * On a terminal the host prints, beside its own lines. Anything else is written here, without
 * waiting and without changing the mode of a descriptor that others may share: after poll has said
 * that a pipe has room, a write of PIPE_BUF bytes does not wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/plugin.h>

#include "../files/files.h"

#define NAME "stdout.write"
#define AGAIN_MS 10u
#define IN_HAND 1024u
/* Of a file, the bytes of one write; of anything else, PIPE_BUF. */
#define CHUNK_SIZE ((size_t)64 * 1024)

enum end_choice {
    END_NEWLINE,
    END_NUL,
    END_NONE,
};

struct settings {
    uint32_t end; /* enum end_choice */
};

/* The bytes of a message, and its end. */
struct piece {
    const struct weir_message *message; /* borrowed while it is kept */
    const char *text;
    size_t size;
    size_t end_size;
};

struct output {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *line;
    int descriptor; /* owned; a duplicate of standard output */
    char end;
    bool is_terminal;
    bool is_regular;
    bool is_broken;           /* the reader has left */
    bool is_paused;           /* the worker gets no message */
    bool waits;               /* for room: on_writable or on_time goes on */
    uint32_t first, gathered; /* of `pieces`: a ring of the messages to write */
    uint32_t unsettled;       /* messages before these that are written */
    size_t size;              /* bytes of these */
    size_t written;           /* bytes of the first one, with its end */
    uint64_t count;
    uint64_t bytes;
    uint64_t dropped;
    struct piece pieces[IN_HAND];
    char chunk[CHUNK_SIZE];
};

/* A host that starts without a standard output has one that cannot be written. */
static bool is_writable(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static int stdout_open(struct weir_self *self, const void *settings, void *memory)
{
    struct output *state = memory;
    struct stat about;

    state->settings = settings;
    state->end = state->settings->end == END_NUL ? '\0' : '\n';
    state->line = weir_tag(self, FILES_LINE_TAG);
    if (!state->line)
        return WEIR_ENOMEM;
    if (weir_name(self, NAME) != 0) {
        weir_reason(self, "another pool writes standard output");
        return WEIR_EEXISTS;
    }
    if (!is_writable(STDOUT_FILENO)) {
        weir_reason(self, "standard output is not open for writing");
        return WEIR_EINVALID;
    }
    state->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (state->descriptor < 0) {
        weir_reason(self, "standard output cannot be used");
        return WEIR_EINVALID;
    }
    state->is_terminal = isatty(state->descriptor);
    state->is_regular = fstat(state->descriptor, &about) == 0 && S_ISREG(about.st_mode);
    return 0;
}

/* --- what is gathered ------------------------------------------------------------------------- */

static struct piece piece_of(const struct output *state, const struct weir_message *message)
{
    struct piece piece = { .message = message };
    bool has_end;

    piece.text = files_text(message, state->line, &piece.size);
    has_end = piece.size > 0 && piece.text[piece.size - 1] == state->end;
    piece.end_size = state->settings->end == END_NONE || has_end ? 0 : 1;
    return piece;
}

static size_t size_of(const struct piece *piece)
{
    return piece->size + piece->end_size;
}

static struct piece *piece_at(struct output *state, uint32_t number)
{
    return &state->pieces[(state->first + number) % IN_HAND];
}

/* The bytes of a piece from `from` on, `room` at most. Returns their number. */
static size_t copy_piece(const struct output *state, const struct piece *piece, size_t from,
                         char *out, size_t room)
{
    size_t size = 0;

    if (from < piece->size) {
        size = piece->size - from < room ? piece->size - from : room;
        memcpy(out, piece->text + from, size);
    }
    if (from + size == piece->size && piece->end_size > 0 && size < room)
        out[size++] = state->end;
    return size;
}

/* The next bytes, of `most` messages. Returns their number. */
static size_t fill_chunk(struct output *state, uint32_t most)
{
    size_t room = state->is_regular ? CHUNK_SIZE : PIPE_BUF, size = 0, from = state->written;

    for (uint32_t i = 0; i < most && i < state->gathered && size < room; i++) {
        size += copy_piece(state, piece_at(state, i), from, state->chunk + size, room - size);
        from = 0;
    }
    return size;
}

/* As a program whose reader has left ends by SIGPIPE: the host ends in order, as after TERM. */
static void break_off(struct weir_self *self, struct output *state)
{
    state->is_broken = true;
    weir_log(self, WEIR_LOG_INFO, "standard output has no reader any more; stopping");
    (void)kill(getpid(), SIGTERM);
}

/* The first message goes. */
static const struct piece *take_first(struct output *state)
{
    const struct piece *piece = piece_at(state, 0);

    state->first = (state->first + 1) % IN_HAND;
    state->gathered--;
    state->size -= size_of(piece);
    return piece;
}

/* The first message could not be written. */
static void settle_first(struct weir_self *self, struct output *state, int error)
{
    const struct piece *piece = take_first(state);
    char text[128];

    if (error == EPIPE && !state->is_broken)
        break_off(self, state);
    if (state->is_broken) {
        state->dropped++;
        (void)weir_settle(self, piece->message, WEIR_DONE);
        return;
    }
    weir_reason(self, "not written: %s", strerror_r(error, text, sizeof text));
    (void)weir_settle(self, piece->message, WEIR_REJECT);
}

/* Passes what is written whole: these messages wait to be settled. */
static void pass(struct output *state, size_t written)
{
    state->written += written;
    while (state->gathered > 0 && state->written >= size_of(piece_at(state, 0))) {
        const struct piece *piece = take_first(state);

        state->written -= size_of(piece);
        state->bytes += size_of(piece);
        state->count++;
        state->unsettled++;
    }
}

/* Those that are written: they are the ones before the first. */
static void settle_written(struct weir_self *self, struct output *state)
{
    for (; state->unsettled > 0; state->unsettled--) {
        uint32_t number = (state->first + IN_HAND - state->unsettled) % IN_HAND;

        (void)weir_settle(self, state->pieces[number].message, WEIR_DONE);
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

/* One write, of `most` messages. 0; EAGAIN when there is no room; or another errno. */
static int write_some(struct output *state, uint32_t most)
{
    struct pollfd look = { .fd = state->descriptor, .events = POLLOUT };
    size_t size = fill_chunk(state, most);
    ssize_t written = 0;

    if (size > 0 && !state->is_regular && poll(&look, 1, 0) == 0)
        return EAGAIN;
    if (size > 0)
        written = write(state->descriptor, state->chunk, size);
    if (written < 0)
        return errno == EINTR ? 0 : errno;
    pass(state, (size_t)written);
    return 0;
}

/* While it is paused, the worker gets no message. */
static void pause_input(struct weir_self *self, struct output *state, bool is_paused)
{
    if (is_paused != state->is_paused)
        (void)weir_set_demand(self, is_paused ? 0 : IN_HAND);
    state->is_paused = is_paused;
}

static int wait_for_room(struct weir_self *self, struct output *state);

/* Writes what is gathered, or waits for room. After a failure each message is written
 * by itself, so that it has its own fate. */
static void write_out(struct weir_self *self, struct output *state)
{
    uint32_t most = IN_HAND;

    while (state->gathered > 0 && !state->waits) {
        int error = state->is_broken ? EPIPE : write_some(state, most);

        if (error == EAGAIN)
            error = wait_for_room(self, state);
        if (error == 0 || error == EAGAIN)
            continue;
        state->written = 0;
        settle_written(self, state);
        settle_first(self, state, error);
        most = 1;
    }
    pause_input(self, state, state->waits);
    weir_progress(self, "messages", state->count, 0);
}

/* --- waiting for room ------------------------------------------------------------------------- */

static void go_on(struct weir_self *self, struct output *state)
{
    state->waits = false;
    write_out(self, state);
    settle_written(self, state);
}

static void on_writable(struct weir_self *self, void *memory, void *context, int descriptor,
                        int readiness)
{
    (void)context;
    (void)descriptor;
    (void)readiness;
    go_on(self, memory);
}

static void on_time(struct weir_self *self, void *memory, void *context)
{
    (void)context;
    go_on(self, memory);
}

/* EAGAIN: it waits. Otherwise an errno. Without memory for a watch it looks again later. */
static int wait_for_room(struct weir_self *self, struct output *state)
{
    if (weir_watch(self, state->descriptor, WEIR_WRITABLE, on_writable, NULL, NULL) != 0 &&
        weir_after(self, AGAIN_MS, on_time, NULL, NULL) != 0)
        return ENOMEM;
    state->waits = true;
    return EAGAIN;
}

static void print(struct weir_self *self, struct output *state, const struct piece *piece)
{
    weir_print(self, piece->text, piece->size);
    if (piece->end_size > 0)
        weir_print(self, &state->end, 1);
    state->count++;
    state->bytes += size_of(piece);
    weir_progress(self, "messages", state->count, 0);
}

static int stdout_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct output *state = memory;
    struct piece piece = piece_of(state, message);

    if (state->is_terminal) {
        print(self, state, &piece);
        return WEIR_DONE;
    }
    *piece_at(state, state->gathered++) = piece;
    state->size += size_of(&piece);
    if (state->size >= CHUNK_SIZE)
        pause_input(self, state, true);
    return WEIR_KEEP;
}

static int stdout_flush(struct weir_self *self, void *memory)
{
    struct output *state = memory;

    write_out(self, state);
    if (state->gathered > 0) {
        settle_written(self, state);
        return WEIR_KEEP;
    }
    state->unsettled = 0;
    return WEIR_DONE;
}

static void stdout_close(struct weir_self *self, void *memory, int reason)
{
    struct output *state = memory;

    (void)self;
    (void)reason;
    (void)close(state->descriptor);
}

static void stdout_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct output *state = memory;

    (void)self;
    weir_inspect_add(out, "messages", "%llu", (unsigned long long)state->count);
    weir_inspect_add(out, "bytes", "%llu", (unsigned long long)state->bytes);
    weir_inspect_add(out, "dropped", "%llu", (unsigned long long)state->dropped);
    weir_inspect_add(out, "waits", "%s", state->waits ? "yes" : "no");
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum end_choice. */
static const char *const end_choices[] = { "newline", "nul", "none", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_ENUM(struct settings, end, .fallback = "newline", .choices = end_choices,
                     .help = "written after each message that does not end with it"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "write",
        .summary = "writes messages of any kind to standard output",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct output),
        .flags = WEIR_BLOCKING | WEIR_ALONE | WEIR_EXCLUSIVE,
        .in_hand = IN_HAND,
        .open = stdout_open,
        .handle = stdout_handle,
        .close = stdout_close,
        .inspect = stdout_inspect,
        .flush = stdout_flush,
    },
    { 0 },
};

WEIR_PLUGIN("stdout", "1.0.0", behaviours);
