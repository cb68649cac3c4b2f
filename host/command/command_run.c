/* SPDX-License-Identifier: MIT */
/* `weir run FILE`: runs a configuration until it is finished or ended by a signal. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "host/apply/apply.h"
#include "host/command/command.h"
#include "host/command/running.h"
#include "host/crash/crash.h"
#include "host/crash/crash_file.h"
#include "host/crash/last_words.h"
#include "host/plugin/symbols.h"
#include "host/reload/supported.h"
#include "host/run/accounts.h"
#include "host/run/closing.h"
#include "host/run/crash_watch.h"
#include "host/run/ending.h"
#include "host/run/exit_guard.h"
#include "host/run/first_process.h"

#define IDLE_TICK_MS 1000 /* without sources: a reload may add one */
#define TICK_MS 100       /* of the progress line and of the check for the end */

/* --- setting up ----------------------------------------------------------------------------- */

static int make_voice(struct host *host)
{
    struct logger_setup setup = {
        .clock = clock_monotonic(),
        .date_us = logger_date_us,
        .style = { .format = LOG_AUTO,
                   .journal = logger_is_journal(STDERR_FILENO, getenv("JOURNAL_STREAM")),
                   .colour = command_wants_colour(stderr) },
        .terminal = isatty(STDERR_FILENO),
        .level = WEIR_LOG_INFO,
    };

    host->screen = screen_create(STDOUT_FILENO, STDERR_FILENO);
    if (!host->screen)
        return WEIR_ENOMEM;
    setup.screen = host->screen;
    host->logger = logger_create(&setup);
    last_words_begin(STDERR_FILENO, host->logger);
    if (!host->logger || logger_hide(host->logger, &host->secrets) != WEIR_OK)
        return WEIR_ENOMEM;
    if (dead_file_create(logger_sink(host->logger), logger_date_us, &host->dead_file) != 0)
        return WEIR_ENOMEM;
    return printing_init(&host->printing, host->screen, logger_sink(host->logger));
}

static int make_runtime(struct host *host, const struct settings_host *settings)
{
    struct runtime_options options = {
        .clock = clock_monotonic(),
        .log = *logger_sink(host->logger),
        .thread_start = exit_guard_thread_start,
        .thread_end = exit_guard_thread_end,
        .memory = settings->memory,
        .keeps_identities = settings->crash_file != NULL,
        .descriptors = reserve_rest(),
        .stir = running_wake,
        .stir_context = host,
    };
    int status = poll_set_create(&host->poll_set);

    if (status != 0)
        return status;
    options.poller = poll_set_poller(host->poll_set);
    printing_connect(&host->printing, &options);
    options.dead_store = dead_file_store(host->dead_file);
    status = runtime_create(&options, &host->runtime);
    if (status != 0)
        return status;
    dead_file_connect(host->dead_file, host->runtime);
    assembly_init(&host->assembly, host->runtime);
    return 0;
}

static int read_settings(struct host *host, struct settings **out)
{
    struct report report;
    int status;

    report_init(&report);
    status = configuration_read(&host->configuration, host->file, &host->files, &report, out);
    configuration_print(&report, host->invocation->err);
    if (status == WEIR_OK && secrets_add_all(&host->secrets, &report.secrets) != WEIR_OK) {
        settings_destroy(*out);
        status = WEIR_ENOMEM;
    }
    report_finish(&report);
    return configuration_exit_code(status);
}

/* Dead letters are stored from now on. */
static int begin_dead_file(struct host *host, const struct settings *settings,
                           struct report *report)
{
    struct dead_output *output;
    int status = dead_file_prepare(host->dead_file, settings, report, &output);

    if (status == 0)
        dead_file_commit(host->dead_file, settings, output);
    return status;
}

static int report_cannot_start(const struct host *host)
{
    fprintf(host->invocation->err,
            "weir: the host cannot start: it needs more memory, threads or descriptors than it may "
            "have (ulimit -a)\n");
    return COMMAND_FAILED;
}

/* For the exit code: a file that is wrong stays wrong, and what a part lacked may come. */
static int start_code(int status, bool is_file_wrong)
{
    if (status == WEIR_ENOMEM)
        return EX_SOFTWARE;
    if (status != WEIR_OK)
        return is_file_wrong ? EX_CONFIG : EX_UNAVAILABLE;
    return EX_OK;
}

/* Builds the host from the settings. Takes them. Each failure has its reason. Returns the exit
 * code. */
static int start(struct host *host, struct settings *settings)
{
    struct report report;
    struct log_levels *levels;
    bool is_file_wrong;
    int status;

    logger_set_level(host->logger, (enum weir_log_level)settings->host.log.level);
    logger_set_format(host->logger, (enum log_format)settings->host.log.format);
    if (log_levels_create(settings, &levels) != WEIR_OK) {
        settings_destroy(settings);
        (void)report_cannot_start(host);
        return EX_SOFTWARE;
    }
    logger_set_levels(host->logger, levels);
    report_init(&report);
    status = secrets_add_all(&report.secrets, &host->secrets);
    if (status == 0)
        status = begin_dead_file(host, settings, &report);
    if (status == 0)
        status = crash_file_open(settings, logger_sink(host->logger), &report);
    is_file_wrong = status != 0;
    if (status == 0)
        status = apply_from_nothing(&host->assembly, settings, &report);
    else
        settings_destroy(settings);
    configuration_print(&report, host->invocation->err);
    if (status != 0 && report.errors.count == 0)
        (void)report_cannot_start(host);
    report_finish(&report);
    if (status == WEIR_ETIMEOUT)
        running_leave_threads_behind(host, EX_UNAVAILABLE);
    return start_code(status, is_file_wrong);
}

static bool name_function(void *symbols, const void *base, const void *address, char *out,
                          size_t size)
{
    return symbols_find(symbols, base, address, out, size);
}

static int make_turn_watch(struct host *host)
{
    struct turn_watch_setup setup = {
        .runtime = host->runtime,
        .sink = logger_sink(host->logger),
        .unwatched = SUPERVISOR_DISPATCHER,
        .names = { name_function, loader_symbols(host->configuration.loader) },
    };
    int status = turn_watch_create(&setup, &host->turn_watch);

    crash_name_functions(&setup.names);
    if (status == 0)
        turn_watch_set_limit(host->turn_watch,
                             host->assembly.shared->settings->host.turn_warning_ms);
    return status;
}

static int make_file_watch(struct host *host)
{
    struct file_watch_setup setup = {
        .loop = io_loop(host->io),
        .sink = logger_sink(host->logger),
        .on_change = running_reload,
        .context = host,
    };
    int status = file_watch_create(&setup, &host->file_watch);

    if (status == 0 && running_watches(host)) {
        file_watch_offer(host->file_watch, &host->files);
        file_watch_collect(host->file_watch);
    }
    return status;
}

static int start_supervisor(struct host *host)
{
    host->supervisor = (struct supervisor){
        .assembly = &host->assembly,
        .configuration = &host->configuration,
        .logger = host->logger,
        .turn_watch = host->turn_watch,
        .file = host->file,
        .notify = host->notify,
        .on_finished = running_finish,
        .on_read = running_note_files,
        .control = host->control,
        .reserve = &host->reserve,
        .dead_file = host->dead_file,
        .on_control = running_wake,
        .context = host,
        .jobs = &host->jobs,
    };
    return supervisor_start(&host->supervisor);
}

static void read_progress(void *context, struct progress_figures *out)
{
    accounts_progress(context, out);
}

static int make_io(struct host *host)
{
    struct io_callbacks callbacks = running_callbacks(host);
    struct progress_setup progress = {
        .screen = host->screen,
        .sink = logger_sink(host->logger),
        .read = read_progress,
        .context = &host->assembly,
    };
    struct clock clock = clock_monotonic();
    struct report report;
    int status;

    host->progress = progress_create(&progress, clock_now_ns(&clock) / 1000000u);
    if (!host->progress)
        return WEIR_ENOMEM;
    report_init(&report);
    host->tick_ms = host->assembly.shared->settings->source_count ? TICK_MS : IDLE_TICK_MS;
    status = io_create(&callbacks, host->tick_ms, &report, &host->io);
    if (status == 0)
        exit_guard_set_wake(running_wake, host);
    if (status == 0 && poll_set_attach(host->poll_set, io_loop(host->io), host->runtime) != 0)
        status = WEIR_ENOMEM;
    configuration_print(&report, host->invocation->err);
    report_finish(&report);
    return status;
}

static int make_control(struct host *host)
{
    struct control_setup setup = {
        .loop = io_loop(host->io),
        .ask = control_routes_ask,
        .is_probe = control_routes_is_probe,
        .reserve = &host->reserve,
        .conceal = control_routes_conceal,
        .context = &host->routes,
    };

    return control_create(&setup, &host->control);
}

static int make_heartbeat(struct host *host)
{
    struct heartbeat_setup setup = {
        .loop = io_loop(host->io),
        .runtime = host->runtime,
        .notify = host->notify,
        .may_beat = running_may_beat,
        .context = host,
    };

    return heartbeat_create(&setup, &host->heartbeat);
}

static int serve(struct host *host)
{
    struct clock clock = clock_monotonic();
    struct control_listener *listener;

    host->routes = (struct control_routes){
        .overview = {
            .assembly = &host->assembly,
            .supervisor = &host->supervisor,
            .dead_file = host->dead_file,
            .reserve = &host->reserve,
            .file = host->file,
            .version = WEIR_VERSION,
            .clock = clock,
            .date_us = logger_date_us,
            .started_ns = clock_now_ns(&clock),
        },
        .supervisor = &host->supervisor,
    };
    host->unserved = (struct unserved){ .overview = &host->routes.overview,
                                        .sink = logger_sink(host->logger) };
    host->outage = (struct outage){ .overview = &host->routes.overview,
                                    .sink = logger_sink(host->logger) };
    pending_answers_init(&host->routes.pending, &host->assembly, running_wake, host);
    listener = start_watch_take_listener(&host->start_watch);
    if (listener)
        control_offer(host->control, listener);
    return control_collect(host->control);
}

/* --- running -------------------------------------------------------------------------------- */

static int work(struct host *host)
{
    struct clock clock = clock_monotonic();
    struct ending ending = { .allows_dead = host->allows_dead };
    int code;

    log_answer(logger_sink(host->logger), WEIR_LOG_INFO, "host", "started",
               weir_str("file", host->file),
               weir_uint("pools", host->assembly.shared->settings->pool_count),
               weir_uint("sources", host->assembly.shared->settings->source_count));
    assembly_go(&host->assembly);
    supervisor_notify_ready(&host->supervisor);
    io_run(host->io);
    progress_finish(host->progress, clock_now_ns(&clock) / 1000000u);
    ending.is_complete = atomic_load_explicit(&host->drained, memory_order_relaxed) &&
                         !host->unfinished;
    ending.lost_bytes = printer_lost_bytes(&host->printing.printer);
    ending_look(&ending, &host->assembly);
    code = ending_exit_code(&ending);
    logger_flush(host->logger);
    ending_log(&ending, logger_sink(host->logger), code);
    if (!atomic_load_explicit(&host->drained, memory_order_relaxed) ||
        !printer_flush(&host->printing.printer, 0))
        running_leave_threads_behind(host, code);
    return code == EX_SOFTWARE ? COMMAND_FAILED : code;
}

static void tear_down(struct host *host)
{
    dead_file_end(host->dead_file);
    if (host->runtime) {
        (void)runtime_stop(host->runtime);
        turn_watch_destroy(host->turn_watch);
        heartbeat_destroy(host->heartbeat);
        supervisor_destroy(&host->supervisor);
        assembly_finish(&host->assembly);
        runtime_destroy(host->runtime);
    }
    exit_guard_end();
    pending_answers_finish(&host->routes.pending);
    unserved_finish(&host->unserved);
    outage_finish(&host->outage);
    progress_destroy(host->progress);
    running_remove_socket(host);
    control_destroy(host->control);
    file_watch_destroy(host->file_watch);
    config_files_finish(&host->files);
    secrets_finish(&host->secrets);
    poll_set_detach(host->poll_set);
    io_destroy(host->io);
    poll_set_destroy(host->poll_set);
    control_jobs_finish(&host->jobs);
    crash_watch_end();
    crash_file_close();
    last_words_end();
    reserve_finish(&host->reserve);
    dead_file_destroy(host->dead_file);
    if (printing_finish(&host->printing)) { /* else the printer's thread still uses them */
        logger_destroy(host->logger);
        screen_destroy(host->screen);
    }
    configuration_finish(&host->configuration);
    notify_destroy(host->notify);
}

/* Starts every part. Returns the exit code. */
static int start_host(struct host *host)
{
    struct settings *settings;
    int code = read_settings(host, &settings);

    if (code != EX_OK)
        return code;
    exit_guard_set_wake(start_watch_wake, &host->start_watch);
    if (make_voice(host) != 0 || exit_guard_begin() != 0 ||
        make_runtime(host, &settings->host) != 0) {
        settings_destroy(settings);
        return report_cannot_start(host);
    }
    /* Before anything is built, since two hosts with one socket are a mistake in the file. */
    if (start_watch_listen(&host->start_watch, &settings->host) != 0) {
        settings_destroy(settings);
        return EX_CONFIG;
    }
    crash_watch_begin();
    return start(host, settings);
}

/* The pools and sources are open: they are closed as at any end. */
static int abandon(struct host *host)
{
    int code = report_cannot_start(host);

    if (!closing_shut_down(&host->assembly, CLOSING_ABANDON_MS))
        running_leave_threads_behind(host, EX_SOFTWARE);
    return code;
}

static int run_host(struct host *host)
{
    int code;

    if (notify_create(&host->notify) != 0 ||
        start_watch_begin(&host->start_watch, &host->configuration, host->invocation->err) != 0)
        return report_cannot_start(host);
    code = start_host(host);
    exit_guard_set_wake(NULL, NULL);
    start_watch_end(&host->start_watch);
    if (code != EX_OK)
        return code;
    if (make_io(host) != 0 || make_turn_watch(host) != 0 || make_file_watch(host) != 0 ||
        make_control(host) != 0 || start_supervisor(host) != 0 || serve(host) != 0 ||
        make_heartbeat(host) != 0)
        return abandon(host);
    return work(host);
}

static int take_option(void *context, char letter, const char *argument)
{
    struct host *host = context;

    (void)argument;
    host->allows_dead |= letter == 'a';
    host->debugs |= letter == 'd';
    host->watches |= letter == 'w';
    return COMMAND_GO_ON;
}

static int run(const struct invocation *invocation)
{
    struct host host = { .invocation = invocation };
    int first;
    int code = command_parse(invocation, take_option, &host, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one file");
    if (host.debugs && host.watches)
        return command_usage_error(invocation, "takes --debug or --watch: a plugin that is open "
                                               "itself cannot be replaced");
    if (first_process_leave() != 0)
        return report_cannot_start(&host);
    runtime_prepare_process();
    host.file = invocation->argv[first];
    reserve_init(&host.reserve);
    host.cpu_watch = running_cpu_watch(&host);
    if (configuration_init(&host.configuration, invocation->program) != 0)
        return report_cannot_start(&host);
    if (host.debugs)
        configuration_debug(&host.configuration);
    if (host.watches)
        configuration_note_plugins(&host.configuration);
    control_jobs_init(&host.jobs, running_wake, &host);
    code = run_host(&host);
    tear_down(&host);
    return code;
}

static const struct command_option options[] = {
    { "allow-dead", 'a', NULL, "exit with 0, not 65, when there are dead letters" },
    { "debug", 'd', NULL, "open plugins themselves, without copies and trials: for gdb, valgrind" },
    { "watch", 'w', NULL, "reload when a file of the configuration or a plugin changes" },
    { NULL, 0, NULL, NULL },
};

const struct command command_run = {
    .name = "run",
    .arguments = "FILE",
    .summary = "run FILE until its sources are finished or a signal stops the host",
    .details =
        "Signals: HUP reloads the file; HUP and USR1 make workers open their files again; TERM\n"
        "and INT stop the sources and finish the accepted messages, a second one ends the host\n"
        "at once; USR2 logs the ledger.\n"
        "Exit code, the first that applies: 66 no such file; 78 the file has mistakes; 69 a\n"
        "worker or source does not open; 70 a pool has failed too often, or a plugin ended the\n"
        "process; 75 stopped before the sources were finished; 74 printed output was lost; the\n"
        "largest code that a worker asked for, if not 0; 65 there are dead letters, all sources\n"
        "are finite, and --allow-dead is not given; else 0.\n",
    .options = options,
    .keeps_signals = true,
    .run = run,
};
