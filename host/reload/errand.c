#include "host/reload/errand.h"

#include <stdlib.h>
#include <string.h>

#include "config/json.h"

void errands_init(struct errands *errands, void (*on_done)(void *context), void *context)
{
    *errands = (struct errands){ .on_done = on_done, .context = context };
    pthread_mutex_init(&errands->lock, NULL);
}

static void free_list(struct errand *errand)
{
    while (errand) {
        struct errand *next = errand->next;

        errand_destroy(errand);
        errand = next;
    }
}

void errands_finish(struct errands *errands)
{
    free_list(errands->asked);
    free_list(errands->done);
    pthread_mutex_destroy(&errands->lock);
}

struct errand *errand_create(enum errand_kind kind, const char *file, void *context)
{
    size_t length = file ? strlen(file) : 0;
    struct errand *errand = length < PATH_MAX ? calloc(1, sizeof *errand) : NULL;

    if (!errand)
        return NULL;
    errand->kind = kind;
    errand->context = context;
    if (file)
        memcpy(errand->file, file, length + 1);
    return errand;
}

void errand_destroy(struct errand *errand)
{
    if (errand)
        free(errand->text);
    free(errand);
}

/* --- the two lists -------------------------------------------------------------------------- */

static void append_locked(struct errand **list, struct errand *errand)
{
    while (*list)
        list = &(*list)->next;
    errand->next = NULL;
    *list = errand;
}

void errands_ask(struct errands *errands, struct errand *errand)
{
    pthread_mutex_lock(&errands->lock);
    append_locked(&errands->asked, errand);
    pthread_mutex_unlock(&errands->lock);
}

struct errand *errands_take(struct errands *errands, enum errand_kind kind)
{
    struct errand *taken = NULL;
    struct errand **link = &errands->asked;

    pthread_mutex_lock(&errands->lock);
    while (*link) {
        struct errand *errand = *link;

        if (errand->kind != kind) {
            link = &errand->next;
            continue;
        }
        *link = errand->next;
        append_locked(&taken, errand);
    }
    pthread_mutex_unlock(&errands->lock);
    return taken;
}

struct errand *errands_collect(struct errands *errands)
{
    struct errand *errand;

    pthread_mutex_lock(&errands->lock);
    errand = errands->done;
    if (errand)
        errands->done = errand->next;
    pthread_mutex_unlock(&errands->lock);
    return errand;
}

/* --- answers -------------------------------------------------------------------------------- */

static const char *result_of(const struct errand *errand, const struct outcome *outcome)
{
    if (outcome->status != 0)
        return "refused";
    if (errand->kind == ERRAND_PLAN)
        return "planned";
    return outcome->plan && outcome->plan->count ? "reloaded" : "unchanged";
}

static void write_text(const struct errand *errand, const struct outcome *outcome, FILE *stream)
{
    if (outcome->report)
        report_print_warnings(outcome->report, stream);
    if (outcome->status == 0) {
        if (outcome->plan)
            plan_print(outcome->plan, stream, errand->colour);
        if (errand->kind == ERRAND_RELOAD)
            fprintf(stream, "%s, generation %u\n", result_of(errand, outcome), outcome->generation);
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

static void write_json(const struct errand *errand, const struct outcome *outcome, FILE *stream)
{
    const struct report *report = outcome->report;
    struct json json;

    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "result", result_of(errand, outcome));
    json_unsigned(&json, "generation", outcome->generation);
    write_steps(&json, outcome->plan);
    write_entries(&json, "errors", report ? &report->errors : NULL);
    write_entries(&json, "warnings", report ? &report->warnings : NULL);
    json_end(&json);
    json_finish(&json);
}

/* --- answers of a restart ------------------------------------------------------------------- */

static void write_restart_text(const struct errand *errand,
                               const struct pool_restart_result *result, FILE *stream)
{
    fprintf(stream, "%s: %u workers restarted", errand->file, result->restarted);
    if (result->busy)
        fprintf(stream, "; %u go on as they are: they had messages in hand for too long",
                result->busy);
    if (result->failed)
        fprintf(stream, "; %u could not open and try again: the log says why", result->failed);
    if (result->opening)
        fprintf(stream, "; %u are still opening", result->opening);
    fputc('\n', stream);
}

static void write_restart_json(const struct errand *errand,
                               const struct pool_restart_result *result, FILE *stream)
{
    struct json json;

    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", errand->file);
    json_unsigned(&json, "restarted", result->restarted);
    json_unsigned(&json, "busy", result->busy);
    json_unsigned(&json, "failed", result->failed);
    json_unsigned(&json, "opening", result->opening);
    json_end(&json);
    json_finish(&json);
}

static void write_restart(const struct errand *errand, const struct pool_restart_result *result,
                          FILE *stream)
{
    if (errand->wants_text)
        write_restart_text(errand, result, stream);
    else
        write_restart_json(errand, result, stream);
}

/* --- delivering ----------------------------------------------------------------------------- */

static void close_answer(struct errand *errand, FILE *stream)
{
    if (fclose(stream) == 0)
        return;
    free(errand->text);
    errand->text = NULL;
}

static void write_answer(struct errand *errand, const struct outcome *outcome)
{
    FILE *stream = open_memstream(&errand->text, &errand->size);

    errand->status = outcome->status;
    if (!stream)
        return;
    if (errand->wants_text)
        write_text(errand, outcome, stream);
    else
        write_json(errand, outcome, stream);
    close_answer(errand, stream);
}

static void deliver(struct errands *errands, struct errand *errand)
{
    pthread_mutex_lock(&errands->lock);
    append_locked(&errands->done, errand);
    pthread_mutex_unlock(&errands->lock);
}

void errands_complete(struct errands *errands, struct errand *list, const struct outcome *outcome)
{
    bool any = list != NULL;

    while (list) {
        struct errand *next = list->next;

        write_answer(list, outcome);
        deliver(errands, list);
        list = next;
    }
    if (any && errands->on_done)
        errands->on_done(errands->context);
}

void errands_complete_restart(struct errands *errands, struct errand *errand, int status,
                              const struct pool_restart_result *result)
{
    bool all = result->busy + result->failed + result->opening == 0;
    FILE *stream = open_memstream(&errand->text, &errand->size);
    const struct outcome none = { .status = status };

    errand->status = status != 0 || all ? status : WEIR_EINVALID;
    if (stream && status == 0)
        write_restart(errand, result, stream);
    else if (stream && errand->wants_text)
        write_text(errand, &none, stream);
    else if (stream)
        write_json(errand, &none, stream);
    if (stream)
        close_answer(errand, stream);
    deliver(errands, errand);
    if (errands->on_done)
        errands->on_done(errands->context);
}
