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
#include <unistd.h>

#include <weir/plugin.h>

#include "../files/files.h"

#define NAME "stdout.write"
#define AGAIN_MS 10u

enum end_choice {
    END_NEWLINE,
    END_NUL,
    END_NONE,
};

struct settings {
    uint32_t end; /* enum end_choice */
};

struct output {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *line;
    int descriptor; /* owned; a duplicate of standard output */
    bool is_terminal;
    bool is_broken; /* the reader has left */
    const struct weir_message *kept;
    size_t written; /* bytes of the present message, with its end */
    uint64_t count;
    uint64_t bytes;
    uint64_t dropped;
};

/* The bytes of a message, and its end. */
struct piece {
    const char *text;
    size_t size;
    char end;
    size_t end_size;
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

    state->settings = settings;
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
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static struct piece piece_of(const struct output *state, const struct weir_message *message)
{
    struct piece piece = { .end = state->settings->end == END_NUL ? '\0' : '\n' };
    bool has_end;

    piece.text = files_text(message, state->line, &piece.size);
    has_end = piece.size > 0 && piece.text[piece.size - 1] == piece.end;
    piece.end_size = state->settings->end == END_NONE || has_end ? 0 : 1;
    return piece;
}

static void print(struct weir_self *self, const struct piece *piece)
{
    weir_print(self, piece->text, piece->size);
    if (piece->end_size > 0)
        weir_print(self, &piece->end, 1);
}

/* The next bytes, PIPE_BUF at most. Returns their number. */
static size_t next_bytes(const struct piece *piece, size_t from, char *out)
{
    size_t size = 0;

    if (from < piece->size) {
        size = piece->size - from < PIPE_BUF ? piece->size - from : PIPE_BUF;
        memcpy(out, piece->text + from, size);
    }
    if (from + size == piece->size && piece->end_size > 0 && size < PIPE_BUF)
        out[size++] = piece->end;
    return size;
}

/* 0 when all is written; EAGAIN when there is no room; or another errno. */
static int write_on(struct output *state, const struct piece *piece)
{
    size_t all = piece->size + piece->end_size;
    char bytes[PIPE_BUF];

    while (state->written < all) {
        struct pollfd look = { .fd = state->descriptor, .events = POLLOUT };
        ssize_t written;

        if (poll(&look, 1, 0) == 0)
            return EAGAIN;
        written = write(state->descriptor, bytes, next_bytes(piece, state->written, bytes));
        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0)
            state->written += (size_t)written;
    }
    return 0;
}

/* As a program whose reader has left ends by SIGPIPE: the host ends in order, as after TERM. */
static void break_off(struct weir_self *self, struct output *state)
{
    state->is_broken = true;
    weir_log(self, WEIR_LOG_INFO, "standard output has no reader any more; stopping");
    (void)kill(getpid(), SIGTERM);
}

static int verdict_of(struct weir_self *self, struct output *state, int error)
{
    char text[128];

    if (error == EPIPE && !state->is_broken)
        break_off(self, state);
    if (state->is_broken) {
        state->dropped++;
        return WEIR_DONE;
    }
    if (error != 0) {
        weir_reason(self, "not written: %s", strerror_r(error, text, sizeof text));
        return WEIR_REJECT;
    }
    state->count++;
    state->bytes += state->written;
    weir_progress(self, "messages", state->count, 0);
    return WEIR_DONE;
}

/* --- waiting for room ------------------------------------------------------------------------- */

static int wait_for_room(struct weir_self *self, struct output *state);

static void go_on(struct weir_self *self, struct output *state)
{
    struct piece piece = piece_of(state, state->kept);
    int error = write_on(state, &piece);
    int verdict;

    if (error == EAGAIN)
        error = wait_for_room(self, state);
    if (error == EAGAIN)
        return;
    verdict = verdict_of(self, state, error);
    (void)weir_settle(self, state->kept, verdict);
    state->kept = NULL;
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
    int status = weir_watch(self, state->descriptor, WEIR_WRITABLE, on_writable, NULL, NULL);

    if (status == 0 || weir_after(self, AGAIN_MS, on_time, NULL, NULL) == 0)
        return EAGAIN;
    return ENOMEM;
}

static int stdout_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct output *state = memory;
    struct piece piece = piece_of(state, message);
    int error = 0;

    state->written = 0;
    if (state->is_terminal) {
        print(self, &piece);
        state->written = piece.size + piece.end_size;
    } else if (!state->is_broken) {
        error = write_on(state, &piece);
    }
    if (error == EAGAIN)
        error = wait_for_room(self, state);
    if (error == EAGAIN) {
        state->kept = message;
        return WEIR_KEEP;
    }
    return verdict_of(self, state, error);
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
    weir_inspect_add(out, "waits", "%s", state->kept ? "yes" : "no");
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
        .open = stdout_open,
        .handle = stdout_handle,
        .close = stdout_close,
        .inspect = stdout_inspect,
    },
    { 0 },
};

WEIR_PLUGIN("stdout", "1.0.0", behaviours);
