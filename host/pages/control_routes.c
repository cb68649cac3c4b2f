#include "host/pages/control_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/json.h"
#include "host/pages/letters.h"
#include "host/pages/member_list.h"
#include "host/pages/metrics.h"
#include "host/pages/readiness.h"

#define TYPE_JSON "application/json"
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_BYTES "application/octet-stream"

/* One request, and the answer under construction. */
struct inquiry {
    struct control_routes *routes;
    struct connection *connection;
    const struct http_request *request;
    char *rest; /* of the path, after the route's own; cut at a verb */
    struct control_reply reply;
    FILE *stream; /* fills the reply */
    bool later;   /* a control job or an inspection answers later */
};

/* Writes a sentence in the requested form. Returns the status. */
WEIR_PRINTF(3, 4)
static unsigned refuse(struct inquiry *inquiry, unsigned status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    struct json json;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "error: %s\n", text);
        return status;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "error", text);
    json_end(&json);
    json_finish(&json);
    return status;
}

static unsigned no_such_pool(struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    bool is_source;

    pthread_mutex_lock(&assembly->lock);
    is_source = settings_find_source(assembly->held->settings, inquiry->rest) != SETTINGS_NONE;
    pthread_mutex_unlock(&assembly->lock);
    return refuse(inquiry, HTTP_STATUS_NOT_FOUND, "there is no pool \"%s\"%s", inquiry->rest,
                  is_source ? ": it is a source, of which `weir inspect` tells" : "");
}

/* --- looking -------------------------------------------------------------------------------- */

static unsigned get_status(struct inquiry *inquiry)
{
    overview_status(&inquiry->routes->overview, inquiry->request->wants_text, inquiry->stream);
    return HTTP_STATUS_OK;
}

static unsigned get_pools(struct inquiry *inquiry)
{
    overview_pools(&inquiry->routes->overview, inquiry->request->wants_text, inquiry->stream);
    return HTTP_STATUS_OK;
}

static unsigned get_pool(struct inquiry *inquiry)
{
    return overview_pool(&inquiry->routes->overview, inquiry->rest, inquiry->request->wants_text,
                         inquiry->stream)
               ? HTTP_STATUS_OK
               : no_such_pool(inquiry);
}

static unsigned get_metrics(struct inquiry *inquiry)
{
    inquiry->reply.content_type = METRICS_TYPE;
    metrics_write(&inquiry->routes->overview, inquiry->stream);
    return HTTP_STATUS_OK;
}

static unsigned get_livez(struct inquiry *inquiry)
{
    inquiry->reply.content_type = TYPE_TEXT;
    fputs("ok\n", inquiry->stream);
    return HTTP_STATUS_OK;
}

static bool is_stopping(const struct inquiry *inquiry)
{
    return atomic_load_explicit(&inquiry->routes->overview.assembly->stopping,
                                memory_order_acquire);
}

static unsigned get_readyz(struct inquiry *inquiry)
{
    inquiry->reply.content_type = TYPE_TEXT;
    return readiness_write(&inquiry->routes->overview, inquiry->stream)
               ? HTTP_STATUS_OK
               : HTTP_STATUS_SERVICE_UNAVAILABLE;
}

/* With a path after the slash: only that pool and its members. */
static unsigned get_members(struct inquiry *inquiry)
{
    return member_list_write(&inquiry->routes->overview, inquiry->rest,
                             inquiry->request->wants_text, inquiry->stream)
               ? HTTP_STATUS_OK
               : no_such_pool(inquiry);
}

static unsigned get_dead(struct inquiry *inquiry)
{
    letters_summary(&inquiry->routes->overview, inquiry->request->wants_text, inquiry->stream);
    return HTTP_STATUS_OK;
}

/* Reads the number `name` of the query. */
static bool query_number(const struct inquiry *inquiry, const char *name, uint64_t *out)
{
    char text[32];

    return http_query(inquiry->request, name, text, sizeof text) &&
           text_parse_u64(text, out) == TEXT_OK;
}

/* At most as many as fit into an answer; `?after=N` continues after dead letter N. */
static unsigned get_letters(struct inquiry *inquiry)
{
    uint64_t after = 0;

    (void)query_number(inquiry, "after", &after);
    return letters_list(&inquiry->routes->overview, inquiry->rest, after,
                        inquiry->request->wants_text, inquiry->stream)
               ? HTTP_STATUS_OK
               : no_such_pool(inquiry);
}

static unsigned refuse_payload(struct inquiry *inquiry, uint64_t number, int status)
{
    if (status == WEIR_EUNSUPPORTED)
        return refuse(inquiry, HTTP_STATUS_CONFLICT, "%s: the payload of letter %ju was not kept",
                      inquiry->rest, (uintmax_t)number);
    if (status == WEIR_EUNKNOWN)
        return refuse(inquiry, HTTP_STATUS_NOT_FOUND, "%s has no letter %ju", inquiry->rest,
                      (uintmax_t)number);
    return refuse(inquiry, HTTP_STATUS_INTERNAL_SERVER_ERROR, "%s", weir_status_text(status));
}

/* The numbers alone, one on each line, for programs that go through them. */
static unsigned get_numbers(struct inquiry *inquiry)
{
    uint64_t after = 0;

    (void)query_number(inquiry, "after", &after);
    inquiry->reply.content_type = TYPE_TEXT;
    return letters_numbers(&inquiry->routes->overview, inquiry->rest, after, inquiry->stream)
               ? HTTP_STATUS_OK
               : no_such_pool(inquiry);
}

/* `?number=N`: the payload of dead letter N. `?after=N`: the numbers after N. */
static unsigned get_payload(struct inquiry *inquiry)
{
    uint64_t number = 0;
    int status;

    if (!query_number(inquiry, "number", &number))
        return get_numbers(inquiry);
    status = letters_payload(&inquiry->routes->overview, inquiry->rest, number, inquiry->stream);
    if (status != 0)
        return refuse_payload(inquiry, number, status);
    inquiry->reply.content_type = TYPE_BYTES;
    return HTTP_STATUS_OK;
}

/* --- changing ------------------------------------------------------------------------------- */

static unsigned post_replay(struct inquiry *inquiry)
{
    return letters_replay(&inquiry->routes->overview, inquiry->rest, inquiry->request->wants_text,
                          inquiry->stream)
               ? HTTP_STATUS_OK
               : no_such_pool(inquiry);
}

/* Parses numbers between commas and returns their count; 0: `text` has something else. */
static uint32_t parse_numbers(char *text, uint64_t numbers[LETTERS_DELETED_MAX])
{
    uint32_t count = 0;
    char *rest = text;
    char *number;

    while ((number = strsep(&rest, ",")))
        if (count == LETTERS_DELETED_MAX || text_parse_u64(number, &numbers[count++]) != TEXT_OK)
            return 0;
    return count;
}

/* Missing numbers make the status a conflict, since the request was not carried out in full. */
static unsigned tell_deleted(struct inquiry *inquiry, uint32_t deleted, uint32_t missing)
{
    unsigned status = missing ? HTTP_STATUS_CONFLICT : HTTP_STATUS_OK;
    struct json json;

    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              "dead letters deleted", weir_str("path", inquiry->rest),
              weir_uint("deleted", deleted));
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %u letters deleted", inquiry->rest, deleted);
        if (missing)
            fprintf(inquiry->stream, ", %u are not there", missing);
        fputc('\n', inquiry->stream);
        return status;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_unsigned(&json, "deleted", deleted);
    json_unsigned(&json, "missing", missing);
    json_end(&json);
    json_finish(&json);
    return status;
}

/* `?numbers=N,N` or `?numbers=all` */
static unsigned post_delete(struct inquiry *inquiry)
{
    uint64_t numbers[LETTERS_DELETED_MAX];
    char text[HTTP_TARGET_MAX];
    uint32_t count = 0, deleted = 0;
    bool all;

    if (!http_query(inquiry->request, "numbers", text, sizeof text))
        text[0] = '\0';
    all = strcmp(text, "all") == 0;
    if (!all)
        count = parse_numbers(text, numbers);
    if (!all && count == 0)
        return refuse(inquiry, HTTP_STATUS_BAD_REQUEST,
                      "numbers must be those of letters, at most %d, or all", LETTERS_DELETED_MAX);
    if (letters_delete(&inquiry->routes->overview, inquiry->rest, all ? NULL : numbers, count,
                       &deleted) != 0)
        return no_such_pool(inquiry);
    return tell_deleted(inquiry, deleted, all ? 0 : count - deleted);
}

static void tell_resized(struct inquiry *inquiry, const struct weir_resized *resized)
{
    struct json json;

    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %u workers, %u changed\n", inquiry->rest, resized->size,
                resized->changed);
        return;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_unsigned(&json, "size", resized->size);
    json_unsigned(&json, "changed", resized->changed);
    json_unsigned(&json, "epoch", resized->epoch);
    json_end(&json);
    json_finish(&json);
}

static void tell_bounds_locked(const struct settings_pool *pool, char *text, size_t size)
{
    if (pool->nested)
        (void)snprintf(text, size, "its members are pools: scale one of them");
    else
        (void)snprintf(text, size, "its bounds are %u..%u", pool->size_min, pool->size_max);
}

/* WEIR_EUNKNOWN: no such pool. WEIR_EINVALID: `why` has the reason. */
static int scale(struct inquiry *inquiry, uint32_t size, struct weir_resized *out, char *why,
                 size_t why_size)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);
    int status = WEIR_EUNKNOWN;
    uint32_t index;

    if (!executor)
        return WEIR_ENOMEM;
    pthread_mutex_lock(&assembly->lock);
    index = settings_find_pool(assembly->held->settings, inquiry->rest);
    if (index != SETTINGS_NONE) {
        status = pool_resize(assembly->pools[index], executor, size, out);
        tell_bounds_locked(&assembly->held->settings->pools[index], why, why_size);
    }
    pthread_mutex_unlock(&assembly->lock);
    runtime_leave(executor);
    return status;
}

static unsigned post_scale(struct inquiry *inquiry)
{
    struct weir_resized resized = { 0 };
    char text[32], why[64];
    uint64_t size = 0;
    int status;

    if (!http_query(inquiry->request, "size", text, sizeof text) ||
        text_parse_u64(text, &size) != TEXT_OK || size > SETTINGS_POOL_SIZE_MAX)
        return refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "size must be 0..%u",
                      SETTINGS_POOL_SIZE_MAX);
    status = scale(inquiry, (uint32_t)size, &resized, why, sizeof why);
    if (status == WEIR_EUNKNOWN)
        return no_such_pool(inquiry);
    if (status == WEIR_EINVALID)
        return refuse(inquiry, HTTP_STATUS_CONFLICT, "%s cannot have %s workers: %s", inquiry->rest,
                      text, why);
    if (status != 0)
        return refuse(inquiry, HTTP_STATUS_CONFLICT, "%s: %s", inquiry->rest,
                      weir_status_text(status));
    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              "pool scaled", weir_str("path", inquiry->rest), weir_uint("size", resized.size),
              weir_uint("changed", resized.changed));
    tell_resized(inquiry, &resized);
    return HTTP_STATUS_OK;
}

/* False: there is no such pool. */
static bool set_paused(struct inquiry *inquiry, bool paused)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);
    uint32_t index;

    if (!executor)
        return false;
    pthread_mutex_lock(&assembly->lock);
    index = settings_find_pool(assembly->held->settings, inquiry->rest);
    if (index != SETTINGS_NONE)
        pool_pause(assembly->pools[index], paused, executor);
    pthread_mutex_unlock(&assembly->lock);
    runtime_leave(executor);
    return index != SETTINGS_NONE;
}

static unsigned pause_or_resume(struct inquiry *inquiry, bool paused)
{
    struct json json;

    if (!set_paused(inquiry, paused))
        return no_such_pool(inquiry);
    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              paused ? "pool paused" : "pool resumed", weir_str("path", inquiry->rest));
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %s\n", inquiry->rest, paused ? "paused" : "resumed");
        return HTTP_STATUS_OK;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_bool(&json, "paused", paused);
    json_end(&json);
    json_finish(&json);
    return HTTP_STATUS_OK;
}

static unsigned post_pause(struct inquiry *inquiry)
{
    return pause_or_resume(inquiry, true);
}

static unsigned post_resume(struct inquiry *inquiry)
{
    return pause_or_resume(inquiry, false);
}

/* --- jobs -------------------------------------------------------------------------------- */

static unsigned add_job(struct inquiry *inquiry, enum control_job_kind kind, const char *file)
{
    struct control_job *job;
    char colour[8];

    if (is_stopping(inquiry))
        return refuse(inquiry, HTTP_STATUS_SERVICE_UNAVAILABLE, "the host is ending");
    job = control_job_create(kind, file, inquiry->connection);
    if (!job)
        return refuse(inquiry, HTTP_STATUS_INTERNAL_SERVER_ERROR, "out of memory");
    job->wants_text = inquiry->request->wants_text;
    job->colour = http_query(inquiry->request, "colour", colour, sizeof colour) != NULL;
    inquiry->later = true;
    supervisor_ask(inquiry->routes->supervisor, job);
    return HTTP_STATUS_OK;
}

static unsigned post_reload(struct inquiry *inquiry)
{
    return add_job(inquiry, CONTROL_JOB_RELOAD, NULL);
}

static bool is_pool(struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    bool is;

    pthread_mutex_lock(&assembly->lock);
    is = settings_find_pool(assembly->held->settings, inquiry->rest) != SETTINGS_NONE;
    pthread_mutex_unlock(&assembly->lock);
    return is;
}

static unsigned post_restart(struct inquiry *inquiry)
{
    return is_pool(inquiry) ? add_job(inquiry, CONTROL_JOB_RESTART, inquiry->rest)
                            : no_such_pool(inquiry);
}

static unsigned get_plan(struct inquiry *inquiry)
{
    char file[PATH_MAX];

    if (!http_query(inquiry->request, "file", file, sizeof file) || file[0] != '/')
        return refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "file must be an absolute path");
    return add_job(inquiry, CONTROL_JOB_PLAN, file);
}

/* --- inspecting ----------------------------------------------------------------------------- */

static unsigned get_inspect(struct inquiry *inquiry)
{
    char items[HTTP_TARGET_MAX];
    const struct inspections_question question = {
        .path = inquiry->rest,
        .items = http_query(inquiry->request, "items", items, sizeof items) ? items : "",
        .wants_text = inquiry->request->wants_text,
        .connection = inquiry->connection,
    };
    int status = inspections_ask(&inquiry->routes->inspections, &question);

    if (status == WEIR_EUNKNOWN || status == WEIR_ETERMINATED)
        return refuse(inquiry, HTTP_STATUS_NOT_FOUND,
                      "there is no pool, source, worker or actor \"%s\"", inquiry->rest);
    if (status == WEIR_EINVALID)
        return refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "at most %d items", WEIR_INSPECT_ITEMS_MAX);
    if (status != 0)
        return refuse(inquiry, HTTP_STATUS_INTERNAL_SERVER_ERROR, "%s", weir_status_text(status));
    inquiry->later = true;
    return HTTP_STATUS_OK;
}

static unsigned status_of(const struct control_job *job)
{
    if (job->status == 0)
        return HTTP_STATUS_OK;
    if (job->kind != CONTROL_JOB_RESTART)
        return HTTP_STATUS_UNPROCESSABLE_ENTITY;
    switch (job->status) {
    case WEIR_EUNKNOWN:
        return HTTP_STATUS_NOT_FOUND;
    case WEIR_EINVALID:
        return HTTP_STATUS_CONFLICT;
    default:
        return HTTP_STATUS_SERVICE_UNAVAILABLE;
    }
}

void control_routes_collect(struct control_routes *routes)
{
    struct control_job *job;

    inspections_collect(&routes->inspections);

    while ((job = control_jobs_collect(routes->supervisor->jobs))) {
        control_answer(job->context, (struct control_reply){
                                         .status = status_of(job),
                                         .content_type = job->wants_text ? TYPE_TEXT : TYPE_JSON,
                                         .text = job->text,
                                         .size = job->size,
                                     });
        job->text = NULL;
        control_job_destroy(job);
    }
}

bool control_routes_is_probe(const struct http_request *request)
{
    return strcmp(request->path, "livez") == 0 || strcmp(request->path, "readyz") == 0;
}

/* --- which is it ---------------------------------------------------------------------------- */

static const struct route {
    const char *path; /* ends with a slash: followed by the path of a pool */
    const char *verb; /* after the path; NULL: none */
    bool is_post;
    unsigned (*answer)(struct inquiry *inquiry);
} routes[] = {
    { "status", NULL, false, get_status },
    { "pools", NULL, false, get_pools },
    { "pools/", "/scale", true, post_scale },
    { "pools/", "/pause", true, post_pause },
    { "pools/", "/restart", true, post_restart },
    { "pools/", "/resume", true, post_resume },
    { "pools/", NULL, false, get_pool },
    { "dead", NULL, false, get_dead },
    { "dead/", "/replay", true, post_replay },
    { "dead/", "/delete", true, post_delete },
    { "letter/", NULL, false, get_payload },
    { "dead/", NULL, false, get_letters },
    { "metrics", NULL, false, get_metrics },
    { "livez", NULL, false, get_livez },
    { "readyz", NULL, false, get_readyz },
    { "reload", NULL, true, post_reload },
    { "plan", NULL, false, get_plan },
    { "inspect/", NULL, false, get_inspect },
    { "members", NULL, false, get_members },
    { "members/", NULL, false, get_members },
};

#define ROUTES_COUNT (sizeof routes / sizeof routes[0])

/* The position of the verb in `rest`; NULL: `rest` does not end with it. */
static char *find_verb(char *rest, const char *verb)
{
    size_t length = strlen(rest), verb_length = strlen(verb);

    if (length <= verb_length || strcmp(rest + length - verb_length, verb) != 0)
        return NULL;
    return rest + length - verb_length;
}

/* True when the path is the route's; `rest` is then the remainder. */
static bool matches(const struct route *route, struct inquiry *inquiry)
{
    char *path = inquiry->request->path;
    size_t length = strlen(route->path);
    char *verb;

    if (route->path[length - 1] != '/')
        return strcmp(path, route->path) == 0;
    if (strncmp(path, route->path, length) != 0 || !path[length])
        return false;
    inquiry->rest = path + length;
    if (!route->verb)
        return true;
    /* A pool may be called `scale`: only a POST has verbs. */
    verb = inquiry->request->is_post ? find_verb(inquiry->rest, route->verb) : NULL;
    if (verb)
        *verb = '\0';
    return verb != NULL;
}

static unsigned answer(struct inquiry *inquiry)
{
    for (size_t i = 0; i < ROUTES_COUNT; i++) {
        if (!matches(&routes[i], inquiry))
            continue;
        if (routes[i].is_post != inquiry->request->is_post)
            return refuse(inquiry, HTTP_STATUS_METHOD_NOT_ALLOWED, "/%s wants %s",
                          inquiry->request->path, routes[i].is_post ? "POST" : "GET");
        return routes[i].answer(inquiry);
    }
    return refuse(inquiry, HTTP_STATUS_NOT_FOUND, "there is no page /%s", inquiry->request->path);
}

void control_routes_ask(void *context, struct connection *connection,
                        const struct http_request *request)
{
    struct inquiry inquiry = {
        .routes = context,
        .connection = connection,
        .request = request,
        .reply = { .content_type = request->wants_text ? TYPE_TEXT : TYPE_JSON },
    };

    inquiry.stream = open_memstream(&inquiry.reply.text, &inquiry.reply.size);
    if (inquiry.stream) {
        inquiry.reply.status = answer(&inquiry);
        if (fclose(inquiry.stream) != 0 || inquiry.later) {
            free(inquiry.reply.text);
            inquiry.reply.text = NULL;
        }
    }
    if (!inquiry.later)
        control_answer(connection, inquiry.reply);
}
