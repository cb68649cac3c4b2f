#include "config/language.h"

#include <string.h>

#include "config/settings.h"

/* A key whose value goes into a field; its C type must be `wanted`. */
#define VALUE(owner, field, word, wanted, value_kind, ...)                                         \
    {                                                                                              \
        .option = {                                                                                \
            .name = (word),                                                                        \
            .kind = (value_kind),                                                                  \
            .offset = WEIR_OPTION_OFFSET(owner, field, wanted),                                    \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* The same, for a key of one kind of pool only. */
#define SCOPED(row_scope, owner, field, word, wanted, value_kind, ...)                             \
    {                                                                                              \
        .option = { .name = (word),                                                                \
                    .kind = (value_kind),                                                          \
                    .offset = WEIR_OPTION_OFFSET(owner, field, wanted),                            \
                    __VA_ARGS__ },                                                                 \
        .scope = (row_scope)                                                                       \
    }

/* A key with rows of its own, filled into a struct inside the owner's. */
#define SECTION(row_scope, owner, field, word, section_rows, ...)                                  \
    {                                                                                              \
        .option = { .name = (word),                                                                \
                    .kind = LANGUAGE_SECTION,                                                      \
                    .offset = (uint32_t)offsetof(owner, field),                                    \
                    __VA_ARGS__ },                                                                 \
        .rows = (section_rows), .scope = (row_scope)                                               \
    }

/* A key that the checker reads itself. */
#define OTHER(row_scope, word, other_kind, ...)                                                    \
    {                                                                                              \
        .option = { .name = (word), .kind = (other_kind), __VA_ARGS__ }, .scope = (row_scope)      \
    }

#define END                                                                                        \
    {                                                                                              \
        .option = {.name = NULL }                                                                  \
    }

#define HOUR_MS 3600000
#define DAY_MS (24 * (int64_t)HOUR_MS)

static const char *const levels[] = { "error", "warning", "info", "debug", NULL };
static const char *const pool_levels[] = { "error", "warning", "info", "debug", "host", NULL };
static const char *const formats[] = { "logfmt", "json", NULL };
static const char *const routes[] = { "round_robin", "least_loaded", "random", "hash",
                                      "pull",        "broadcast",    NULL };
static const char *const fullness[] = { "wait", "reject", "drop_newest", "dead_letter", NULL };
static const char *const removals[] = { "drain", "reroute", "discard", NULL };
static const char *const thens[] = { "keep_trying", "stop", "escalate", NULL };

/* --- host ------------------------------------------------------------------------------------- */

static const struct language_row dead_letters[] = {
    VALUE(struct settings_dead_letters, count, "count", uint32_t, WEIR_U32, .fallback = "1000",
          .max = 1000000, .help = "dead letters kept per pool"),
    VALUE(struct settings_dead_letters, bytes, "bytes", uint64_t, WEIR_SIZE, .fallback = "16MiB",
          .max = INT64_MAX, .help = "bytes of payload kept in them, per pool"),
    END,
};

static const struct language_row host_log[] = {
    VALUE(struct settings_log, level, "level", uint32_t, WEIR_ENUM, .fallback = "info",
          .choices = levels, .help = "the least important lines that are written"),
    VALUE(struct settings_log, format, "format", uint32_t, WEIR_ENUM, .fallback = "logfmt",
          .choices = formats, .help = "how a line is written"),
    END,
};

const struct language_row language_host[] = {
    VALUE(struct settings_host, name, "name", const char *, WEIR_STRING,
          .help = "the host's name in logs and metrics; the machine's when absent"),
    VALUE(struct settings_host, plugins, "plugins", struct weir_list, WEIR_LIST,
          .help = "directories in which plugins are looked up, in this order"),
    VALUE(struct settings_host, control, "control", const char *, WEIR_STRING,
          .help = "path of the control socket"),
    VALUE(struct settings_host, shutdown_timeout_ms, "shutdown_timeout", uint64_t, WEIR_DURATION,
          .fallback = "30s", .max = DAY_MS, .help = "how long work may go on after TERM"),
    VALUE(struct settings_host, memory, "memory", uint64_t, WEIR_SIZE, .fallback = "0",
          .max = INT64_MAX, .help = "cap on the bytes of payload in the host; 0 = none"),
    SECTION(0, struct settings_host, dead_letters, "dead_letters", dead_letters,
            .help = "how much is kept of what could not be handled"),
    VALUE(
        struct settings_host, watch, "watch", bool, WEIR_BOOL, .fallback = "false",
        .help = "reload when the file, or one that it includes or takes a value from, has changed"),
    VALUE(struct settings_host, turn_warning_ms, "turn_warning", uint64_t, WEIR_DURATION,
          .fallback = "1s", .min = 10, .max = HOUR_MS,
          .help = "how long a callback may take before it is reported and a spare thread takes "
                  "its place; a message that is kept for 30 times that is reported, too"),
    SECTION(0, struct settings_host, log, "log", host_log, .help = "what is logged, and how"),
    END,
};

/* --- dispatchers ------------------------------------------------------------------------------ */

const struct language_row language_dispatcher[] = {
    OTHER(0, "threads", LANGUAGE_THREADS, .fallback = "auto", .min = 1, .max = 1024,
          .help = "threads; auto = as many as there are CPUs for this host, at least 2"),
    VALUE(struct settings_dispatcher, budget, "budget", uint32_t, WEIR_U32, .fallback = "32",
          .min = 1, .max = 10000, .help = "messages an actor handles before the next one's turn"),
    END,
};

/* --- sources ---------------------------------------------------------------------------------- */

const struct language_row language_source[] = {
    OTHER(0, "use", LANGUAGE_BEHAVIOUR, .required = true, .help = "the behaviour"),
    OTHER(0, "args", LANGUAGE_ARGS, .help = "its options"),
    OTHER(0, "to", LANGUAGE_TARGET, .required = true, .help = "the pool that gets the messages"),
    OTHER(0, "dispatcher", LANGUAGE_DISPATCHER,
          .help = "whose threads run it; blocking behaviours have one of their own"),
    VALUE(struct settings_source, when_full, "when_full", uint32_t, WEIR_ENUM, .fallback = "wait",
          .choices = fullness,
          .help = "what happens to a message for which there is no room; a source is asked for as "
                  "many as there is room for, so that is what it makes beyond them"),
    END,
};

/* --- pools ------------------------------------------------------------------------------------ */

static const struct language_row pool_restart[] = {
    VALUE(
        struct settings_restart, max, "max", uint32_t, WEIR_U32, .fallback = "5", .max = 1000,
        .help =
            "failures within `within` after which a worker is replaced at once; further ones wait "
            "for `backoff`"),
    VALUE(struct settings_restart, within_ms, "within", uint64_t, WEIR_DURATION, .fallback = "10s",
          .min = 1, .max = DAY_MS, .help = "the time in which they count"),
    OTHER(
        0, "backoff", LANGUAGE_RANGE,
        .offset = (uint32_t)offsetof(struct settings_restart, backoff_ms_min),
        .fallback = "100ms..10s", .min = 1, .max = HOUR_MS,
        .help = "pauses before a worker that failed more often, or could not be opened, is opened "
                "again: each twice as long as the one before, from first to longest; the first "
                "again after it has worked for `within` without a failure"),
    VALUE(struct settings_restart, then, "then", uint32_t, WEIR_ENUM, .fallback = "keep_trying",
          .choices = thens,
          .help = "what is done past `max`: tried again for ever, stopped until a reload, or "
                  "the pool that it is a member of is asked, and at the top the host ends with 70"),
    END,
};

/* Of a pool of pools: what it does for members whose own `then` is to escalate. */
static const struct language_row pools_restart[] = {
    VALUE(struct settings_restart, max, "max", uint32_t, WEIR_U32, .fallback = "5", .max = 1000,
          .help = "members that escalate within `within` after which such a one is opened anew at "
                  "once: all workers below it"),
    VALUE(struct settings_restart, within_ms, "within", uint64_t, WEIR_DURATION, .fallback = "10s",
          .min = 1, .max = DAY_MS, .help = "the time in which they count"),
    OTHER(
        0, "backoff", LANGUAGE_RANGE,
        .offset = (uint32_t)offsetof(struct settings_restart, backoff_ms_min),
        .fallback = "100ms..10s", .min = 1, .max = HOUR_MS,
        .help = "pauses before it is opened anew past `max`: each twice as long as the one before, "
                "from first to longest; the first again after `within` without a failure"),
    VALUE(struct settings_restart, then, "then", uint32_t, WEIR_ENUM, .fallback = "escalate",
          .choices = thens,
          .help = "what is done past `max`: opened anew for ever, with pauses; what has failed "
                  "stays closed until a reload; or the pool above is asked, and at the top the "
                  "host ends with 70"),
    END,
};

static const struct language_row pool_remove[] = {
    VALUE(struct settings_removal, mode, "mode", uint32_t, WEIR_ENUM, .fallback = "drain",
          .choices = removals,
          .help = "what a worker that is removed does with its mailbox, also when the whole pool "
                  "goes"),
    VALUE(struct settings_removal, timeout_ms, "timeout", uint64_t, WEIR_DURATION,
          .fallback = "30s", .max = DAY_MS,
          .help = "how long it may take, also when the whole pool goes; then the rest is dead"),
    END,
};

/* `log` of a pool is a section of one row, filled into the pool itself. */
static const struct language_row pool_log[] = {
    VALUE(struct settings_pool, log_level, "level", uint32_t, WEIR_ENUM, .fallback = "host",
          .choices = pool_levels, .help = "as host.log.level, for this pool"),
    END,
};

const struct language_row language_pool[] = {
    OTHER(LANGUAGE_OF_WORKERS, "use", LANGUAGE_BEHAVIOUR, .help = "the behaviour of its workers"),
    OTHER(LANGUAGE_OF_WORKERS, "args", LANGUAGE_ARGS, .help = "its options"),
    OTHER(0, "size", LANGUAGE_COUNT, .max = SETTINGS_POOL_SIZE_MAX,
          .help = "workers, or {min, max} between which it may be changed at run time; the CPUs "
                  "for this host when absent. With `pool`: copies"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, clamp, "clamp", bool, WEIR_BOOL,
           .fallback = "false",
           .help = "a change of `size` at run time past min or max goes as far as it may, instead "
                   "of being an error"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, mailbox, "mailbox", uint32_t, WEIR_U32,
           .fallback = "64", .max = 1000000,
           .help = "messages that may wait at each worker; 0 = any number"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, mailbox_bytes, "mailbox_bytes", uint64_t,
           WEIR_SIZE, .fallback = "0", .max = INT64_MAX,
           .help = "bytes of payload that may wait at each worker; 0 = any"),
    VALUE(struct settings_pool, route, "route", uint32_t, WEIR_ENUM, .fallback = "round_robin",
          .choices = routes, .help = "which member gets a message"),
    OTHER(LANGUAGE_OF_WORKERS, "dispatcher", LANGUAGE_DISPATCHER,
          .help = "whose threads run the workers; blocking behaviours have one of their own"),
    OTHER(LANGUAGE_OF_WORKERS, "outputs", LANGUAGE_OUTPUTS,
          .help = "where the behaviour's outputs lead"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, restart, "restart", pool_restart,
            .help = "what happens when workers fail"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, remove, "remove", pool_remove,
            .help = "how workers leave"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, redeliver, "redeliver", uint32_t, WEIR_U32,
           .fallback = "0", .max = 16,
           .help = "how often a message is given again after its worker failed"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, open_timeout_ms, "open_timeout", uint64_t,
           WEIR_DURATION, .fallback = "10s", .min = 1, .max = HOUR_MS,
           .help = "how long a worker may take to open"),
    OTHER(0, "manager", LANGUAGE_BEHAVIOUR,
          .help = "the behaviour that gets the pool's urgent and high messages, instead of the "
                  "built-in one"),
    OTHER(0, "manager_args", LANGUAGE_ARGS, .help = "the manager's options"),
    VALUE(struct settings_pool, subscribe, "subscribe", struct weir_list, WEIR_LIST,
          .help = "events that the pool gets"),
    VALUE(struct settings_pool, fan_out, "fan_out", bool, WEIR_BOOL, .fallback = "false",
          .help = "every member gets each event, not one"),
    { .option = { .name = "log", .kind = LANGUAGE_SECTION, .help = "what the pool logs" },
      .rows = pool_log },
    { .option = { .name = "members", .kind = LANGUAGE_NAMES, .help = "the pools in this pool" },
      .rows = language_pool,
      .scope = LANGUAGE_OF_POOLS },
    OTHER(LANGUAGE_OF_POOLS, "pool", LANGUAGE_POOL,
          .help = "the pool of which this pool has `size` copies"),
    SECTION(LANGUAGE_OF_POOLS, struct settings_pool, restart, "restart", pools_restart,
            .help = "what happens when members fail that escalate"),
    END,
};

const struct language_row language_output[] = {
    OTHER(0, "to", LANGUAGE_TARGET, .required = true, .help = "the pool"),
    VALUE(struct settings_output, when_full, "when_full", uint32_t, WEIR_ENUM, .fallback = "wait",
          .choices = fullness, .help = "what happens to a message for which there is no room"),
    END,
};

/* --- top -------------------------------------------------------------------------------------- */

const struct language_row language_top[] = {
    OTHER(0, "version", LANGUAGE_VERSION, .fallback = "1", .min = 1, .max = 1,
          .help = "of this language"),
    OTHER(0, "include", LANGUAGE_FILES, .help = "further files, whose keys are added"),
    { .option = { .name = "host", .kind = LANGUAGE_SECTION, .help = "the program itself" },
      .rows = language_host },
    { .option = { .name = "dispatchers", .kind = LANGUAGE_NAMES, .help = "sets of threads" },
      .rows = language_dispatcher },
    { .option = { .name = "sources", .kind = LANGUAGE_NAMES, .help = "what produces messages" },
      .rows = language_source },
    { .option = { .name = "pools", .kind = LANGUAGE_NAMES, .help = "what handles messages" },
      .rows = language_pool },
    END,
};

bool language_is_value(const struct language_row *row)
{
    return row->option.kind < LANGUAGE_SECTION;
}

bool language_is_in(const struct language_row *row, uint32_t scope)
{
    return scope == 0 || row->scope == 0 || row->scope == scope;
}

const struct language_row *language_find(const struct language_row *rows, const char *name)
{
    for (; rows->option.name; rows++) {
        if (strcmp(rows->option.name, name) == 0)
            return rows;
    }
    return NULL;
}

const struct language_row *language_find_in(const struct language_row *rows, uint32_t scope,
                                            const char *name)
{
    const struct language_row *first = language_find(rows, name);
    const struct language_row *row = first;

    while (row && !language_is_in(row, scope))
        row = language_find(row + 1, name);
    return row ? row : first;
}

const char *language_choice(const struct language_row *rows, const char *name, uint32_t choice)
{
    const struct language_row *row = language_find(rows, name);

    for (uint32_t i = 0; row && row->option.choices && row->option.choices[i]; i++) {
        if (i == choice)
            return row->option.choices[i];
    }
    return "?";
}
