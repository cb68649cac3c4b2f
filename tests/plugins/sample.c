/* SPDX-License-Identifier: MIT */
/* A plugin without faults. Built twice, with another SAMPLE_VERSION. */
#include <weir/plugin.h>

struct settings {
    uint32_t keep;
    uint64_t room;
    uint64_t pause;
    const char *token;
    uint32_t mode;
    struct weir_list paths;
};

static const char *const modes[] = { "fast", "exact", NULL };

static void check(const void *settings, struct weir_report *report)
{
    const struct settings *given = settings;

    if (given->keep == 13)
        weir_report_error(report, "keep", "13 brings bad luck");
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_END;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct settings, keep, .fallback = "1", .min = 1, .max = 1000, .live = true,
                    .help = "messages passed on in each round"),
    WEIR_OPTION_SIZE(struct settings, room, .fallback = "64KiB", .min = 1, .max = 1 << 30,
                     .help = "bytes kept"),
    WEIR_OPTION_DURATION(struct settings, pause, .fallback = "0ms"),
    WEIR_OPTION_STRING(struct settings, token, .fallback = "hush", .secret = true),
    WEIR_OPTION_ENUM(struct settings, mode, .fallback = "fast", .choices = modes),
    { 0 },
};

static const struct weir_option source_options[] = {
    WEIR_OPTION_LIST(struct settings, paths, .required = true, .min = 1, .max = 10),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "every message", .required = true },
    { .name = "odd" },
    { 0 },
};

static const struct weir_output source_outputs[] = {
    { .name = "out", .help = "one message a file" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "pass",
        .summary = "passes messages on",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .check = check,
        .handle = handle,
    },
    {
        .name = "list",
        .summary = "lists files",
        .options = source_options,
        .outputs = source_outputs,
        .settings_size = sizeof(struct settings),
        .flags = WEIR_BLOCKING,
        .produce = produce,
    },
    { .name = "bare", .flags = WEIR_EXCLUSIVE, .in_hand = 8, .handle = handle },
    { 0 },
};

WEIR_PLUGIN("sample", SAMPLE_VERSION, behaviours);
