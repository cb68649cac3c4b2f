#include "host/pages/inspections.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/json.h"
#include "host/control/control.h"
#include "host/run/assembly.h"

struct inspection_request {
    struct inspection_request *next;
    uint64_t reference;
    uint64_t due_ns; /* monotonic */
    struct connection *connection;
    bool wants_text;
    char path[PLACE_PATH_MAX]; /* for messages */
};

void inspections_init(struct inspections *inspections, struct assembly *assembly,
                      void (*on_answer)(void *context), void *context)
{
    *inspections = (struct inspections){ .assembly = assembly,
                                         .on_answer = on_answer,
                                         .context = context };
}

void inspections_finish(struct inspections *inspections)
{
    struct inspection_request *request = inspections->open;

    while (request) {
        struct inspection_request *next = request->next;

        free(request);
        request = next;
    }
}

/* --- targets -------------------------------------------------------------------------------- */

/* Finds the pool's member of this number; of two, the one that stays. */
static int find_member(struct pool *pool, uint32_t index, weir_pid *out)
{
    uint32_t count = pool_members(pool, NULL, sizeof(struct weir_member), 0);
    struct weir_member *members = calloc(count + 1, sizeof *members);
    int status = WEIR_EUNKNOWN;
    uint32_t now;

    if (!members)
        return WEIR_ENOMEM;
    now = pool_members(pool, members, sizeof *members, count);
    for (uint32_t i = 0; i < count && i < now; i++) {
        if (members[i].index != index || members[i].state == WEIR_MEMBER_POOL ||
            (status == 0 && members[i].state == WEIR_MEMBER_RETIRING))
            continue;
        *out = members[i].pid;
        status = 0;
    }
    free(members);
    return status;
}

/* `pool#3`. In a read section: a pool that is found lives until its end. */
static int find_worker(struct runtime *runtime, const char *path, weir_pid *out)
{
    const char *mark = strrchr(path, '#');
    char pool[PLACE_PATH_MAX];
    struct pool *found;
    uint64_t index;
    weir_pid pid;

    if (!mark || (size_t)(mark - path) >= sizeof pool ||
        text_parse_u64(mark + 1, &index) != TEXT_OK || index > UINT32_MAX)
        return WEIR_EUNKNOWN;
    (void)snprintf(pool, sizeof pool, "%.*s", (int)(mark - path), path);
    if (runtime_lookup(runtime, pool, &pid) != 0)
        return WEIR_EUNKNOWN;
    found = pool_find(runtime, pid);
    return found ? find_member(found, (uint32_t)index, out) : WEIR_EUNKNOWN;
}

static bool find_source(struct assembly *assembly, const char *name, weir_pid *out)
{
    bool found;
    uint32_t index;

    pthread_mutex_lock(&assembly->lock);
    index = settings_find_source(assembly->held->settings, name);
    found = index != SETTINGS_NONE && assembly->sources[index];
    if (found)
        *out = source_pid(assembly->sources[index]);
    pthread_mutex_unlock(&assembly->lock);
    return found;
}

static int find_target(struct assembly *assembly, const char *path, weir_pid *out)
{
    struct runtime *runtime = assembly->runtime;

    if (runtime_lookup(runtime, path, out) == 0 || find_source(assembly, path, out) ||
        text_parse_u64(path, out) == TEXT_OK)
        return 0;
    return find_worker(runtime, path, out);
}

/* --- asking --------------------------------------------------------------------------------- */

/* Cuts `text` at its commas. False: too many. */
static bool split(char *text, const char *items[WEIR_INSPECT_ITEMS_MAX + 1])
{
    char *rest = text;
    size_t count = 0;
    char *item;

    while ((item = strsep(&rest, ","))) {
        if (!*item)
            continue;
        if (count == WEIR_INSPECT_ITEMS_MAX)
            return false;
        items[count++] = item;
    }
    return true;
}

static int ask(struct inspections *inspections, const char *path, const char *const *items,
               uint64_t *out_reference)
{
    struct runtime *runtime = inspections->assembly->runtime;
    struct request_options options = { .timeout_ms = INSPECTIONS_TIMEOUT_MS,
                                       .on_answer = inspections->on_answer,
                                       .on_answer_context = inspections->context };
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = find_target(inspections->assembly, path, &options.to);
    runtime_leave(executor);
    return status == 0 ? runtime_inspect(runtime, &options, items, out_reference) : status;
}

static void append(struct inspections *inspections, struct inspection_request *request)
{
    struct inspection_request **end = &inspections->open;

    while (*end)
        end = &(*end)->next;
    *end = request;
}

int inspections_ask(struct inspections *inspections, const struct inspections_question *question)
{
    const char *items[WEIR_INSPECT_ITEMS_MAX + 1] = { NULL };
    struct clock clock = clock_monotonic();
    struct inspection_request *request = calloc(1, sizeof *request);
    char *text = strdup(question->items);
    int status = request && text ? 0 : WEIR_ENOMEM;

    if (status == 0 && !split(text, items))
        status = WEIR_EINVALID;
    if (status == 0)
        status = ask(inspections, question->path, items, &request->reference);
    free(text);
    if (status != 0) {
        free(request);
        return status;
    }
    request->due_ns = clock_after_ms(&clock, INSPECTIONS_TIMEOUT_MS);
    request->connection = question->connection;
    request->wants_text = question->wants_text;
    (void)snprintf(request->path, sizeof request->path, "%s", question->path);
    append(inspections, request);
    return 0;
}

/* --- answering ------------------------------------------------------------------------------ */

static void write_text(FILE *stream, const struct weir_message *message)
{
    const char *item, *value;
    size_t position = 0;

    while (weir_inspected_next(message, &position, &item, &value))
        fprintf(stream, "%-20s %s\n", item, value);
}

static void write_json(FILE *stream, const char *path, const struct weir_message *message)
{
    const char *item, *value;
    size_t position = 0;
    struct json json;

    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "asked", path);
    json_begin_object(&json, "items");
    while (weir_inspected_next(message, &position, &item, &value))
        json_text(&json, item, value);
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}

static void write_error(FILE *stream, const struct inspection_request *request, int status)
{
    char text[256];
    struct json json;

    if (status == WEIR_ETIMEOUT)
        (void)snprintf(text, sizeof text, "%s has not answered within %d ms: it is in a handler",
                       request->path, INSPECTIONS_TIMEOUT_MS);
    else
        (void)snprintf(text, sizeof text, "%s: %s", request->path, weir_status_text(status));
    if (request->wants_text) {
        fprintf(stream, "error: %s\n", text);
        return;
    }
    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "error", text);
    json_end(&json);
    json_finish(&json);
}

static unsigned http_status_of(int status)
{
    if (status == 0)
        return HTTP_STATUS_OK;
    if (status == WEIR_ETIMEOUT)
        return HTTP_STATUS_GATEWAY_TIMEOUT;
    return status == WEIR_ETERMINATED ? HTTP_STATUS_NOT_FOUND : HTTP_STATUS_INTERNAL_SERVER_ERROR;
}

static void answer(const struct inspection_request *request, int status,
                   const struct weir_message *message)
{
    struct control_reply reply = {
        .status = http_status_of(status),
        .content_type = request->wants_text ? "text/plain; charset=utf-8" : "application/json",
    };
    FILE *stream = open_memstream(&reply.text, &reply.size);

    if (stream) {
        if (status != 0 || !message)
            write_error(stream, request, status);
        else if (request->wants_text)
            write_text(stream, message);
        else
            write_json(stream, request->path, message);
        if (fclose(stream) != 0) {
            free(reply.text);
            reply.text = NULL;
        }
    }
    control_answer(request->connection, reply);
}

/* True when it is answered or its time is over: never waits. */
static void fetch(struct inspections *inspections, const struct inspection_request *request)
{
    struct runtime *runtime = inspections->assembly->runtime;
    struct weir_answer got = WEIR_ANSWER;
    int status = runtime_await(runtime, request->reference, &got);

    answer(request, status, got.message);
    runtime_message_free(runtime, got.message);
}

static bool is_due(const struct inspections *inspections, const struct inspection_request *request,
                   uint64_t now_ns)
{
    return now_ns >= request->due_ns ||
           runtime_is_answered(inspections->assembly->runtime, request->reference);
}

void inspections_collect(struct inspections *inspections)
{
    struct inspection_request **link = &inspections->open;
    struct clock clock = clock_monotonic();

    while (*link) {
        struct inspection_request *request = *link;

        if (!is_due(inspections, request, clock_now_ns(&clock))) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        fetch(inspections, request);
        free(request);
    }
}
