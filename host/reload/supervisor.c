/* SPDX-License-Identifier: MIT */
#include "host/reload/supervisor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cpus.h"
#include "config/plan.h"
#include "host/apply/apply.h"
#include "host/apply/dispatcher_change.h"
#include "host/apply/opener.h"
#include "host/reload/control_change.h"
#include "host/reload/pool_restart.h"
#include "host/reload/supported.h"
#include "host/run/closing.h"
#include "host/run/turn_watch.h"

#define TAG_RELOAD "host.reload/1"
#define TAG_FINISH "host.finish/1"
#define TAG_PLAN "host.plan/1"
#define TAG_CPUS "host.cpus/1"
#define TAG_RESTART "host.restart/1"
#define COMPONENT "reload"
#define KEPT_MANY 64 /* old versions of plugins; more cause a warning */

/* --- reporting ------------------------------------------------------------------------------ */

static const struct log_sink *sink_of(const struct supervisor *supervisor)
{
    return logger_sink(supervisor->logger);
}

static void log_entries(const struct supervisor *supervisor, const struct report_list *list,
                        enum weir_log_level level)
{
    for (size_t i = 0; i < list->kept; i++) {
        char text[512];

        (void)report_format(&list->entries[i], text, sizeof text);
        log_answer(sink_of(supervisor), level, COMPONENT, text);
    }
}

/* Counts a reload, and answers the clients that requested it. */
static void answer_requesters(struct supervisor *supervisor, int status, const struct plan *plan,
                              const struct report *report)
{
    struct outcome outcome = { .status = status,
                               .plan = plan,
                               .report = report,
                               .generation = supervisor->assembly->generation,
                               .draining = supervisor->assembly->drain_count };

    /* Relaxed: figures for people; only this thread writes them. */
    atomic_fetch_add_explicit(status == 0 ? &supervisor->accepted : &supervisor->refused, 1,
                              memory_order_relaxed);
    atomic_store_explicit(&supervisor->last_refused, status != 0, memory_order_relaxed);
    if (supervisor->jobs)
        control_jobs_complete(supervisor->jobs, supervisor->answered, &outcome);
    supervisor->answered = NULL;
}

static void refuse(struct supervisor *supervisor, int status, const struct report *report)
{
    answer_requesters(supervisor, status, NULL, report);
    log_entries(supervisor, &report->errors, WEIR_LOG_ERROR);
    log_answer(sink_of(supervisor), WEIR_LOG_ERROR, COMPONENT, "configuration refused",
               weir_str("file", supervisor->file), weir_uint("errors", report_count(report)),
               weir_uint("generation", supervisor->assembly->generation),
               weir_str("effect", "keeping the running configuration"));
}

static void log_step(const struct supervisor *supervisor, const struct plan_step *step)
{
    log_answer(sink_of(supervisor), WEIR_LOG_INFO, COMPONENT, plan_kind_name(step->kind),
               weir_str("path", step->path), weir_str("field", step->field ? step->field : "-"),
               weir_str("from", step->old_text ? step->old_text : "-"),
               weir_str("to", step->new_text ? step->new_text : "-"));
}

static void accept(struct supervisor *supervisor, const struct plan *plan,
                   const struct report *report, const struct apply_times *times)
{
    answer_requesters(supervisor, 0, plan, report);
    log_entries(supervisor, &report->warnings, WEIR_LOG_WARNING);
    for (size_t i = 0; i < plan->count; i++)
        log_step(supervisor, &plan->steps[i]);
    log_answer(sink_of(supervisor), WEIR_LOG_INFO, COMPONENT, "configuration reloaded",
               weir_uint("steps", plan->count),
               weir_uint("generation", supervisor->assembly->generation),
               weir_real("check_ms", (double)times->check_ns / 1e6),
               weir_real("prepare_ms", (double)times->prepare_ns / 1e6),
               weir_real("commit_ms", (double)times->commit_ns / 1e6),
               weir_uint("draining", supervisor->assembly->drain_count));
}

/* --- reloading ------------------------------------------------------------------------------ */

/* Writes the present sizes of pools into the settings, because the plan compares with the running
 * pools, not with the old file. */
static void write_present_sizes(struct assembly *assembly)
{
    struct settings *settings = assembly->shared->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct pool_scaling scaling;

        if (settings->pools[i].nested)
            continue;
        settings->pools[i].size_now = pool_target(assembly->pools[i]);
        pool_look_at_scale(assembly->pools[i], &scaling);
        settings->pools[i].scale_suspended = scaling.suspended;
    }
}

static void apply_dead_letters(struct assembly *assembly)
{
    const struct settings *settings = assembly->shared->settings;
    struct dead_letters_bounds bounds = assembly_dead_letters_of(settings);

    for (uint32_t i = 0; i < settings->pool_count; i++)
        dead_letters_set_bounds(pool_dead_letters(assembly->pools[i]).letters, &bounds);
    for (uint32_t i = 0; i < settings->source_count; i++)
        dead_letters_set_bounds(source_dead_letters(assembly->sources[i]).letters, &bounds);
}

/* Without memory the old levels stay, with a log line: the reload itself has been made. */
static void apply_pool_levels(const struct supervisor *supervisor)
{
    struct log_levels *levels;

    if (log_levels_create(supervisor->assembly->shared->settings, &levels) == WEIR_OK)
        logger_set_levels(supervisor->logger, levels);
    else
        log_answer(sink_of(supervisor), WEIR_LOG_ERROR, COMPONENT, "log levels cannot be set",
                   weir_str("reason", weir_status_text(WEIR_ENOMEM)),
                   weir_str("effect", "pools log as before; reload again"));
}

/* Carries out the plan's steps about the host, its log and the logs of pools that cannot fail. */
static void apply_host(const struct supervisor *supervisor, const struct plan *plan)
{
    const struct settings_host *host = &supervisor->assembly->shared->settings->host;
    uint32_t effects = plan_effects(plan, PLAN_PART_HOST);

    if (effects & PLAN_KEEPS_DEAD)
        apply_dead_letters(supervisor->assembly);
    if (effects & PLAN_BOUNDS) {
        runtime_set_memory(supervisor->assembly->runtime, host->memory);
        turn_watch_set_limit(supervisor->turn_watch, host->turn_warning_ms);
    }
    if (effects & PLAN_LOGS) {
        logger_set_level(supervisor->logger, (enum weir_log_level)host->log.level);
        logger_set_format(supervisor->logger, (enum log_format)host->log.format);
    }
    /* A new pool may have a level of its own; that of a removed one need not be kept. */
    if (plan_effects(plan, PLAN_PART_POOL) & (PLAN_LOGS | PLAN_ADDS | PLAN_REMOVES))
        apply_pool_levels(supervisor);
}

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

/* The files and sockets that a reload opens for the host itself before the commit. */
struct host_change {
    struct control_change control;
    struct dead_output *dead; /* owned; NULL: the present file of dead letters stays, or none is */
};

static void abort_host(struct host_change *change)
{
    control_change_abort(&change->control);
    dead_output_close(change->dead);
}

static bool changes_dead_file(const struct supervisor *supervisor, const struct plan *plan)
{
    return supervisor->dead_file && plan_effects(plan, PLAN_PART_HOST) & PLAN_KEEPS_DEAD;
}

static int prepare_host(const struct supervisor *supervisor, const struct settings *settings,
                        const struct plan *plan, struct report *report, struct host_change *out)
{
    int status;

    out->dead = NULL;
    status = control_change_prepare(&out->control, supervisor->control, settings, plan, report);
    if (status != 0 || !changes_dead_file(supervisor, plan))
        return status;
    status = dead_file_prepare(supervisor->dead_file, settings, report, &out->dead);
    if (status != 0)
        control_change_abort(&out->control);
    return status;
}

/* After the settings are in force. */
static void commit_host(const struct supervisor *supervisor, struct host_change *change,
                        const struct plan *plan)
{
    control_change_commit(&change->control);
    if (changes_dead_file(supervisor, plan))
        dead_file_commit(supervisor->dead_file, supervisor->assembly->shared->settings,
                         change->dead);
}

/* Answers the clients of a refused reload before the undoing, which may take a while. Takes the
 * settings. */
static void apply_to(struct supervisor *supervisor, struct settings *settings,
                     struct host_change *change, const struct plan *plan, struct report *report)
{
    struct apply apply;
    uint64_t check_ns = now_ns() - supervisor->began_ns;
    int status = apply_prepare(&apply, supervisor->assembly, settings, plan, report);

    apply.times.check_ns = check_ns;
    if (status != 0) {
        abort_host(change);
        refuse(supervisor, status, report);
        apply_abandon(&apply);
        return;
    }
    apply_commit(&apply);
    commit_host(supervisor, change, plan);
    if (supervisor->on_control)
        supervisor->on_control(supervisor->context);
    apply_host(supervisor, plan);
    apply_drain(&apply);
    drain_steps_begin(&supervisor->drains);
    accept(supervisor, plan, report, &apply.times);
}

/* Takes the settings. */
static void carry_out(struct supervisor *supervisor, struct settings *settings,
                      const struct plan *plan, struct report *report)
{
    struct host_change change;
    int status = prepare_host(supervisor, settings, plan, report, &change);

    if (status == 0) {
        apply_to(supervisor, settings, &change, plan, report);
        return;
    }
    refuse(supervisor, status, report);
    settings_destroy(settings);
}

/* Takes the settings. */
static void change_to(struct supervisor *supervisor, struct settings *settings,
                      struct report *report)
{
    struct shared_settings *old = supervisor->assembly->shared;
    struct plan *plan;

    write_present_sizes(supervisor->assembly);
    if (plan_create(old->settings, settings, &plan) != 0) {
        refuse(supervisor, WEIR_ENOMEM, report);
        settings_destroy(settings);
        return;
    }
    if (plan->count == 0 && !control_change_is_lost(supervisor->control, settings)) {
        answer_requesters(supervisor, 0, plan, report);
        log_answer(sink_of(supervisor), WEIR_LOG_INFO, COMPONENT, "nothing to do",
                   weir_str("file", supervisor->file),
                   weir_uint("generation", supervisor->assembly->generation));
        settings_destroy(settings);
        plan_destroy(plan);
        return;
    }
    /* The plan borrows both settings, and the old ones may lose their last user in the change. */
    atomic_fetch_add_explicit(&old->references, 1, memory_order_relaxed);
    carry_out(supervisor, settings, plan, report);
    plan_destroy(plan);
    shared_settings_unref(old);
}

/* Warns of old versions of plugins that cannot be unloaded: they use memory until the host ends. */
static void tidy(struct supervisor *supervisor)
{
    uint32_t kept = configuration_tidy(supervisor->configuration);

    if (kept >= KEPT_MANY && kept > supervisor->kept_logged)
        log_answer(sink_of(supervisor), WEIR_LOG_WARNING, COMPONENT,
                   "old versions of plugins stay in memory", weir_uint("count", kept),
                   weir_str("effect",
                            "until the host ends; a plugin that says WEIR_UNLOADABLE does "
                            "not stay"));
    supervisor->kept_logged = kept;
}

void supervisor_notify_ready(const struct supervisor *supervisor)
{
    const struct settings *settings = supervisor->assembly->shared->settings;
    bool refused = atomic_load_explicit(&supervisor->last_refused, memory_order_relaxed);
    char text[128];

    (void)snprintf(text, sizeof text,
                   "%sgeneration %" PRIu32 ", pools %" PRIu32 ", sources %" PRIu32,
                   refused ? "configuration refused; running on with " : "",
                   supervisor->assembly->generation, settings->pool_count, settings->source_count);
    notify_ready(supervisor->notify, text);
}

static void reload(struct supervisor *supervisor)
{
    struct settings *settings;
    struct config_files files;
    struct report report;
    int status;

    /* A later request causes another reload, since the file is read after this store. */
    atomic_store_explicit(&supervisor->reload_wanted, false, memory_order_seq_cst);
    if (supervisor->jobs)
        supervisor->answered = control_jobs_take(supervisor->jobs, CONTROL_JOB_RELOAD);
    supervisor->began_ns = now_ns();
    notify_reloading(supervisor->notify, supervisor->began_ns);
    report_init(&report);
    config_files_init(&files);
    status = configuration_read(supervisor->configuration, supervisor->file, &files, &report,
                                &settings);
    if (status == 0 && logger_hide(supervisor->logger, &report.secrets) != 0) {
        settings_destroy(settings);
        status = WEIR_ENOMEM;
    }
    if (status == 0) {
        change_to(supervisor, settings, &report);
    } else {
        refuse(supervisor, status, &report);
    }
    report_finish(&report);
    if (supervisor->on_read)
        supervisor->on_read(supervisor->context, &files);
    config_files_finish(&files);
    supervisor_notify_ready(supervisor);
    tidy(supervisor);
}

/* --- planning ------------------------------------------------------------------------------- */

static void plan_one(struct supervisor *supervisor, struct control_job *job)
{
    struct outcome outcome = { .generation = supervisor->assembly->generation };
    struct settings *settings = NULL;
    struct law_answers *laws = NULL;
    struct plan *plan = NULL;
    struct report report;

    report_init(&report);
    outcome.report = &report;
    outcome.status = configuration_read(supervisor->configuration, job->file, NULL, &report,
                                        &settings);
    if (outcome.status == 0) {
        write_present_sizes(supervisor->assembly);
        outcome.status = plan_create(supervisor->assembly->shared->settings, settings, &plan);
    }
    if (outcome.status == 0)
        laws = law_answers_create(supervisor->assembly, settings, plan);
    outcome.plan = plan;
    outcome.laws = laws;
    control_jobs_complete(supervisor->jobs, job, &outcome);
    law_answers_destroy(laws);
    plan_destroy(plan);
    settings_destroy(settings);
    report_finish(&report);
}

/* --- restarting a pool ---------------------------------------------------------------------- */

static void restart_one(struct supervisor *supervisor, struct control_job *job)
{
    struct pool_restart_result result = { 0 };
    int status = pool_restart(supervisor->assembly, supervisor->turn_watch, job->file, job->now,
                              &result);

    if (status == 0)
        log_answer(sink_of(supervisor), WEIR_LOG_INFO, "control", "pool restarted",
                   weir_str("path", job->file), weir_uint("restarted", result.restarted),
                   weir_uint("busy", result.busy), weir_uint("failed", result.failed),
                   weir_uint("opening", result.opening),
                   weir_str("killed", job->now && !result.is_left ? "its process" : "nothing"));
    control_jobs_complete_restart(supervisor->jobs, job, status, &result);
}

/* --- the jobs of one kind --------------------------------------------------------------------- */

/* Carries out all jobs of a kind. A request that arrives after the reset of `wanted` sends another
 * message. */
static void carry_out_jobs(struct supervisor *supervisor, enum control_job_kind kind,
                           _Atomic bool *wanted,
                           void (*carry_out_one)(struct supervisor *, struct control_job *))
{
    struct control_job *job;

    atomic_store_explicit(wanted, false, memory_order_seq_cst);
    job = control_jobs_take(supervisor->jobs, kind);
    while (job) {
        struct control_job *next = job->next;

        job->next = NULL;
        carry_out_one(supervisor, job);
        job = next;
    }
}

/* --- CPUs ----------------------------------------------------------------------------------- */

static void follow_cpus(struct supervisor *supervisor)
{
    /* A later change causes another request. */
    atomic_store_explicit(&supervisor->cpus_wanted, false, memory_order_seq_cst);
    (void)dispatcher_change_follow(supervisor->assembly, cpus_effective(""));
}

/* --- the end -------------------------------------------------------------------------------- */

static void finish(struct supervisor *supervisor)
{
    uint64_t timeout_ms = supervisor->assembly->shared->settings->host.shutdown_timeout_ms;
    bool drained = closing_shut_down(supervisor->assembly, timeout_ms);

    drain_steps_end(&supervisor->drains, supervisor->jobs);
    supervisor->on_finished(supervisor->context, drained);
}

/* --- the actor ------------------------------------------------------------------------------ */

struct state {
    struct supervisor *supervisor;
    bool ticks; /* a timer runs for parts that drain */
};

static void go_on(struct weir_self *self, void *memory, void *context);

/* Without memory for a timer the next message goes on. */
static void arm(struct weir_self *self, struct state *state)
{
    struct supervisor *supervisor = state->supervisor;
    uint64_t pause_ms;

    if (state->ticks || supervisor->drains.began_ns == 0)
        return;
    pause_ms = drain_steps_go_on(&supervisor->drains, supervisor->assembly, supervisor->jobs,
                                 sink_of(supervisor));
    if (pause_ms == 0)
        tidy(supervisor); /* of plugins that only parts that drained have used */
    else
        state->ticks = weir_after(self, pause_ms, go_on, NULL, NULL) == 0;
}

static void go_on(struct weir_self *self, void *memory, void *context)
{
    struct state *state = memory;

    (void)context;
    state->ticks = false;
    arm(self, state);
}

static int open_supervisor(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct state *)state)->supervisor = (struct supervisor *)(uintptr_t)settings;
    return 0;
}

static int handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    struct supervisor *supervisor = state->supervisor;

    reserve_lend(supervisor->reserve);
    if (strcmp(message->tag->name, TAG_FINISH) == 0)
        finish(supervisor);
    else if (strcmp(message->tag->name, TAG_PLAN) == 0)
        carry_out_jobs(supervisor, CONTROL_JOB_PLAN, &supervisor->plan_wanted, plan_one);
    else if (strcmp(message->tag->name, TAG_RESTART) == 0)
        carry_out_jobs(supervisor, CONTROL_JOB_RESTART, &supervisor->restart_wanted, restart_one);
    else if (strcmp(message->tag->name, TAG_CPUS) == 0)
        follow_cpus(supervisor);
    else if (!atomic_load_explicit(&supervisor->finish_wanted, memory_order_relaxed))
        reload(supervisor);
    reserve_end_loan(supervisor->reserve);
    arm(self, state);
    return WEIR_DONE;
}

static const struct weir_behaviour behaviour = {
    .name = "supervisor",
    .summary = "reloads and ends the host",
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING,
    .open = open_supervisor,
    .handle = handle,
};

static int spawn(struct supervisor *supervisor, struct dispatcher *dispatcher,
                 struct executor *executor)
{
    struct runtime *runtime = supervisor->assembly->runtime;
    const struct spec_options made_of = { .behaviour = &behaviour, .settings = supervisor };
    struct standalone_options options = { .name = COMPONENT,
                                          .is_hidden = true,
                                          .dispatcher = dispatcher };
    int status = spec_make(runtime, &made_of, &options.spec);

    if (status != 0)
        return status;
    status = standalone_create(runtime, executor, &options, &supervisor->actor);
    spec_unref(options.spec);
    return status;
}

static bool is_open(void *context)
{
    return standalone_opening(context) == 0;
}

int supervisor_start(struct supervisor *supervisor)
{
    const struct dispatcher_policy policy = { .budget = 1 };
    struct runtime *runtime = supervisor->assembly->runtime;
    struct dispatcher *dispatcher;
    struct executor *executor;
    int status = runtime_add_dispatcher(runtime, SUPERVISOR_DISPATCHER, 1, &policy, &dispatcher);

    if (status == 0)
        status = opener_create(supervisor->assembly);
    if (status != 0)
        return status;
    executor = runtime_enter(runtime);
    if (!executor)
        return WEIR_ENOMEM;
    status = spawn(supervisor, dispatcher, executor);
    runtime_leave(executor);
    if (status == 0 && !runtime_wait(runtime, is_open, supervisor->actor, CLOSING_TIMEOUT_MS))
        status = WEIR_ETIMEOUT;
    return status;
}

void supervisor_destroy(struct supervisor *supervisor)
{
    standalone_destroy(supervisor->actor);
    supervisor->actor = NULL;
}

static bool send_request(struct supervisor *supervisor, const char *tag_name)
{
    struct runtime *runtime = supervisor->assembly->runtime;
    const struct weir_tag *tag = runtime_tag(runtime, tag_name);
    struct weir_message *message = tag ? runtime_message_new(runtime, tag, 0) : NULL;
    bool sent = message && supervisor->actor &&
                runtime_send(runtime, standalone_pid(supervisor->actor), WEIR_NORMAL, message) == 0;

    if (message && !sent)
        runtime_message_free(runtime, message);
    return sent;
}

/* Sends a request unless one is under way; after a failure the next call tries again. */
static void request(struct supervisor *supervisor, _Atomic bool *wanted, const char *tag_name)
{
    if (!atomic_exchange_explicit(wanted, true, memory_order_seq_cst) &&
        !send_request(supervisor, tag_name))
        atomic_store_explicit(wanted, false, memory_order_seq_cst);
}

void supervisor_reload(struct supervisor *supervisor)
{
    request(supervisor, &supervisor->reload_wanted, TAG_RELOAD);
}

void supervisor_finish(struct supervisor *supervisor)
{
    /* A waiting reload gives up. */
    atomic_store_explicit(&supervisor->assembly->stopping, true, memory_order_release);
    runtime_notice(supervisor->assembly->runtime);
    request(supervisor, &supervisor->finish_wanted, TAG_FINISH);
}

void supervisor_follow_cpus(struct supervisor *supervisor)
{
    request(supervisor, &supervisor->cpus_wanted, TAG_CPUS);
}

void supervisor_ask(struct supervisor *supervisor, struct control_job *job)
{
    enum control_job_kind kind = job->kind;

    control_jobs_add(supervisor->jobs, job);
    if (kind == CONTROL_JOB_RELOAD)
        supervisor_reload(supervisor);
    else if (kind == CONTROL_JOB_RESTART)
        request(supervisor, &supervisor->restart_wanted, TAG_RESTART);
    else
        request(supervisor, &supervisor->plan_wanted, TAG_PLAN);
}
