/* SPDX-License-Identifier: MIT */
#include "host/reload/control_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "config/json.h"

void control_jobs_init(struct control_jobs *jobs, void (*on_done)(void *context), void *context)
{
    *jobs = (struct control_jobs){ .on_done = on_done, .context = context };
    lock_init(&jobs->lock, LOCK_CONTROL_JOBS);
}

static void free_list(struct control_job *job)
{
    while (job) {
        struct control_job *next = job->next;

        control_job_destroy(job);
        job = next;
    }
}

void control_jobs_finish(struct control_jobs *jobs)
{
    free_list(jobs->waiting);
    free_list(jobs->held);
    free_list(jobs->done);
    lock_finish(&jobs->lock);
}

struct control_job *control_job_create(enum control_job_kind kind, const char *file, void *context)
{
    size_t length = file ? strlen(file) : 0;
    struct control_job *job = length < PATH_MAX ? calloc(1, sizeof *job) : NULL;

    if (!job)
        return NULL;
    job->kind = kind;
    job->context = context;
    if (file)
        memcpy(job->file, file, length + 1);
    return job;
}

void control_job_destroy(struct control_job *job)
{
    if (job)
        free(job->text);
    free(job);
}

/* --- the two lists -------------------------------------------------------------------------- */

static void append_locked(struct control_job **list, struct control_job *job)
{
    while (*list)
        list = &(*list)->next;
    job->next = NULL;
    *list = job;
}

void control_jobs_add(struct control_jobs *jobs, struct control_job *job)
{
    lock_acquire(&jobs->lock);
    append_locked(&jobs->waiting, job);
    lock_release(&jobs->lock);
}

struct control_job *control_jobs_take(struct control_jobs *jobs, enum control_job_kind kind)
{
    struct control_job *taken = NULL;
    struct control_job **link = &jobs->waiting;

    lock_acquire(&jobs->lock);
    while (*link) {
        struct control_job *job = *link;

        if (job->kind != kind) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        append_locked(&taken, job);
    }
    lock_release(&jobs->lock);
    return taken;
}

struct control_job *control_jobs_collect(struct control_jobs *jobs)
{
    struct control_job *job;

    lock_acquire(&jobs->lock);
    job = jobs->done;
    if (job)
        jobs->done = job->next;
    lock_release(&jobs->lock);
    return job;
}

/* --- answers -------------------------------------------------------------------------------- */

static const char *result_of(const struct control_job *job, const struct outcome *outcome)
{
    if (outcome->status != 0)
        return "refused";
    if (job->kind == CONTROL_JOB_PLAN)
        return "planned";
    return outcome->plan && outcome->plan->count ? "reloaded" : "unchanged";
}

static void write_result(const struct control_job *job, const struct outcome *outcome, FILE *stream)
{
    fprintf(stream, "%s, generation %u\n", result_of(job, outcome), outcome->generation);
    if (outcome->draining && !job->waits)
        fprintf(stream, "still draining: %u (`weir status` names them)\n", outcome->draining);
}

static void write_text(const struct control_job *job, const struct outcome *outcome, FILE *stream)
{
    if (outcome->report)
        report_print_warnings(outcome->report, stream);
    if (outcome->status == 0) {
        if (outcome->plan)
            plan_print(outcome->plan, stream, job->colour);
        law_answers_print(outcome->laws, stream);
        if (job->kind == CONTROL_JOB_RELOAD)
            write_result(job, outcome, stream);
        return;
    }
    if (outcome->report && report_count(outcome->report))
        report_print(outcome->report, stream);
    else
        fprintf(stream, "error: %s\n", weir_status_text(outcome->status));
}

static void write_steps(struct json *json, const struct plan *plan)
{
    json_begin_array(json, "steps");
    for (size_t i = 0; plan && i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];

        json_begin_object(json, NULL);
        json_text(json, "kind", plan_kind_name(step->kind));
        json_text(json, "path", step->path);
        if (step->field)
            json_text(json, "field", step->field);
        if (step->old_text)
            json_text(json, "from", step->old_text);
        if (step->new_text)
            json_text(json, "to", step->new_text);
        json_bool(json, "live", step->live);
        json_end(json);
    }
    json_end(json);
}

static void write_entries(struct json *json, const char *key, const struct report_list *list)
{
    json_begin_array(json, key);
    for (size_t i = 0; list && i < list->kept; i++) {
        const struct report_entry *entry = &list->entries[i];

        json_begin_object(json, NULL);
        if (entry->file) {
            json_text(json, "file", entry->file);
            json_unsigned(json, "line", entry->line);
            json_unsigned(json, "column", entry->column);
        }
        json_text(json, "path", entry->path);
        json_text(json, "reason", entry->reason);
        json_end(json);
    }
    json_end(json);
}

static void write_json(const struct control_job *job, const struct outcome *outcome, FILE *stream)
{
    const struct report *report = outcome->report;
    struct json json;

    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "result", result_of(job, outcome));
    json_unsigned(&json, "generation", outcome->generation);
    if (job->kind == CONTROL_JOB_RELOAD)
        json_unsigned(&json, "draining", job->waits ? 0 : outcome->draining);
    write_steps(&json, outcome->plan);
    if (job->kind == CONTROL_JOB_PLAN)
        law_answers_write(outcome->laws, &json);
    write_entries(&json, "errors", report ? &report->errors : NULL);
    write_entries(&json, "warnings", report ? &report->warnings : NULL);
    json_end(&json);
    json_finish(&json);
}

/* --- answers of a restart ------------------------------------------------------------------- */

static void write_restart_text(const struct control_job *job,
                               const struct pool_restart_result *result, FILE *stream)
{
    char text[SLOW_TURN_TEXT];

    fprintf(stream, "%s: %u %s restarted", job->file, result->restarted,
            plural(result->restarted, "worker", "workers"));
    if (result->busy)
        fprintf(stream, "; %u %s messages in hand for too long", result->busy,
                plural(result->busy, "was not restarted: it had", "were not restarted: they had"));
    if (result->failed)
        fprintf(stream, "; %u could not open and %s again: the log says why", result->failed,
                plural(result->failed, "tries", "try"));
    if (result->opening)
        fprintf(stream, "; %u %s still opening", result->opening,
                plural(result->opening, "is", "are"));
    fputc('\n', stream);
    if (result->is_stuck) {
        slow_turn_describe(&result->stuck, text, sizeof text);
        fprintf(stream, "%s is %s\n", job->file, text);
    }
    if (result->is_left) {
        slow_turn_describe(&result->stuck, text, sizeof text);
        fprintf(stream,
                "what it had in hand is dead `stuck`, and its thread is left behind: it is %s\n",
                text);
    }
}

static void write_restart_json(const struct control_job *job,
                               const struct pool_restart_result *result, FILE *stream)
{
    struct json json;

    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", job->file);
    json_unsigned(&json, "restarted", result->restarted);
    json_unsigned(&json, "busy", result->busy);
    json_unsigned(&json, "failed", result->failed);
    json_unsigned(&json, "opening", result->opening);
    if (result->is_left)
        json_bool(&json, "left_behind", true);
    if (result->is_stuck || result->is_left)
        slow_turn_write(&result->stuck, &json);
    json_end(&json);
    json_finish(&json);
}

/* As a request that is refused at once. */
static void write_refusal(const struct control_job *job, const char *why, FILE *stream)
{
    struct json json;

    if (job->wants_text) {
        fprintf(stream, "error: %s\n", why);
        return;
    }
    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "error", why);
    json_end(&json);
    json_finish(&json);
}

static void write_restart(const struct control_job *job, const struct pool_restart_result *result,
                          FILE *stream)
{
    if (job->wants_text)
        write_restart_text(job, result, stream);
    else
        write_restart_json(job, result, stream);
}

/* --- delivering ----------------------------------------------------------------------------- */

static void close_answer(struct control_job *job, FILE *stream)
{
    if (fclose(stream) == 0)
        return;
    free(job->text);
    job->text = NULL;
}

static void write_answer(struct control_job *job, const struct outcome *outcome)
{
    FILE *stream = open_memstream(&job->text, &job->size);

    job->status = outcome->status;
    if (!stream)
        return;
    if (job->wants_text)
        write_text(job, outcome, stream);
    else
        write_json(job, outcome, stream);
    close_answer(job, stream);
}

static void deliver(struct control_jobs *jobs, struct control_job *job)
{
    lock_acquire(&jobs->lock);
    append_locked(&jobs->done, job);
    lock_release(&jobs->lock);
}

void control_jobs_complete(struct control_jobs *jobs, struct control_job *list,
                           const struct outcome *outcome)
{
    bool any = list != NULL;

    while (list) {
        struct control_job *next = list->next;

        write_answer(list, outcome);
        list->next = NULL;
        if (list->waits && outcome->status == 0 && outcome->draining)
            append_locked(&jobs->held, list); /* no other thread uses that list */
        else
            deliver(jobs, list);
        list = next;
    }
    if (any && jobs->on_done)
        jobs->on_done(jobs->context);
}

void control_jobs_release(struct control_jobs *jobs)
{
    bool any = jobs->held != NULL;

    while (jobs->held) {
        struct control_job *job = jobs->held;

        jobs->held = job->next;
        job->next = NULL;
        deliver(jobs, job);
    }
    if (any && jobs->on_done)
        jobs->on_done(jobs->context);
}

void control_jobs_complete_restart(struct control_jobs *jobs, struct control_job *job, int status,
                                   const struct pool_restart_result *result)
{
    bool all = result->busy + result->failed + result->opening == 0;
    FILE *stream = open_memstream(&job->text, &job->size);
    const struct outcome none = { .status = status };

    job->status = status != 0 || all ? status : WEIR_EINVALID;
    if (stream && status == 0)
        write_restart(job, result, stream);
    else if (stream && result->why[0])
        write_refusal(job, result->why, stream);
    else if (stream && job->wants_text)
        write_text(job, &none, stream);
    else if (stream)
        write_json(job, &none, stream);
    if (stream)
        close_answer(job, stream);
    deliver(jobs, job);
    if (jobs->on_done)
        jobs->on_done(jobs->context);
}
