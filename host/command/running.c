/* SPDX-License-Identifier: MIT */
#include "host/command/running.h"

#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/cpus.h"
#include "host/pages/stuck.h"
#include "host/run/accounts.h"
#include "host/run/exit_guard.h"
#include "host/run/files_reopen.h"

#define REST_MS 1000        /* without a turn; then the beat stops */
#define DESCRIPTORS_MS 1000 /* between two looks at the descriptors that are left */

/* --- the runtime's callbacks ---------------------------------------------------------------- */

void running_finish(void *context, bool drained)
{
    struct host *host = context;

    atomic_store_explicit(&host->drained, drained, memory_order_relaxed);
    atomic_store_explicit(&host->finished, true, memory_order_release);
    io_wake(host->io);
}

void running_wake(void *context)
{
    struct host *host = context;

    io_wake(host->io);
}

bool running_watches(const struct host *host)
{
    return host->watches || host->assembly.shared->settings->host.watch;
}

void running_note_files(void *context, struct config_files *files)
{
    struct host *host = context;

    file_watch_offer(host->file_watch, running_watches(host) ? files : NULL);
    io_wake(host->io);
}

/* --- the I/O thread's callbacks ------------------------------------------------------------- */

void running_reload(void *context)
{
    struct host *host = context;

    supervisor_reload(&host->supervisor);
}

static void on_reopen(void *context)
{
    struct host *host = context;

    files_reopen(&host->assembly);
    dead_file_reopen(host->dead_file);
    log_event(logger_sink(host->logger), WEIR_LOG_INFO, "host", "files are opened again");
}

/* Does both: logrotate sends HUP to programs that reopen their files. */
static void on_hangup(void *context)
{
    on_reopen(context);
    running_reload(context);
}

void running_remove_socket(struct host *host)
{
    control_listener_destroy(start_watch_take_listener(&host->start_watch));
    if (host->control)
        control_leave(host->control);
}

void running_leave_threads_behind(struct host *host, int code)
{
    (void)dead_file_flush(host->dead_file, PRINTING_TIMEOUT_MS);
    progress_destroy(host->progress);
    running_remove_socket(host);
    configuration_leave(&host->configuration);
    _exit(code);
}

static void leave_at_once(struct host *host, const char *event, int code)
{
    log_answer(logger_sink(host->logger), WEIR_LOG_ERROR, "host", event,
               weir_str("effect", "unfinished messages are lost"));
    (void)printer_flush(&host->printing.printer, PRINTING_TIMEOUT_MS);
    accounts_log_ledger(&host->assembly, NULL);
    running_leave_threads_behind(host, code);
}

/* A reload on another thread may free the settings. */
static uint64_t shutdown_timeout_ms(struct assembly *assembly)
{
    uint64_t timeout_ms;

    lock_acquire(&assembly->lock);
    timeout_ms = assembly->shared->settings->host.shutdown_timeout_ms;
    lock_release(&assembly->lock);
    return timeout_ms;
}

static void finish(struct host *host)
{
    notify_stopping(host->notify, shutdown_timeout_ms(&host->assembly));
    supervisor_finish(&host->supervisor);
}

static void on_stop(void *context, uint32_t count)
{
    struct host *host = context;
    struct accounts_totals totals;

    if (count > 1)
        leave_at_once(host, "stopped at once", EX_TEMPFAIL);
    accounts_totals(&host->assembly, &totals);
    host->unfinished = totals.unfinished_sources > 0;
    log_answer(logger_sink(host->logger), WEIR_LOG_INFO, "host", "stopping",
               weir_uint("unfinished_sources", totals.unfinished_sources),
               weir_uint("waiting", totals.accepted - totals.settled),
               weir_str("effect", "finishing accepted messages; a second signal ends at once"));
    finish(host);
}

static void on_dump(void *context)
{
    struct host *host = context;

    accounts_log_ledger(&host->assembly, NULL);
}

static void serve_sockets(struct host *host)
{
    if (control_collect(host->control) != 0)
        log_event(logger_sink(host->logger), WEIR_LOG_ERROR, "control", "socket cannot be served",
                  weir_str("effect", "no command reaches this host; restart it"));
}

/* Everything has ended: waits until the printed text is written, within the time for the end. */
static void stop_when_written(struct host *host)
{
    if (printing_is_over(&host->printing, host->assembly.shared->settings->host.shutdown_timeout_ms,
                         running_wake, host))
        io_stop(host->io);
}

static void on_wake(void *context)
{
    struct host *host = context;

    if (exit_guard_is_asked())
        leave_at_once(host, "ended by code of a plugin", EXIT_GUARD_CODE);
    host->rests_since_ms = 0;
    io_resume_tick(host->io);
    control_routes_collect(&host->routes);
    serve_sockets(host);
    file_watch_collect(host->file_watch);
    if (atomic_load_explicit(&host->finished, memory_order_acquire))
        stop_when_written(host);
}

/* Stops the beat while no turn runs, since turns change everything that the beat reports; the next
 * turn starts it again. A progress line on a terminal keeps the beat, too. */
static void rest_when_nothing_moves(struct host *host, uint64_t now_ms)
{
    if (screen_can_show_status(host->screen) || !runtime_rest(host->runtime))
        host->rests_since_ms = 0;
    else if (!host->rests_since_ms)
        host->rests_since_ms = now_ms;
    else if (now_ms - host->rests_since_ms >= REST_MS) {
        unserved_look(&host->unserved);
        outage_look(&host->outage, now_ms);
        logger_flush(host->logger);
        io_pause_tick(host->io);
    }
}

/* A plugin may use all descriptors that the host does not keep for itself. */
static void look_at_descriptors(struct host *host, uint64_t now_ms)
{
    struct runtime_figures figures;
    bool is_short;

    if (now_ms - host->descriptors_ms < DESCRIPTORS_MS)
        return;
    host->descriptors_ms = now_ms;
    is_short = !reserve_refill(&host->reserve) || reserve_rest() <= 1;
    if (is_short && !host->is_short) {
        runtime_figures(host->runtime, &figures);
        log_event(logger_sink(host->logger), WEIR_LOG_WARNING, "host", "descriptors are used up",
                  weir_uint("granted_to_plugins", figures.descriptors),
                  weir_str("effect", "plugins wait for some; commands and reloads use a reserve"),
                  weir_str("hint", "raise `ulimit -n`, or LimitNOFILE= of the unit"));
    }
    host->is_short = is_short;
}

static void on_tick(void *context, uint64_t now_ms)
{
    struct host *host = context;
    struct runtime_figures figures;
    uint64_t next_ms;

    progress_tick(host->progress, now_ms);
    logger_tick(host->logger);
    turn_watch_tick(host->turn_watch, now_ms);
    next_ms = turn_watch_next_ms(host->turn_watch);
    io_set_tick(host->io, next_ms < host->tick_ms ? next_ms : host->tick_ms);
    poll_set_tick(host->poll_set, now_ms);
    look_at_descriptors(host, now_ms);
    control_routes_collect(&host->routes);
    cpu_watch_tick(&host->cpu_watch, now_ms);
    unserved_tick(&host->unserved, now_ms);
    outage_tick(&host->outage, now_ms);
    runtime_figures(host->runtime, &figures);
    if (accounts_are_done(&host->assembly) || figures.escalated)
        finish(host);
    if (atomic_load_explicit(&host->finished, memory_order_acquire))
        stop_when_written(host);
    else
        rest_when_nothing_moves(host, now_ms);
}

bool running_may_beat(void *context)
{
    struct host *host = context;

    return stuck_look_for_progress(&host->routes.overview, &host->progress_seen);
}

static uint32_t read_cpus(void *context)
{
    (void)context;
    return cpus_effective("");
}

static void on_cpus(void *context)
{
    struct host *host = context;

    supervisor_follow_cpus(&host->supervisor);
}

struct cpu_watch running_cpu_watch(struct host *host)
{
    return (struct cpu_watch){
        .read = read_cpus, .on_change = on_cpus, .context = host, .seen = cpus_effective("")
    };
}

struct io_callbacks running_callbacks(struct host *host)
{
    return (struct io_callbacks){
        .context = host,
        .on_reload = on_hangup,
        .on_reopen = on_reopen,
        .on_stop = on_stop,
        .on_dump = on_dump,
        .on_wake = on_wake,
        .on_tick = on_tick,
    };
}
