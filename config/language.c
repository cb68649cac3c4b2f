/* SPDX-License-Identifier: MIT */
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

/* A key whose value is a struct rate. */
#define RATE(owner, field, word, ...)                                                              \
    {                                                                                              \
        .option = { .name = (word),                                                                \
                    .kind = LANGUAGE_RATE,                                                         \
                    .offset = (uint32_t)offsetof(owner, field),                                    \
                    __VA_ARGS__ },                                                                 \
        .rows = rate_rows                                                                          \
    }

#define END                                                                                        \
    {                                                                                              \
        .option = {.name = NULL }                                                                  \
    }

#define HOUR_MS 3600000
#define DAY_MS (24 * (int64_t)HOUR_MS)

#define WORD_OF(name, number, word) [number] = (word),
#define FORMAT_WORD(name, word) word,
static const char *const levels[] = { WEIR_LOG_LEVEL_LIST(WORD_OF) NULL };
static const char *const pool_levels[] = {
    WEIR_LOG_LEVEL_LIST(WORD_OF)[SETTINGS_LEVEL_HOST] = "host", NULL
};
static const char *const formats[] = { LOG_FORMAT_LIST(FORMAT_WORD) NULL };
static const char *const routes[] = { WEIR_ROUTE_LIST(WORD_OF) NULL };
static const char *const fullness[] = { WEIR_FULL_LIST(WORD_OF) NULL };
static const char *const removals[] = { WEIR_REMOVE_LIST(WORD_OF) NULL };
#undef FORMAT_WORD
#undef WORD_OF
/* In the order of enum weir_restart_then, whose 0 is the default of a pool of workers. */
static const char *const thens[] = { "keep_trying", "stop", "escalate", NULL };

/* The long form of a rate. */
static const struct language_row rate_rows[] = {
    VALUE(struct rate, messages, "messages", uint32_t, WEIR_U32, .required = true, .min = 1,
          .max = RATE_MESSAGES_MAX, .help = "messages that may pass in each `per`"),
    VALUE(struct rate, per_ms, "per", uint64_t, WEIR_DURATION, .fallback = "1s", .min = 1,
          .max = RATE_PER_MS_MAX, .help = "the period of `messages`"),
    VALUE(struct rate, burst, "burst", uint32_t, WEIR_U32, .min = 1, .max = RATE_BURST_MAX,
          .help = "messages that may pass at once after a pause; default: those of a tenth of a "
                  "second, at least 1"),
    END,
};

/* --- host ------------------------------------------------------------------------------------- */

static const struct language_row dead_letters[] = {
    VALUE(struct settings_dead_letters, count, "count", uint32_t, WEIR_U32, .fallback = "1000",
          .max = 1000000, .help = "dead letters that each pool keeps"),
    VALUE(struct settings_dead_letters, bytes, "bytes", uint64_t, WEIR_SIZE, .fallback = "16MiB",
          .max = INT64_MAX, .help = "bytes of payload that each pool keeps in dead letters"),
    VALUE(struct settings_dead_letters, file, "file", const char *, WEIR_STRING,
          .help = "file to which each dead letter is appended and synced before its source is "
                  "notified; read it with `weir dead --file`; default: none"),
    VALUE(struct settings_dead_letters, file_size, "file_size", uint64_t, WEIR_SIZE,
          .fallback = "1GiB", .max = INT64_MAX,
          .help = "largest size of `file`; a pool may have as much of it as is free, and one whose "
                  "share is used up waits as on a full disk; 0 = no bound"),
    END,
};

static const struct language_row host_log[] = {
    VALUE(struct settings_log, level, "level", uint32_t, WEIR_ENUM, .fallback = "info",
          .choices = levels, .help = "the least important lines that are written"),
    VALUE(struct settings_log, format, "format", uint32_t, WEIR_ENUM, .fallback = "auto",
          .choices = formats,
          .help = "how a line is written: `text` is for people, `auto` is `text` on a terminal and "
                  "`logfmt` elsewhere"),
    END,
};

const struct language_row language_host[] = {
    VALUE(struct settings_host, name, "name", const char *, WEIR_STRING,
          .help = "name of the host in logs and metrics; default: the name of the machine"),
    VALUE(struct settings_host, plugins, "plugins", struct weir_list, WEIR_LIST,
          .help = "directories that are searched for plugins, in this order"),
    VALUE(struct settings_host, control, "control", const char *, WEIR_STRING,
          .help = "path of the control socket"),
    VALUE(struct settings_host, shutdown_timeout_ms, "shutdown_timeout", uint64_t, WEIR_DURATION,
          .fallback = "30s", .max = DAY_MS,
          .help = "how long the host may take to finish its work after TERM"),
    VALUE(struct settings_host, memory, "memory", uint64_t, WEIR_SIZE, .fallback = "0",
          .max = INT64_MAX, .help = "most bytes of payload in the host; 0 = unlimited"),
    SECTION(0, struct settings_host, dead_letters, "dead_letters", dead_letters,
            .help = "number and place of the dead letters that are kept"),
    VALUE(struct settings_host, crash_file, "crash_file", const char *, WEIR_STRING,
          .help = "file to which a crash of the host appends the message that it had in hand, for "
                  "`quarantine` of pools; a start names each message with five crashes. A reload "
                  "puts another file in force at the next start; default: none"),
    VALUE(struct settings_host, watch, "watch", bool, WEIR_BOOL, .fallback = "false",
          .help = "reload when the file changes, or a file that it includes or takes a value from"),
    VALUE(
        struct settings_host, turn_warning_ms, "turn_warning", uint64_t, WEIR_DURATION,
        .fallback = "1s", .min = 10, .max = HOUR_MS,
        .help =
            "how long a callback may take; after that the log reports it, and a spare thread does "
            "the work of its thread. The log also reports a message that is kept 30 times as long"),
    SECTION(0, struct settings_host, log, "log", host_log,
            .help = "level and format of the log lines"),
    END,
};

/* --- dispatchers ------------------------------------------------------------------------------ */

const struct language_row language_dispatcher[] = {
    OTHER(
        0, "threads", LANGUAGE_THREADS, .fallback = "auto", .min = 1, .max = 1024,
        .help = "number of threads; `auto` = the number of CPUs that the host may use, at least 2"),
    VALUE(struct settings_dispatcher, policy.budget, "budget", uint32_t, WEIR_U32, .fallback = "32",
          .min = 1, .max = 10000,
          .help = "messages that an actor handles before another actor runs"),
    END,
};

/* --- sources ---------------------------------------------------------------------------------- */

const struct language_row language_source[] = {
    OTHER(0, "use", LANGUAGE_BEHAVIOUR, .required = true, .help = "the behaviour"),
    OTHER(0, "args", LANGUAGE_ARGS, .help = "options of the behaviour"),
    OTHER(0, "to", LANGUAGE_TARGET, .required = true, .help = "the pool that gets the messages"),
    OTHER(0, "dispatcher", LANGUAGE_DISPATCHER,
          .help = "dispatcher whose threads run it; default: `blocking` for behaviours that may "
                  "block, else `default`"),
    VALUE(
        struct settings_source, when_full, "when_full", uint32_t, WEIR_ENUM, .fallback = "wait",
        .choices = fullness,
        .help = "a message without room waits (`wait`), is refused with WEIR_EFULL (`reject`), or "
                "becomes a dead letter (`drop_newest`, `dead_letter`). The host asks a source only "
                "for as many messages as there is room for, so this concerns messages beyond that "
                "number"),
    RATE(struct settings_source, rate, "rate",
         .help = "how many messages may pass to the pool, in the long run; without it there is no "
                 "such limit. The host asks the source for no more"),
    END,
};

/* --- pools ------------------------------------------------------------------------------------ */

static const struct language_row pool_restart[] = {
    VALUE(struct restart, max, "max", uint32_t, WEIR_U32, .fallback = "5", .max = 1000,
          .help = "failures within `within` after which a worker is replaced at once; after "
                  "further failures it waits for `backoff`"),
    VALUE(struct restart, within_ms, "within", uint64_t, WEIR_DURATION, .fallback = "10s", .min = 1,
          .max = DAY_MS, .help = "period in which failures are counted"),
    OTHER(0, "backoff", LANGUAGE_RANGE,
          .offset = (uint32_t)offsetof(struct restart, backoff_ms_min), .fallback = "100ms..10s",
          .min = 1, .max = HOUR_MS,
          .help = "pause before a worker that failed more than `max` times, or failed to open, is "
                  "opened again: it doubles from the first value to the second, and begins again "
                  "at the first after the worker has run for `within` without a failure"),
    VALUE(
        struct restart, then, "then", uint32_t, WEIR_ENUM, .fallback = "keep_trying",
        .choices = thens,
        .help = "after more than `max` failures `keep_trying` opens the worker again without end; "
                "`stop` leaves it closed until a reload or `weir restart`; with `escalate` the "
                "pool above decides by its own `restart` (without a pool above the host ends "
                "with exit code 70)"),
    END,
};

/* For a pool of pools: the policy for members whose own `then` is `escalate`. */
static const struct language_row pools_restart[] = {
    VALUE(struct restart, max, "max", uint32_t, WEIR_U32, .fallback = "5", .max = 1000,
          .help = "escalations of a member within `within` after which all its workers are opened "
                  "again at once; after further ones they wait for `backoff`"),
    VALUE(struct restart, within_ms, "within", uint64_t, WEIR_DURATION, .fallback = "10s", .min = 1,
          .max = DAY_MS, .help = "period in which failures are counted"),
    OTHER(0, "backoff", LANGUAGE_RANGE,
          .offset = (uint32_t)offsetof(struct restart, backoff_ms_min), .fallback = "100ms..10s",
          .min = 1, .max = HOUR_MS,
          .help = "pause before a member that escalated more than `max` times is opened again: it "
                  "doubles from the first value to the second, and begins again at the first after "
                  "`within` without an escalation"),
    VALUE(struct restart, then, "then", uint32_t, WEIR_ENUM, .fallback = "escalate",
          .choices = thens,
          .help = "after more than `max` escalations `keep_trying` opens the member again without "
                  "end; `stop` leaves its failed workers closed until a reload or `weir restart`; "
                  "with `escalate` the pool above decides (without a pool above the host ends with "
                  "exit code 70)"),
    END,
};

/* In the order of enum settings_isolation. */
static const char *const isolations[] = { "thread", "process", NULL };

/* The defaults of a sandbox are the strictest, but for `strict`, which refuses a kernel. */
static const struct language_row pool_sandbox[] = {
    VALUE(struct settings_sandbox, strict, "strict", bool, WEIR_BOOL, .fallback = "false",
          .help = "a kernel that cannot enforce all of it is refused; without it, `weir check` "
                  "warns"),
    VALUE(struct settings_sandbox, read, "read", struct weir_list, WEIR_LIST,
          .help = "files and folders that the process may read and run"),
    VALUE(struct settings_sandbox, write, "write", struct weir_list, WEIR_LIST,
          .help = "files and folders that it may read, change, make and remove"),
    VALUE(struct settings_sandbox, network, "network", bool, WEIR_BOOL, .fallback = "false",
          .help = "it may make sockets"),
    END,
};

static const struct language_row pool_process[] = {
    VALUE(struct settings_process, timeout_ms, "timeout", uint64_t, WEIR_DURATION, .fallback = "0",
          .max = DAY_MS,
          .help = "how long a callback may take; after that the process is killed, and the worker "
                  "has failed; 0ms = without end"),
    VALUE(struct settings_process, memory, "memory", uint64_t, WEIR_SIZE, .fallback = "0",
          .max = (uint64_t)1 << 50,
          .help = "how much memory a process may have: beyond it an allocation in the process "
                  "fails, and a process that has more in RAM is killed; 0 = no bound"),
    VALUE(struct settings_process, files, "files", uint32_t, WEIR_U32, .fallback = "0",
          .max = 1u << 20,
          .help = "how many descriptors a process may have open; 0 = as many as the host"),
    VALUE(
        struct settings_process, window, "window", uint32_t, WEIR_U32, .fallback = "64", .min = 1,
        .max = 64,
        .help = "how many messages a process may have at a time while it is quick with them; at a "
                "crash only the one in hand counts, and the others go back. With `route: pull` it "
                "has one"),
    SECTION(0, struct settings_process, sandbox, "sandbox", pool_sandbox,
            .help = "what a process may do after `open`; without the key, what the host may do. "
                    "`{}` forbids all files that are not open, and the network"),
    END,
};

/* `for` needs `backoff`: decision 424. */
static const struct language_row pool_retry[] = {
    OTHER(0, "max", LANGUAGE_BOUND, .offset = WEIR_OPTION_OFFSET(struct retry, max, uint32_t),
          .fallback = "3", .max = RETRY_COUNT_MAX,
          .help = "retries of a message whose worker says RETRY; after them it is a dead letter. "
                  "`unlimited` = without a bound"),
    OTHER(0, "backoff", LANGUAGE_RANGE, .offset = (uint32_t)offsetof(struct retry, backoff_ms_min),
          .min = 1, .max = RETRY_BACKOFF_MS_MAX,
          .help = "least pause before a retry: it doubles from the first value to the second, and "
                  "each is drawn from its last quarter. A longer delay that the worker set is "
                  "used. Without the key the worker alone sets the delay"),
    VALUE(struct retry, for_ms, "for", uint64_t, WEIR_DURATION, .fallback = "0",
          .max = RETRY_FOR_MS_MAX,
          .help = "no retry begins later after the first try; then the message is a dead letter. "
                  "Of a message with an origin or under a lease the pauses of `backoff` count. "
                  "0ms = no bound"),
    END,
};

static const struct language_row pool_remove[] = {
    VALUE(
        struct removal, mode, "mode", uint32_t, WEIR_ENUM, .fallback = "drain", .choices = removals,
        .help =
            "the messages in the mailbox of a removed worker, also when the whole pool is removed: "
            "`drain` gives them to other workers that have room and are equal to it, and the "
            "worker handles the rest; `reroute` gives them to any others of the pool, and the rest "
            "waits for room in these; `discard` makes them dead letters"),
    VALUE(struct removal, timeout_ms, "timeout", uint64_t, WEIR_DURATION, .fallback = "30s",
          .max = DAY_MS,
          .help = "how long a removed worker may take, also when the whole pool is removed; after "
                  "that its messages become dead letters"),
    END,
};

/* The law of an elastic pool; without the key it has none. */
static const struct language_row pool_scale[] = {
    VALUE(struct scale, wait_ms, "wait", uint64_t, WEIR_DURATION, .fallback = "50ms",
          .max = HOUR_MS,
          .help = "the pool grows by half of its open workers, at least by one, when the first of "
                  "its waiting messages has waited so long and no worker is idle; 0ms = a message "
                  "that finds no idle worker starts one"),
    VALUE(struct scale, idle_ms, "idle", uint64_t, WEIR_DURATION, .fallback = "30s", .min = 1,
          .max = DAY_MS,
          .help = "a worker that has been unused for so long leaves, one at a time, no earlier "
                  "than `idle` after a growth"),
    END,
};

/* Exclusive use of the workers; without the key there is none. */
static const struct language_row pool_lease[] = {
    VALUE(struct lease_settings, timeout_ms, "timeout", uint64_t, WEIR_DURATION, .fallback = "30s",
          .min = 1, .max = DAY_MS,
          .help = "a lease that lasts longer is revoked, and its worker is opened again"),
    VALUE(struct lease_settings, queue, "queue", uint32_t, WEIR_U32, .fallback = "50",
          .max = 1000000,
          .help = "takers that may wait for a worker in use; all others are refused. 0 = none; a "
                  "taker waits for a worker that starts or comes back in any case"),
    END,
};

/* `log` of a pool is a section of one row, filled into the pool itself. */
static const struct language_row pool_log[] = {
    VALUE(struct settings_pool, log_level, "level", uint32_t, WEIR_ENUM, .fallback = "host",
          .choices = pool_levels,
          .help = "log level of this pool; `host` = the value of host.log.level"),
    END,
};

const struct language_row language_pool[] = {
    OTHER(LANGUAGE_OF_WORKERS, "use", LANGUAGE_BEHAVIOUR, .help = "the behaviour of its workers"),
    OTHER(LANGUAGE_OF_WORKERS, "args", LANGUAGE_ARGS, .help = "options of the behaviour"),
    OTHER(0, "size", LANGUAGE_COUNT, .max = SETTINGS_POOL_SIZE_MAX,
          .help = "number of workers, or the bounds {min, max} of the number at run time, which "
                  "begins with min; default: the number of CPUs that the host may use. With "
                  "`pool`: number of copies"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, core.scale, "scale", pool_scale,
            .help = "the pool changes its number of workers by itself, between `size.min` and "
                    "`size.max`; `{}` takes the defaults. A size that `weir scale` or a call sets "
                    "stays until `weir scale POOL auto` or a reload"),
    SECTION(0, struct settings_pool, core.lease, "lease", pool_lease,
            .help = "the pool gives its workers out one by one, each to one user until it returns "
                    "the worker; `{}` takes the defaults. `route` is `pull`. A pool of pools gives "
                    "out any worker of its members; their leases have its `timeout` unless they "
                    "have a `lease` of their own"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, core.clamp, "clamp", bool, WEIR_BOOL,
           .fallback = "false",
           .help = "a change of `size` at run time beyond min or max uses the nearest bound and is "
                   "not an error"),
    OTHER(LANGUAGE_OF_WORKERS, "mailbox", LANGUAGE_CAPACITY,
          .offset = WEIR_OPTION_OFFSET(struct settings_pool, core.mailbox, uint32_t),
          .fallback = "64", .min = 1, .max = 1000000,
          .help = "messages that may wait at each worker. `unlimited` = without a bound; "
                  "`unbuffered` = none, a worker gets a message only while it is idle"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, core.mailbox_bytes, "mailbox_bytes", uint64_t,
           WEIR_SIZE, .fallback = "0", .max = INT64_MAX,
           .help = "bytes of payload that may wait at each worker; 0 = unlimited"),
    VALUE(struct settings_pool, core.route, "route", uint32_t, WEIR_ENUM, .fallback = "round_robin",
          .choices = routes,
          .help = "which member gets a message: the next with room; the one with the least work; "
                  "the one with less work of two random ones; the owner of the key; any idle "
                  "worker, from one queue; every member"),
    OTHER(LANGUAGE_OF_WORKERS, "dispatcher", LANGUAGE_DISPATCHER,
          .help = "dispatcher whose threads run the workers; default: `blocking` for behaviours "
                  "that may block, else `default`"),
    OTHER(LANGUAGE_OF_WORKERS, "outputs", LANGUAGE_OUTPUTS,
          .help = "the pools that get the messages of the behaviour's outputs"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, core.restart, "restart", pool_restart,
            .help = "the policy for workers that fail"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, core.retry, "retry", pool_retry,
            .help = "how a message is tried again whose worker says RETRY"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, core.remove, "remove", pool_remove,
            .help = "how workers are removed"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, redeliver, "redeliver", uint32_t, WEIR_U32,
           .fallback = "0", .max = 16,
           .help = "how often a message is delivered again after its worker failed"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, quarantine, "quarantine", uint32_t, WEIR_U32,
           .fallback = "0", .max = SETTINGS_QUARANTINE_MAX,
           .help = "a message that has crashed the host so often is a dead letter at the next "
                   "start; needs `host.crash_file` and `host.dead_letters.file`; 0 = never"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, core.open_timeout_ms, "open_timeout",
           uint64_t, WEIR_DURATION, .fallback = "10s", .min = 1, .max = HOUR_MS,
           .help = "how long a worker may take to open"),
    SCOPED(LANGUAGE_OF_WORKERS, struct settings_pool, min_ready, "min_ready", uint32_t, WEIR_U32,
           .fallback = "65536", .max = SETTINGS_POOL_SIZE_MAX,
           .help = "how many workers must open for a start or a reload to succeed; a number beyond "
                   "`size` = all. The others are tried again, as `restart` says"),
    SCOPED(
        LANGUAGE_OF_WORKERS, struct settings_pool, isolation, "isolation", uint32_t, WEIR_ENUM,
        .fallback = "thread", .choices = isolations,
        .help = "where the behaviour of a worker runs: on a thread of the host (`thread`), or in "
                "a process of its own (`process`), whose crash costs this worker alone"),
    SECTION(LANGUAGE_OF_WORKERS, struct settings_pool, process, "process", pool_process,
            .help = "bounds of the processes of `isolation: process`"),
    OTHER(0, "manager", LANGUAGE_BEHAVIOUR,
          .help = "behaviour that gets the urgent and high messages of the pool, instead of the "
                  "built-in manager"),
    OTHER(0, "manager_args", LANGUAGE_ARGS, .help = "the manager's options"),
    VALUE(struct settings_pool, subscribe, "subscribe", struct weir_list, WEIR_LIST,
          .help = "events that the pool gets"),
    VALUE(struct settings_pool, fan_out, "fan_out", bool, WEIR_BOOL, .fallback = "false",
          .help = "each event goes to every member; else to one"),
    { .option = { .name = "log", .kind = LANGUAGE_SECTION, .help = "log lines of this pool" },
      .rows = pool_log },
    { .option = { .name = "members", .kind = LANGUAGE_NAMES, .help = "the pools in this pool" },
      .rows = language_pool,
      .scope = LANGUAGE_OF_POOLS },
    OTHER(LANGUAGE_OF_POOLS, "pool", LANGUAGE_POOL,
          .help = "a pool; this pool has `size` copies of it as members"),
    SECTION(LANGUAGE_OF_POOLS, struct settings_pool, core.restart, "restart", pools_restart,
            .help = "the policy for members that escalate"),
    END,
};

const struct language_row language_output[] = {
    OTHER(0, "to", LANGUAGE_TARGET, .required = true,
          .help = "the pool; or `none`: what the behaviour emits there is not wanted"),
    VALUE(struct settings_output, when_full, "when_full", uint32_t, WEIR_ENUM, .fallback = "wait",
          .choices = fullness,
          .help = "a message without room waits in the worker (`wait`), is refused with WEIR_EFULL "
                  "(`reject`), or becomes a dead letter (`drop_newest`, `dead_letter`)"),
    RATE(struct settings_output, rate, "rate",
         .help = "how many messages of all the pool's workers together may pass, in the long run; "
                 "without it there is no such limit. A message beyond it is one without room, so "
                 "`when_full` applies"),
    END,
};

/* --- top -------------------------------------------------------------------------------------- */

const struct language_row language_top[] = {
    OTHER(0, "version", LANGUAGE_VERSION, .fallback = "1", .min = 1, .max = 1,
          .help = "version of this language"),
    OTHER(0, "include", LANGUAGE_FILES, .help = "more files, whose keys are added"),
    { .option = { .name = "host",
                  .kind = LANGUAGE_SECTION,
                  .help = "settings of the whole program" },
      .rows = language_host },
    { .option = { .name = "dispatchers", .kind = LANGUAGE_NAMES, .help = "sets of threads" },
      .rows = language_dispatcher },
    { .option = { .name = "sources",
                  .kind = LANGUAGE_NAMES,
                  .help = "sources, which produce messages" },
      .rows = language_source },
    { .option = { .name = "pools", .kind = LANGUAGE_NAMES, .help = "pools, which handle messages" },
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

const char *language_route_name(uint32_t route)
{
    return language_choice(language_pool, "route", route);
}

const char *language_when_full_name(uint32_t when_full)
{
    return language_choice(language_output, "when_full", when_full);
}
