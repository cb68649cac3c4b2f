/* SPDX-License-Identifier: MIT */
#include "pipe.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../files/files.h"
#include "exec.h"
#include "pipe_state.h"

/* Bytes of a line of JSON: room for an output of `frame_max` bytes as base64, and its fields. */
#define JSON_REST 1024u
/* For so long a program that worked is not tried again: workers of a pool open side by side. */
#define TRIED_MS 10000u

static size_t json_max(const struct pipe_settings *settings)
{
    return settings->frames == PIPE_JSON ? 2 * (size_t)settings->frame_max + JSON_REST : 0;
}

/* All workers with these settings run the same program, so one of them waits for its child,
 * whatever its number: a reload numbers its workers beside those of before. True: the program does
 * not work. */
static bool fails_early(struct weir_self *self, struct pipe *state)
{
    /* Settings belong to the plugin, and these fields to its workers. */
    struct pipe_settings *settings = (struct pipe_settings *)(uintptr_t)state->settings;
    uint64_t tried = atomic_load(&settings->tried);
    bool fails;

    if ((tried != 0 && weir_now_ms(self) - tried < TRIED_MS) ||
        atomic_exchange(&settings->is_trying, true))
        return false;
    fails = pipe_fails_early(self, state);
    tried = weir_now_ms(self);
    atomic_store(&settings->tried, fails ? 0 : tried ? tried : 1);
    atomic_store(&settings->is_trying, false);
    return fails;
}

static int pipe_open(struct weir_self *self, const void *settings, void *memory)
{
    struct pipe *state = memory;
    char text[128];
    int status, error;

    state->settings = settings;
    state->line = weir_tag(self, FILES_LINE_TAG);
    state->tag = weir_tag(self, state->settings->tag);
    peer_init(&state->peer, state->settings->log_lines, json_max(state->settings));
    status = state->line && state->tag
                 ? program_open(self, &state->settings->program, &state->program)
                 : WEIR_ENOMEM;
    if (status < 0)
        return status;
    error = pipe_start(self, state);
    if (pipe_start_later(self, state, error))
        return 0;
    if (error != 0) {
        weir_reason(self, "not started: %s", strerror_r(error, text, sizeof text));
        program_close(&state->program);
        return error == ENOMEM ? WEIR_ENOMEM : WEIR_EINVALID;
    }
    if (!fails_early(self, state))
        return 0;
    program_close(&state->program);
    return WEIR_EINVALID;
}

/* The verdict for a message that cannot be written. */
static int refuse(struct weir_self *self, int status)
{
    if (status == WEIR_ENOMEM) {
        weir_reason(self, "no memory for a frame");
        weir_retry_after(self, PIPE_AGAIN_MS);
        return WEIR_POSTPONE;
    }
    weir_reason(self, "the tag has a line end");
    return WEIR_REJECT;
}

static int pipe_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct pipe *state = memory;
    int status;

    /* The child ends, and another one gets the message. */
    if (state->phase != PIPE_READY && state->phase != PIPE_BUSY) {
        weir_reason(self, "the child has ended");
        weir_retry_after(self, PIPE_AGAIN_MS);
        return WEIR_POSTPONE;
    }
    status = pipe_give(self, state, message);
    return status == 0 ? WEIR_KEEP : refuse(self, status);
}

/* Nothing is settled by it: the child does. */
static int write_gathered(struct weir_self *self, void *memory)
{
    pipe_flush(self, memory);
    return WEIR_KEEP;
}

static int pipe_taken(struct weir_self *self, void *memory)
{
    struct pipe *state = memory;

    state->pace.is_leased = true;
    pipe_keep_pace(self, state);
    return 0;
}

static int pipe_returned(struct weir_self *self, void *memory)
{
    struct pipe *state = memory;

    state->pace.is_leased = false;
    pipe_keep_pace(self, state);
    return 0;
}

/* The items of the child: lines of NAME VALUE. */
static void add_items(const struct pipe *state, struct weir_inspection *out)
{
    const char *at = state->items;

    while (*at) {
        size_t line = strcspn(at, "\n"), name = strcspn(at, " \n");
        size_t value = line > name ? name + 1 : line;
        char item[WEIR_INSPECT_ITEM_MAX + 1];

        if (name > 0) {
            (void)snprintf(item, sizeof item, "%.*s", (int)name, at);
            weir_inspect_add(out, item, "%.*s", (int)(line - value), at + value);
        }
        at += line + (at[line] == '\n');
    }
}

static void pipe_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct pipe *state = memory;
    const struct window *window = &state->window;

    weir_inspect_add(out, "process", "%lld", (long long)state->peer.child.process);
    weir_inspect_add(out, "ready", "%s",
                     state->phase == PIPE_READY || state->phase == PIPE_BUSY ? "yes" : "no");
    weir_inspect_add(
        out, "busy_ms", "%llu",
        (unsigned long long)(state->phase == PIPE_BUSY ? weir_now_ms(self) - state->began : 0));
    weir_inspect_add(out, "revision", "%u", state->revision);
    weir_inspect_add(out, "window", "%u", state->pace.demand);
    weir_inspect_add(out, "ahead", "%u", given_count(&window->ahead));
    weir_inspect_add(out, "kept", "%u", given_count(&window->kept));
    weir_inspect_add(out, "messages_done", "%llu", (unsigned long long)state->count_done);
    weir_inspect_add(out, "messages_refused", "%llu", (unsigned long long)state->count_refused);
    weir_inspect_add(out, "printed_lines", "%llu", (unsigned long long)state->peer.words.total);
    add_items(state, out);
}

/* The child has `grace` to end, and no thread waits for it. */
static int pipe_leave(struct weir_self *self, void *memory)
{
    struct pipe *state = memory;

    if (state->phase == PIPE_ENDED || state->phase == PIPE_WAITING)
        return WEIR_END;
    if (!state->leaves && pipe_listens(state) && state->revision > 1) {
        pipe_say_close(self, state);
        pipe_arm(self, state);
    } else if (!state->leaves && pipe_listens(state)) {
        pipe_expect_end(self, state, "the worker leaves", false);
        /* It may wait for a reader of its last frames. */
        inbox_close(self, &state->peer.inbox);
    }
    state->leaves = true;
    return WEIR_WAIT;
}

/* The incarnation ends, and its worker does not leave. The child says its last words; a thread for
 * blocking work waits for them. Returns what is left of `grace`. */
static uint64_t hear_last_words(struct weir_self *self, struct pipe *state)
{
    uint64_t left = state->settings->grace;
    bool may_come = true;

    pipe_say_close(self, state);
    while (may_come && state->phase == PIPE_CLOSING) {
        while (pipe_read(self, state))
            continue;
        may_come = !state->peer.inbox.at_end &&
                   peer_await_frames(self, &state->peer, state->blocked, &left);
    }
    while (pipe_read(self, state))
        continue;
    return left;
}

static void pipe_close(struct weir_self *self, void *memory, int reason)
{
    struct pipe *state = memory;
    long long process = state->peer.child.process;

    (void)reason;
    if (pipe_listens(state) && window_count(&state->window) == 0)
        peer_leave(self, &state->peer,
                   state->revision > 1 ? hear_last_words(self, state) : state->settings->grace);
    pipe_drop_frame(self, state);
    if (!peer_finish(self, &state->peer))
        weir_log(self, WEIR_LOG_ERROR, "child does not end", weir_int("process", process));
    program_close(&state->program);
    window_finish(&state->window);
}

static void pipe_check(const void *memory, struct weir_report *report)
{
    const struct pipe_settings *settings = memory;
    size_t size = strlen(settings->tag);

    program_check(&settings->program, report);
    if (size == 0 || size > 128 || strchr(settings->tag, '\n'))
        weir_report_error(report, "tag", "a tag has 1 to 128 bytes and no line end");
}

/* --- tables ----------------------------------------------------------------------------------- */

static const char *const format_choices[] = { "bytes", "json", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_LIST(struct program_settings, command, .required = true, .min = 1, .max = 1000,
                     .help = "program and arguments of the child"),
    WEIR_OPTION_STRING(struct pipe_settings, tag, .fallback = EXEC_OUTPUT_TAG,
                       .help = "tag of the messages at the output, and of replies"),
    WEIR_OPTION_ENUM(struct pipe_settings, frames, .fallback = "bytes", .choices = format_choices,
                     .help = "a line of words and then bytes, or an object of JSON in a line"),
    WEIR_OPTION_DURATION(struct pipe_settings, start_timeout, .fallback = "30s", .min = 1,
                         .max = 86400000, .help = "until the child must be ready"),
    WEIR_OPTION_DURATION(struct pipe_settings, open_wait, .fallback = "5s", .max = 3600000,
                         .help = "a child that fails so soon, before it is ready, refuses a start "
                                 "or reload"),
    WEIR_OPTION_DURATION(struct pipe_settings, timeout, .fallback = "0s",
                         .help = "stop a child that needs longer for a message; 0s: never"),
    WEIR_OPTION_DURATION(struct pipe_settings, grace, .fallback = "5s", .min = 1, .max = 3600000,
                         .help = "until a child that must end is killed"),
    WEIR_OPTION_DURATION(struct pipe_settings, tick, .fallback = "0s", .max = 86400000,
                         .help = "between two ticks for the child; 0s: none"),
    WEIR_OPTION_SIZE(struct pipe_settings, frame_max, .fallback = "16MiB", .max = 1 << 30,
                     .help = "stop a child that writes a larger output"),
    WEIR_OPTION_U32(struct pipe_settings, log_lines, .fallback = "20",
                    .help = "lines that the child prints which are logged for each message"),
    WEIR_OPTION_U32(struct pipe_settings, log_payload, .fallback = "64",
                    .max = PIPE_SAMPLE_SIZE - 1,
                    .help = "bytes of the payload in the log when the child ends with a message"),
    PROGRAM_OPTIONS,
    { 0 },
};

#define NUMBERED(number)                                                                           \
    {                                                                                              \
        .name = "out" #number, .help = "likewise: it means what the child makes of it"             \
    }

const struct weir_output pipe_outputs[] = {
    { .name = "out",
      .help = "the frames of the child, with the tag of the option `tag`",
      .expected = true },
    { .name = "errors", .help = "those for which the child has chosen it, by the frame `to`" },
    NUMBERED(2),
    NUMBERED(3),
    NUMBERED(4),
    NUMBERED(5),
    NUMBERED(6),
    NUMBERED(7),
    NUMBERED(8),
    { 0 },
};

const struct weir_behaviour exec_pipe = {
    .name = "pipe",
    .summary = "gives messages to a child that stays: a worker in any language",
    .options = options,
    .outputs = pipe_outputs,
    .settings_size = sizeof(struct pipe_settings),
    .state_size = sizeof(struct pipe),
    .flags = WEIR_BLOCKING | WEIR_GATHERS,
    .in_hand = WINDOW_MAX,
    .check = pipe_check,
    .open = pipe_open,
    .handle = pipe_handle,
    .inspect = pipe_inspect,
    .close = pipe_close,
    .taken = pipe_taken,
    .returned = pipe_returned,
    .leave = pipe_leave,
    .flush = write_gathered,
};
