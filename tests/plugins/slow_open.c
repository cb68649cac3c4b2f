/* SPDX-License-Identifier: MIT */
/*
 * Workers whose `open` waits at a gate, a FIFO, for one byte: `y` opens it, anything else fails.
 * Without a gate it opens at once. An open worker forwards each message unchanged; with a `barrier`
 * it waits there in the same way first. The source `spring` emits one message, waits at its
 * barrier, and ends. The source `lone` emits without end, and is exclusive.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <weir/plugin.h>

#define OUTPUT_OUT 0u
#define PASS 'y'

struct settings {
    const char *gate;
    const char *barrier;
};

struct pass {
    const char *barrier; /* borrowed from the settings */
};

/* The byte, or 0 at the end of the file. Blocks until a byte was written. */
static char wait_at(const char *gate)
{
    int descriptor = open(gate, O_RDONLY | O_CLOEXEC);
    char byte = 0;
    ssize_t size;

    if (descriptor < 0)
        return 0;
    do
        size = read(descriptor, &byte, 1);
    while (size < 0 && errno == EINTR);
    (void)close(descriptor);
    return size == 1 ? byte : (char)0;
}

static int open_gate(struct weir_self *self, const void *settings, void *memory)
{
    const struct settings *wanted = settings;

    ((struct pass *)memory)->barrier = wanted->barrier;
    if (!wanted->gate)
        return 0;
    weir_log(self, WEIR_LOG_INFO, "at the gate", weir_str("gate", wanted->gate));
    if (wait_at(wanted->gate) == PASS)
        return 0;
    weir_reason(self, "the gate stays shut");
    return WEIR_EINVALID;
}

static int pass_on(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct pass *state = memory;
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return WEIR_RETRY;
    if (message->size > 0)
        memcpy(copy->data, message->data, message->size);
    if (state->barrier) {
        weir_log(self, WEIR_LOG_INFO, "at the barrier", weir_str("barrier", state->barrier));
        (void)wait_at(state->barrier);
    }
    if (weir_emit(self, OUTPUT_OUT, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_RETRY;
}

static int produce_once(struct weir_self *self, void *memory, uint32_t credit)
{
    const struct pass *state = memory;
    struct weir_message *message = weir_message_new(self, weir_tag(self, "test.reload/1"), 0);

    (void)credit;
    if (!message)
        return WEIR_ENOMEM;
    if (weir_emit(self, OUTPUT_OUT, message) != 0)
        weir_message_free(self, message);
    (void)wait_at(state->barrier);
    return WEIR_END;
}

static int produce_always(struct weir_self *self, void *memory, uint32_t credit)
{
    (void)memory;
    for (; credit > 0; credit--) {
        struct weir_message *message = weir_message_new(self, weir_tag(self, "test.reload/1"), 0);

        if (!message)
            return WEIR_ENOMEM;
        if (weir_emit(self, OUTPUT_OUT, message) != 0) {
            weir_message_free(self, message);
            break;
        }
    }
    return WEIR_MORE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, gate, .help = "FIFO that `open` reads a byte from"),
    WEIR_OPTION_STRING(struct settings, barrier, .help = "likewise `handle`"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each message, as it came", .required = true },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "pass",
        .summary = "opens when it is let in, and passes messages on",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct pass),
        .flags = WEIR_BLOCKING,
        .open = open_gate,
        .handle = pass_on,
    },
    {
        .name = "hog",
        .summary = "likewise, and does not say that it may block",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct pass),
        .open = open_gate,
        .handle = pass_on,
    },
    {
        .name = "spring",
        .summary = "a source that waits inside `produce`",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct pass),
        .flags = WEIR_BLOCKING,
        .open = open_gate,
        .produce = produce_once,
    },
    {
        .name = "lone",
        .summary = "a source that a reload ends before it opens the next one",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct pass),
        .flags = WEIR_BLOCKING | WEIR_ENDLESS | WEIR_EXCLUSIVE,
        .open = open_gate,
        .produce = produce_always,
    },
    { 0 },
};

WEIR_PLUGIN("slow_open", "1.0.0", behaviours);
