/* SPDX-License-Identifier: MIT */
/*
 * A worker for `isolation: process` that is quick: it writes each text and its attempt to a file by
 * itself, and makes no call of the host, so that its window grows. It crashes on some texts.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/plugin.h>

#include "../../plugins/files/files.h"

#define IN_HAND 2

struct settings {
    const char *path;
    bool emits;
};

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, path, .required = true, .help = "the file"),
    WEIR_OPTION_BOOL(struct settings, emits, .fallback = "false", .help = "emits each text"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "the same text" },
    { 0 },
};

struct gulp {
    const struct weir_tag *line;
    int file;
    bool emits;
    struct weir_message *kept; /* of the text KEEP */
    bool has_failed;
    bool has_stashed;
    char held[100]; /* the text HOLD */
};

static int gulp_open(struct weir_self *self, const void *given, void *state)
{
    const struct settings *settings = given;
    struct gulp *gulp = state;

    gulp->line = weir_tag(self, "files.line/1");
    gulp->emits = settings->emits;
    gulp->file = open(settings->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return gulp->file >= 0 ? 0 : WEIR_ENOTALLOWED;
}

static int emit(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return WEIR_ENOMEM;
    if (message->size)
        memcpy(copy->data, message->data, message->size);
    return weir_emit(self, 0, copy);
}

/* KEEP keeps the message. FAIL lets it fail, and with it the worker: no text comes behind it. */
static int keep_or_fail(struct weir_self *self, struct gulp *gulp, const char *text,
                        const struct weir_message *message)
{
    if (strstr(text, "KEEP")) {
        gulp->kept = (struct weir_message *)(uintptr_t)message;
        return WEIR_KEEP;
    }
    if (strstr(text, "FAIL") && gulp->kept)
        gulp->has_failed = weir_settle(self, gulp->kept, WEIR_FAIL) == WEIR_OK;
    return WEIR_DONE;
}

static void write_row(struct gulp *gulp, const char *mark, const char *text, unsigned attempt,
                      unsigned worker)
{
    char row[160];
    int size = snprintf(row, sizeof row, "%s%s %u %u\n", mark, text, attempt, worker);

    if (write(gulp->file, row, (size_t)size) != size)
        abort();
}

static void wake(struct weir_self *self, void *state, void *context)
{
    struct gulp *gulp = state;

    (void)context;
    write_row(gulp, "woke-", gulp->held, 1, weir_index(self));
    if (weir_set_demand(self, IN_HAND) != WEIR_OK)
        abort();
}

/* HOLD: no text comes before the timer has written a row. STASH is handled behind BACK. */
static bool has_gone(struct weir_self *self, struct gulp *gulp, const char *text,
                     const struct weir_message *message)
{
    if (strstr(text, "HOLD")) {
        (void)snprintf(gulp->held, sizeof gulp->held, "%s", text);
        if (weir_set_demand(self, 0) != WEIR_OK || weir_after(self, 5, wake, NULL, NULL) != WEIR_OK)
            abort();
    }
    if (strstr(text, "BACK") && weir_unstash(self, UINT32_MAX) != 1)
        abort();
    if (!strstr(text, "STASH") || gulp->has_stashed)
        return false;
    gulp->has_stashed = true;
    return weir_stash(self, message) == WEIR_OK;
}

static int gulp_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct gulp *gulp = state;
    char text[100];
    size_t given;
    const char *bytes = files_text(message, gulp->line, &given);

    if (gulp->emits && emit(self, message) != WEIR_OK)
        return WEIR_REJECT;
    (void)snprintf(text, sizeof text, "%.*s", (int)given, bytes);
    if (strstr(text, "SEGV"))
        (void)raise(SIGSEGV);
    if (strstr(text, "NAP"))
        (void)poll(NULL, 0, 200);
    while (strstr(text, "LOOP"))
        (void)pause();
    if (has_gone(self, gulp, text, message))
        return WEIR_DONE;
    write_row(gulp, gulp->has_failed ? "late-" : "", text, message->attempt, weir_index(self));
    return keep_or_fail(self, gulp, text, message);
}

static void gulp_close(struct weir_self *self, void *state, int reason)
{
    const struct gulp *gulp = state;

    (void)self;
    (void)reason;
    (void)close(gulp->file);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "texts",
      .summary = "writes texts to a file",
      .options = options,
      .outputs = outputs,
      .in_hand = IN_HAND,
      .settings_size = sizeof(struct settings),
      .state_size = sizeof(struct gulp),
      .open = gulp_open,
      .handle = gulp_handle,
      .close = gulp_close },
    { .name = "singles",
      .summary = "writes texts to a file, and keeps none",
      .options = options,
      .outputs = outputs,
      .settings_size = sizeof(struct settings),
      .state_size = sizeof(struct gulp),
      .open = gulp_open,
      .handle = gulp_handle,
      .close = gulp_close },
    { 0 },
};

WEIR_PLUGIN("gulp", "1.0.0", behaviours);
