/* SPDX-License-Identifier: MIT */
/*
 * A source and a worker without faults, and some workers that break one rule each when they get a
 * line. Fault: `open` fails always or for the third worker; `handle` returns an unknown verdict,
 * forgets a kept message, settles it twice, emits at an output that does not exist, fails, crashes,
 * overwrites the host's part of a message and aborts, calls exit, raises a signal, or ends the
 * host's thread.
 */
#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

#define LINE_TAG "unruly.line/1" /* the payload is a text that ends with NUL */
#define LINE_MAX 256
#define OUTPUT_OUT 0u
#define OUTPUT_OF_NOBODY 5u
#define MARK '!'

/* --- unruly.lines and unruly.talk, which are right -------------------------------------------- */

struct lines_settings {
    const char *path;
};

struct lines {
    FILE *file; /* a FIFO: reading it waits for a writer */
};

static int lines_open(struct weir_self *self, const void *settings, void *state)
{
    ((struct lines *)state)->file = fopen(((const struct lines_settings *)settings)->path, "re");
    if (((struct lines *)state)->file)
        return 0;
    weir_reason(self, "cannot be opened");
    return WEIR_EINVALID;
}

static int lines_produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct weir_message *message;
    char text[LINE_MAX];

    (void)credit;
    if (!fgets(text, sizeof text, ((struct lines *)state)->file))
        return WEIR_END;
    text[strcspn(text, "\n")] = '\0';
    message = weir_message_new(self, weir_tag(self, LINE_TAG), strlen(text) + 1);
    if (!message)
        return WEIR_ENOMEM;
    memcpy(message->data, text, strlen(text) + 1);
    if (weir_emit(self, OUTPUT_OUT, message) == 0)
        return WEIR_MORE;
    weir_message_free(self, message);
    return WEIR_ENOMEM;
}

static void lines_close(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    (void)fclose(((struct lines *)state)->file);
}

static int pass_on(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return WEIR_RETRY;
    memcpy(copy->data, message->data, message->size);
    if (weir_emit(self, OUTPUT_OUT, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_RETRY;
}

/* Repeats each line; forwards one that begins with a mark, too. */
static int talk(struct weir_self *self, void *state, const struct weir_message *message)
{
    const char *line = message->data;
    char text[LINE_MAX + 16];
    int size = snprintf(text, sizeof text, "heard %s\n", line);

    (void)state;
    weir_print(self, text, (size_t)size);
    return line[0] == MARK ? pass_on(self, message) : WEIR_DONE;
}

/* --- those that are not ----------------------------------------------------------------------- */

static int open_never(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    weir_reason(self, "the camera is not there");
    return WEIR_EINVALID;
}

static int open_but_the_third(struct weir_self *self, const void *settings, void *state)
{
    return weir_index(self) == 2 ? open_never(self, settings, state) : 0;
}

static int answer_no_verdict(struct weir_self *self, void *state,
                             const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return 77;
}

static int keep_for_ever(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_KEEP;
}

static void settle_twice(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)weir_settle(self, context, WEIR_DONE);
    (void)weir_settle(self, context, WEIR_DONE);
}

static int keep_and_settle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    return weir_after(self, 0, settle_twice, (void *)(uintptr_t)message, NULL) == 0 ? WEIR_KEEP
                                                                                    : WEIR_RETRY;
}

static int emit_to_nobody(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, 0);

    (void)state;
    if (copy && weir_emit(self, OUTPUT_OF_NOBODY, copy) != 0)
        weir_message_free(self, copy);
    return WEIR_DONE;
}

static int fail(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    weir_reason(self, "the camera is not there any more");
    return WEIR_FAIL;
}

/* Dereferences a null pointer. */
static int crash(struct weir_self *self, void *state, const struct weir_message *message)
{
    const char *level = getenv("WEIR_TESTS_NEVER_SET_THIS");

    (void)self;
    (void)state;
    (void)message;
    return isdigit((unsigned char)level[0]) ? WEIR_DONE : WEIR_REJECT;
}

/* The start of the message: the host's own part comes after the public one. */
static int overwrite(struct weir_self *self, void *state, const struct weir_message *message)
{
    char *begin = (char *)(uintptr_t)message;

    (void)self;
    (void)state;
    memset(begin, 'x', (size_t)((char *)message->data - begin));
    abort();
}

static int leave_by_exit(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    exit(3);
}

static int leave_by_alarm(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    (void)raise(SIGALRM);
    return WEIR_DONE;
}

static int leave_by_trap(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    (void)raise(SIGTRAP);
    return WEIR_DONE;
}

static int leave_in_open(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    (void)settings;
    (void)state;
    exit(3);
}

static int leave_by_thread(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    pthread_exit(NULL);
}

static const struct weir_option lines_options[] = {
    WEIR_OPTION_STRING(struct lines_settings, path, .required = true, .help = "a FIFO"),
    { 0 },
};

static const struct weir_output lines_outputs[] = {
    { .name = "out", .help = "each line", .required = true },
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "lines that begin with a mark" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "lines",
        .summary = "lines of a FIFO",
        .options = lines_options,
        .outputs = lines_outputs,
        .settings_size = sizeof(struct lines_settings),
        .state_size = sizeof(struct lines),
        .flags = WEIR_BLOCKING,
        .open = lines_open,
        .produce = lines_produce,
        .close = lines_close,
    },
    { .name = "talk", .summary = "repeats lines", .outputs = outputs, .handle = talk },
    { .name = "open", .open = open_never, .handle = talk },
    { .name = "third", .open = open_but_the_third, .handle = talk },
    { .name = "verdict", .handle = answer_no_verdict },
    { .name = "keep", .handle = keep_for_ever },
    { .name = "settle", .handle = keep_and_settle },
    { .name = "emit", .handle = emit_to_nobody },
    { .name = "fail", .handle = fail },
    { .name = "crash", .handle = crash },
    { .name = "overwrite", .handle = overwrite },
    { .name = "exit", .handle = leave_by_exit },
    { .name = "alarm", .handle = leave_by_alarm },
    { .name = "trap", .handle = leave_by_trap },
    { .name = "leave_open", .open = leave_in_open, .handle = talk },
    { .name = "thread", .handle = leave_by_thread },
    { 0 },
};

WEIR_PLUGIN("unruly", "1.0.0", behaviours);
