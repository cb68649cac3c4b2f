/* SPDX-License-Identifier: MIT */
#include "unit/config/fake_catalogue.h"

#include <stdio.h>
#include <string.h>

/* --- callbacks that no test of the language lets run ------------------------------------------ */

static int handle_nothing(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static int produce_nothing(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_END;
}

/* --- tables ----------------------------------------------------------------------------------- */

struct lines {
    struct weir_list paths;
};

static const struct weir_option lines_options[] = {
    WEIR_OPTION_LIST(struct lines, paths, .required = true, .min = 1, .max = INT64_MAX,
                     .help = "files and patterns"),
    { 0 },
};

static const struct weir_output lines_outputs[] = {
    { .name = "out", .help = "each line", .required = true },
    { 0 },
};

struct digest {
    const char *root;
    uint32_t burst;
    uint32_t rate;
};

static const struct weir_option digest_options[] = {
    WEIR_OPTION_STRING(struct digest, root, .fallback = "/", .help = "put before every path"),
    WEIR_OPTION_U32(struct digest, burst, .fallback = "1", .min = 1, .max = 1000, .live = true,
                    .help = "files at once"),
    WEIR_OPTION_U32(struct digest, rate, .fallback = "10", .min = 1, .max = 1000, .live = true,
                    .help = "files a second"),
    { 0 },
};

static void digest_check(const void *settings, struct weir_report *report)
{
    const struct digest *digest = settings;

    if (digest->burst > digest->rate)
        weir_report_error(report, "burst", "%u exceeds rate %u", digest->burst, digest->rate);
    if (strcmp(digest->root, "/nowhere") == 0)
        weir_report_error(report, NULL, "nothing can work there");
}

static const struct weir_output digest_outputs[] = {
    { .name = "ok", .help = "as it should be" },
    { .name = "changed", .help = "differs", .required = true },
    { .name = "missing", .help = "is not there" },
    { .name = "unreadable", .help = "cannot be read" },
    { 0 },
};

struct relay {
    const char *through;
    struct weir_map by;
};

static const struct weir_option relay_options[] = {
    WEIR_OPTION_POOL(struct relay, through, .help = "the pool to ask"),
    WEIR_OPTION_MAP(struct relay, by, .pools = true, .help = "topic: pool that is asked"),
    { 0 },
};

static const char *const formats[] = { "jpeg", "png", "webp", NULL };

static const struct weir_option scale_options[] = {
    WEIR_OPTION_BOOL(struct fake_scale, keep, .fallback = "true"),
    WEIR_OPTION_U32(struct fake_scale, threads, .fallback = "1", .min = 1, .max = 8),
    WEIR_OPTION_U64(struct fake_scale, max_pixels, .fallback = "1000000"),
    WEIR_OPTION_I64(struct fake_scale, offset, .min = -10, .max = 10),
    WEIR_OPTION_F64(struct fake_scale, quality, .fallback = "0.8", .min = 0, .max = 1,
                    .live = true),
    WEIR_OPTION_SIZE(struct fake_scale, cache, .fallback = "64KiB", .min = 1024, .max = 1 << 30),
    WEIR_OPTION_DURATION(struct fake_scale, patience, .fallback = "250ms", .min = 1, .max = 60000),
    WEIR_OPTION_STRING(struct fake_scale, label, .live = true),
    WEIR_OPTION_ENUM(struct fake_scale, format, .fallback = "png", .choices = formats),
    WEIR_OPTION_LIST(struct fake_scale, sizes, .fallback = "small, large", .max = 3),
    WEIR_OPTION_MAP(struct fake_scale, headers, .help = "as they are"),
    WEIR_OPTION_STRING(struct fake_scale, token, .secret = true, .live = true),
    { 0 },
};

static const struct weir_output scale_outputs[] = {
    { .name = "done" },
    { .name = "failed" },
    { 0 },
};

static const struct weir_output words_outputs[] = {
    { .name = "next" },
    { 0 },
};

struct command {
    struct weir_list command;
};

static const struct weir_option command_options[] = {
    WEIR_OPTION_LIST(struct command, command, .min = 0, .max = INT64_MAX),
    { 0 },
};

static const struct weir_output command_outputs[] = {
    { .name = "out", .help = "what it is for", .expected = true },
    { .name = "log", .help = "for whom it concerns" },
    { 0 },
};

static const struct weir_output door_outputs[] = {
    { .name = "asked", .help = "gets requests", .asks = true },
    { .name = "next", .help = "gets the answers" },
    { 0 },
};

static const struct weir_behaviour lines = {
    .name = "lines",
    .options = lines_options,
    .outputs = lines_outputs,
    .settings_size = sizeof(struct lines),
    .flags = WEIR_BLOCKING,
    .produce = produce_nothing,
};

static const struct weir_behaviour tail = {
    .name = "tail",
    .outputs = lines_outputs,
    .flags = WEIR_ORIGINS,
    .produce = produce_nothing,
};

struct numbers {
    bool key;
    const char *position;
    bool overlap;
    uint32_t mode;
    const char *log;
};

static const char *const numbers_modes[] = { "plain", "fast", "stored", NULL };

static const struct weir_option numbers_options[] = {
    WEIR_OPTION_BOOL(struct numbers, key, .fallback = "false", .help = "gives each one a key"),
    WEIR_OPTION_STRING(struct numbers, position, .state = true, .help = "how far it is"),
    WEIR_OPTION_BOOL(struct numbers, overlap, .fallback = "true", .origins = 1 + false,
                     .help = "does not wait"),
    WEIR_OPTION_ENUM(struct numbers, mode, .fallback = "plain", .choices = numbers_modes,
                     .origins = 1 + 2, .help = "what it waits for"),
    WEIR_OPTION_STRING(struct numbers, log, .writes = true, .help = "what it has done"),
    { 0 },
};

static void hear(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    (void)state;
    (void)outcome;
}

static const struct weir_behaviour numbers = {
    .name = "numbers",
    .options = numbers_options,
    .outputs = lines_outputs,
    .settings_size = sizeof(struct numbers),
    .flags = WEIR_KEYLESS,
    .produce = produce_nothing,
    .settled = hear,
};

static const struct weir_behaviour digest = {
    .name = "md5",
    .options = digest_options,
    .outputs = digest_outputs,
    .settings_size = sizeof(struct digest),
    .flags = WEIR_BLOCKING,
    .check = digest_check,
    .handle = handle_nothing,
};

static const struct weir_behaviour scale = {
    .name = "scale",
    .options = scale_options,
    .outputs = scale_outputs,
    .settings_size = sizeof(struct fake_scale),
    .handle = handle_nothing,
};

static const struct weir_behaviour words = {
    .name = "words",
    .outputs = words_outputs,
    .handle = handle_nothing,
};

static const struct weir_behaviour sink = {
    .name = "null",
    .handle = handle_nothing,
};

static const struct weir_behaviour listener = {
    .name = "listen",
    .options = scale_options,
    .settings_size = sizeof(struct fake_scale),
    .flags = WEIR_EXCLUSIVE,
    .handle = handle_nothing,
};

/* Of `total` and `sums`. */
struct meeting {
    const char *line;
};

static const struct weir_option meeting_options[] = {
    WEIR_OPTION_STRING(struct meeting, line, .meets = true, .help = "where the other one waits"),
    { 0 },
};

static const struct weir_behaviour total = {
    .name = "total",
    .options = meeting_options,
    .settings_size = sizeof(struct meeting),
    .flags = WEIR_ALONE,
    .handle = handle_nothing,
};

static const struct weir_behaviour sums = {
    .name = "sums",
    .options = meeting_options,
    .settings_size = sizeof(struct meeting),
    .flags = WEIR_KEYED,
    .handle = handle_nothing,
};

static const struct weir_behaviour command = {
    .name = "run",
    .options = command_options,
    .outputs = command_outputs,
    .settings_size = sizeof(struct command),
    .handle = handle_nothing,
};

static const struct weir_behaviour server = {
    .name = "server",
    .outputs = lines_outputs,
    .flags = WEIR_ASKING,
    .produce = produce_nothing,
};

/* As `server`, by its output. */
static const struct weir_behaviour caller = {
    .name = "calls",
    .outputs = door_outputs,
    .produce = produce_nothing,
};

static const struct weir_behaviour asker = {
    .name = "asker",
    .outputs = door_outputs,
    .handle = handle_nothing,
};

static const struct weir_behaviour relay = {
    .name = "relay",
    .options = relay_options,
    .settings_size = sizeof(struct relay),
    .handle = handle_nothing,
};

/* --- finding ---------------------------------------------------------------------------------- */

struct row {
    const char *use;
    struct catalogue_entry entry;
};

#define ROWS(plugin_version, plugin_generation, hash)                                              \
    {                                                                                              \
        { "files.lines",                                                                           \
          { &lines, "files", plugin_version, plugin_generation, (hash) + 1, NULL, -1, NULL } },    \
            { "files.tail",                                                                        \
              { &tail, "files", plugin_version, plugin_generation, (hash) + 1, NULL, -1, NULL } }, \
            { "integrity.md5",                                                                     \
              { &digest, "integrity", plugin_version, plugin_generation, (hash) + 2, NULL, -1,     \
                NULL } },                                                                          \
            { "thumb.scale",                                                                       \
              { &scale, "thumb", plugin_version, plugin_generation, (hash) + 3, NULL, -1,          \
                NULL } },                                                                          \
            { "count.words",                                                                       \
              { &words, "count", plugin_version, plugin_generation, (hash) + 4, NULL, -1,          \
                NULL } },                                                                          \
            { "sink.null",                                                                         \
              { &sink, "sink", plugin_version, plugin_generation, (hash) + 5, NULL, -1, NULL } },  \
            { "door.listen",                                                                       \
              { &listener, "door", plugin_version, plugin_generation, (hash) + 6, NULL, -1,        \
                NULL } },                                                                          \
            { "count.total",                                                                       \
              { &total, "count", plugin_version, plugin_generation, (hash) + 4, NULL, -1,          \
                NULL } },                                                                          \
            { "count.sums",                                                                        \
              { &sums, "count", plugin_version, plugin_generation, (hash) + 4, NULL, -1, NULL } }, \
            { "count.relay",                                                                       \
              { &relay, "count", plugin_version, plugin_generation, (hash) + 4, NULL, -1,          \
                NULL } },                                                                          \
            { "gen.numbers",                                                                       \
              { &numbers, "gen", plugin_version, plugin_generation, (hash) + 7, NULL, -1,          \
                NULL } },                                                                          \
            { "exec.run",                                                                          \
              { &command, "exec", plugin_version, plugin_generation, (hash) + 8, NULL, -1,         \
                NULL } },                                                                          \
            { "door.server",                                                                       \
              { &server, "door", plugin_version, plugin_generation, (hash) + 6, NULL, -1,          \
                NULL } },                                                                          \
            { "door.calls",                                                                        \
              { &caller, "door", plugin_version, plugin_generation, (hash) + 6, NULL, -1,          \
                NULL } },                                                                          \
            { "door.asker",                                                                        \
              { &asker, "door", plugin_version, plugin_generation, (hash) + 6, NULL, -1, NULL } }, \
    }

static const struct row rows[] = ROWS("1.0.0", 1, 100);
static const struct row newer_rows[] = ROWS("2.0.0", 2, 200);

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const struct catalogue_entry *find_in(const struct row *table, const char *use,
                                             struct catalogue_problem *why)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(table[i].use, use) == 0)
            return &table[i].entry;
    }
    (void)snprintf(why->text, sizeof why->text, "there is no behaviour %.64s", use);
    return NULL;
}

static const struct catalogue_entry *find(void *context, const char *use,
                                          struct catalogue_problem *why)
{
    (void)context;
    return find_in(rows, use, why);
}

static const struct catalogue_entry *find_newer(void *context, const char *use,
                                                struct catalogue_problem *why)
{
    (void)context;
    return find_in(newer_rows, use, why);
}

const struct catalogue fake_catalogue = { .find = find };
const struct catalogue fake_catalogue_newer = { .find = find_newer };
