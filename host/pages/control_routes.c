/* SPDX-License-Identifier: MIT */
#include "host/pages/control_routes.h"

#include <stdlib.h>
#include <string.h>

#include "host/pages/dead_letter_routes.h"
#include "host/pages/inspections.h"
#include "host/pages/message_routes.h"
#include "host/pages/metrics.h"
#include "host/pages/overview.h"
#include "host/pages/pool_routes.h"
#include "host/pages/readiness.h"
#include "host/run/files_reopen.h"

/* --- looking -------------------------------------------------------------------------------- */

static unsigned get_status(struct inquiry *inquiry)
{
    overview_status(&inquiry->routes->overview, inquiry->request->wants_text, inquiry->stream);
    return HTTP_STATUS_OK;
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

/* --- jobs -------------------------------------------------------------------------------- */

static unsigned add_job(struct inquiry *inquiry, enum control_job_kind kind, const char *file)
{
    struct control_job *job;
    char colour[8], wait[8], now[8];

    if (is_stopping(inquiry))
        return inquiry_refuse(inquiry, HTTP_STATUS_SERVICE_UNAVAILABLE, "the host is ending");
    job = control_job_create(kind, file, inquiry->connection);
    if (!job)
        return inquiry_refuse(inquiry, HTTP_STATUS_INTERNAL_SERVER_ERROR, "out of memory");
    job->wants_text = inquiry->request->wants_text;
    job->waits = http_query(inquiry->request, "wait", wait, sizeof wait) != NULL;
    job->now = http_query(inquiry->request, "now", now, sizeof now) != NULL;
    job->colour = http_query(inquiry->request, "colour", colour, sizeof colour) != NULL;
    inquiry->later = true;
    supervisor_ask(inquiry->routes->supervisor, job);
    return HTTP_STATUS_OK;
}

static unsigned post_reload(struct inquiry *inquiry)
{
    files_reopen_sources(inquiry->routes->overview.assembly);
    return add_job(inquiry, CONTROL_JOB_RELOAD, NULL);
}

static bool is_pool(struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    bool is;

    lock_acquire(&assembly->lock);
    is = settings_find_pool(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE;
    lock_release(&assembly->lock);
    return is;
}

/* `pool`, or one worker: `pool#3`. */
static unsigned post_restart(struct inquiry *inquiry)
{
    char *mark = strchr(inquiry->rest, '#');
    char now[8];
    bool is_there;

    if (!mark && http_query(inquiry->request, "now", now, sizeof now))
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "now is for one worker: %s#0",
                              inquiry->rest);
    if (mark)
        *mark = '\0';
    is_there = is_pool(inquiry);
    if (!is_there)
        return inquiry_no_such_pool(inquiry);
    if (mark)
        *mark = '#';
    return add_job(inquiry, CONTROL_JOB_RESTART, inquiry->rest);
}

static unsigned get_plan(struct inquiry *inquiry)
{
    char file[PATH_MAX];

    if (!http_query(inquiry->request, "file", file, sizeof file) || file[0] != '/')
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "file must be an absolute path");
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
    int status = inspections_ask(&inquiry->routes->pending, &question);

    if (status == WEIR_EUNKNOWN || status == WEIR_ETERMINATED)
        return inquiry_no_such_actor(inquiry);
    if (status == WEIR_EINVALID)
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "at most %d items",
                              WEIR_INSPECT_ITEMS_MAX);
    if (status != 0)
        return inquiry_refuse(inquiry, HTTP_STATUS_INTERNAL_SERVER_ERROR, "%s",
                              weir_status_text(status));
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
    case WEIR_ENOTALLOWED:
        return HTTP_STATUS_CONFLICT;
    default:
        return HTTP_STATUS_SERVICE_UNAVAILABLE;
    }
}

void control_routes_collect(struct control_routes *routes)
{
    struct control_job *job;

    pending_answers_collect(&routes->pending);

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
    { "pools", NULL, false, pool_routes_all },
    { "pools/", "/scale", true, pool_routes_scale },
    { "pools/", "/pause", true, pool_routes_pause },
    { "pools/", "/restart", true, post_restart },
    { "pools/", "/resume", true, pool_routes_resume },
    { "pools/", "/send", true, message_routes_send },
    { "pools/", "/request", true, message_routes_request },
    { "pools/", NULL, false, pool_routes_one },
    { "dead", NULL, false, dead_letter_routes_summary },
    { "dead/", "/replay", true, dead_letter_routes_replay },
    { "dead/", "/delete", true, dead_letter_routes_delete },
    { "letter/", NULL, false, dead_letter_routes_payload },
    { "dead/", NULL, false, dead_letter_routes_list },
    { "metrics", NULL, false, get_metrics },
    { "livez", NULL, false, get_livez },
    { "readyz", NULL, false, get_readyz },
    { "reload", NULL, true, post_reload },
    { "plan", NULL, false, get_plan },
    { "inspect/", NULL, false, get_inspect },
    { "members", NULL, false, pool_routes_members },
    { "members/", NULL, false, pool_routes_members },
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
            return inquiry_refuse(inquiry, HTTP_STATUS_METHOD_NOT_ALLOWED, "/%s wants %s",
                                  inquiry->request->path, routes[i].is_post ? "POST" : "GET");
        return routes[i].answer(inquiry);
    }
    return inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND, "there is no page /%s",
                          inquiry->request->path);
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

void control_routes_conceal(void *context, struct control_reply *reply)
{
    const struct control_routes *own = context;
    struct logger *logger = own->supervisor->logger;
    const size_t size = reply->size * SECRETS_GROWTH + 1;
    char *text;

    if (strcmp(reply->content_type, TYPE_BYTES) == 0 || !logger_hides(logger))
        return;
    text = realloc(reply->text, size);
    if (text)
        reply->size = logger_conceal(logger, text, reply->size, size);
    else
        free(reply->text);
    reply->text = text;
}
