/* SPDX-License-Identifier: MIT */
/* Making and ending a runtime: see weir/runtime.h. */
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "embed/part.h"
#include "embed/use.h"
#include "embed/valid.h"

#define NS_PER_MS 1000000u
#define KEPT_TURNS 30u /* times `turn_warning_ms`: then a message is kept for too long */

/* The size of struct weir_runtime_options before `log_level` was added. */
#define OPTIONS_SIZE_MIN offsetof(struct weir_runtime_options, log_level)

static void write_line(void *context, const struct log_line *line)
{
    struct weir_runtime *runtime = context;

    if (runtime->log && levels_show(&runtime->levels, line->component, line->level))
        runtime->log(runtime->log_context, line->level, line->component, line->event, line->fields);
}

/* On the timekeeper's thread. */
static void log_stuck(void *context, const char *dispatcher, uint32_t threads)
{
    const struct weir_runtime *runtime = context;

    log_event(runtime_log(runtime->core), WEIR_LOG_WARNING, dispatcher, "turn takes long",
              weir_uint("limit_ms", runtime->turn_warning_ms), weir_uint("threads", threads),
              weir_str("effect", "a spare thread works in the place of each"));
}

static uint32_t threads_of(uint32_t given)
{
    return given == WEIR_THREADS_AUTO ? cpus_threads(cpus_effective("")) : given;
}

static int start(struct runtime *core, const struct weir_runtime_options *options)
{
    uint64_t warning_ms = options->turn_warning_ms;
    const struct dispatcher_policy policy = { .budget = options->budget };
    int status = runtime_add_dispatcher(core, "default", threads_of(options->threads), &policy,
                                        NULL);

    runtime_set_turn_warning(core, warning_ms, warning_ms * KEPT_TURNS * NS_PER_MS);
    return status == 0 ? runtime_start(core) : status;
}

/* Copies the part of the struct that the program's version has. */
static int read_poller(const struct weir_poller *given, struct poller *out, struct refusal *why)
{
    struct weir_poller known;
    int status;

    if (!given)
        return 0;
    if (given->size < sizeof known) /* all fields exist since version 0.1 */
        return valid_refuse(why, "poller->size", "is smaller than struct weir_poller");
    use_copy(&known, sizeof known, given, given->size);
    status = valid_poller(&known, why);
    if (status == 0)
        *out = (struct poller){ known.context, known.begin, known.end };
    return status;
}

static void read_dead_letters(const struct weir_runtime_options *options,
                              struct dead_letters_bounds *out)
{
    *out = (struct dead_letters_bounds){ DEAD_LETTERS_MAX, DEAD_LETTERS_BYTES_MAX };
    if (options->dead_letters)
        out->count = options->dead_letters == UINT32_MAX ? 0 : options->dead_letters;
    if (options->dead_letters_bytes)
        out->bytes = options->dead_letters_bytes == UINT64_MAX ? 0 : options->dead_letters_bytes;
}

static int create_core(struct weir_runtime *runtime, const struct weir_runtime_options *options,
                       struct refusal *why)
{
    struct runtime_options core = {
        .clock = clock_monotonic(),
        .log = { .write = write_line, .context = runtime },
        .print = options->print,
        .print_context = options->print_context,
        .memory = options->memory,
        .stuck = log_stuck,
        .stuck_context = runtime,
    };
    int status = read_poller(options->poller, &core.poller, why);

    if (status == 0)
        status = runtime_create(&core, &runtime->core);
    if (status != 0)
        return status;
    status = start(runtime->core, options);
    if (status == WEIR_EINVALID)
        (void)valid_refuse(why, "threads", "is larger than 1024");
    if (status != 0)
        runtime_destroy(runtime->core);
    return status;
}

static int create(const struct weir_runtime_options *known, struct refusal *why,
                  struct weir_runtime **out)
{
    struct weir_runtime *runtime;
    int status = valid_runtime(known, why);

    if (status != 0)
        return status;
    runtime = calloc(1, sizeof *runtime);
    if (!runtime)
        return WEIR_ENOMEM;
    runtime->log = known->log;
    runtime->log_context = known->log_context;
    runtime->turn_warning_ms = known->turn_warning_ms;
    runtime->no_room_ms = known->no_room_ms ? known->no_room_ms
                                            : restart_usual(WEIR_RESTART_USUAL).backoff_ms_max;
    read_dead_letters(known, &runtime->dead_letters);
    lock_init(&runtime->lock, LOCK_PARTS);
    levels_init(&runtime->levels, known->log_level);
    list_init(&runtime->parts);
    status = create_core(runtime, known, why);
    if (status != 0) {
        levels_finish(&runtime->levels);
        lock_finish(&runtime->lock);
        free(runtime);
        return status;
    }
    *out = runtime;
    return 0;
}

/* Without a runtime the line goes to the log of the options. */
static int report(const struct weir_runtime_options *known, int status, const struct refusal *why)
{
    const struct weir_field fields[] = { weir_str("option", why->option),
                                         weir_str("reason", why->reason), weir_str(NULL, NULL) };

    if (status != 0 && status == why->status && known->log)
        known->log(known->log_context, WEIR_LOG_ERROR, "runtime", VALID_EVENT, fields);
    return status;
}

int weir_runtime_create(const struct weir_runtime_options *options, struct weir_runtime **out)
{
    struct refusal why = { "size", "is smaller than any: begin with WEIR_RUNTIME_OPTIONS",
                           WEIR_EINVALID };
    struct weir_runtime_options known;

    if (options->size < OPTIONS_SIZE_MIN)
        return WEIR_EINVALID;
    use_copy(&known, sizeof known, options, options->size);
    return report(&known, create(&known, &why, out), &why);
}

int weir_runtime_add_dispatcher(struct weir_runtime *runtime, const char *name, uint32_t threads,
                                uint32_t budget)
{
    const struct dispatcher_policy policy = { .budget = budget };
    int status;

    lock_acquire(&runtime->lock); /* one at a time */
    status = name ? runtime_add_dispatcher(runtime->core, name, threads_of(threads), &policy, NULL)
                  : WEIR_EINVALID;
    lock_release(&runtime->lock);
    return valid_report(
        runtime, "runtime", status,
        name && name[0] && strlen(name) < DISPATCHER_NAME_MAX
            ? &(struct refusal){ "threads", "must be 1 to 1024", WEIR_EINVALID }
            : &(struct refusal){ "name", "must have 1 to 31 bytes", WEIR_EINVALID });
}

static int close_all(struct weir_runtime *runtime, struct part *const *parts, uint32_t count,
                     uint64_t timeout_ms)
{
    const struct closing_options options = { .timeout_ms = timeout_ms,
                                             .no_room_ms = runtime->no_room_ms };
    struct closing *closings = calloc((size_t)count + 1, sizeof *closings);
    int status = WEIR_ENOMEM;

    for (uint32_t i = 0; closings && i < count; i++)
        closings[i] = (struct closing){ .part = part_ref(parts[i]), .timeout_ms = UINT64_MAX };
    if (closings)
        status = closing_run(runtime->core, closings, count, &options);
    free(closings);
    return status;
}

int weir_runtime_shutdown(struct weir_runtime *runtime, uint64_t timeout_ms)
{
    struct part **parts;
    uint32_t count;
    int status;

    if (runtime_is_own_thread(runtime->core))
        return WEIR_EDEADLK;
    lock_acquire(&runtime->lock);
    runtime->closing = true;
    lock_release(&runtime->lock);
    parts = part_list(runtime, &count);
    if (!parts)
        return WEIR_ENOMEM;
    status = close_all(runtime, parts, count, timeout_ms);
    for (uint32_t i = 0; i < count; i++)
        part_unref(parts[i]);
    free(parts);
    return status;
}

/* The thread of a callback cannot be joined by itself. */
static bool is_misused(struct weir_runtime *runtime)
{
    if (!runtime_is_own_thread(runtime->core))
        return false;
    log_event(runtime_log(runtime->core), WEIR_LOG_ERROR, "runtime", "not destroyed",
              weir_str("reason", "weir_runtime_destroy was called in a callback"));
    return true;
}

void weir_runtime_destroy(struct weir_runtime *runtime)
{
    if (!runtime || is_misused(runtime) || runtime_stop(runtime->core) != 0)
        return;
    while (!list_empty(&runtime->parts)) { /* newest first: a pool after those nested in it */
        struct part *part = LIST_ENTRY(runtime->parts.previous, struct part, link);

        part_unlink_locked(part);
        part_unref(part);
    }
    runtime_destroy(runtime->core);
    levels_finish(&runtime->levels);
    lock_finish(&runtime->lock);
    free(runtime);
}

int weir_runtime_exit_status(struct weir_runtime *runtime)
{
    struct runtime_figures figures;

    runtime_figures(runtime->core, &figures);
    return figures.exit_status;
}
