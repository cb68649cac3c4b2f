/* SPDX-License-Identifier: MIT */
#include "host/pages/inspections.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/json.h"
#include "host/control/control.h"
#include "host/run/assembly.h"

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

    lock_acquire(&assembly->lock);
    index = settings_find_source(assembly->shared->settings, name);
    found = index != SETTINGS_NONE && assembly->sources[index];
    if (found)
        *out = source_pid(assembly->sources[index]);
    lock_release(&assembly->lock);
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

/* --- items ---------------------------------------------------------------------------------- */

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

static int find(struct assembly *assembly, const char *path, weir_pid *out)
{
    struct executor *executor = runtime_enter(assembly->runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = find_target(assembly, path, out);
    runtime_leave(executor);
    return status;
}

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

static void write_error(FILE *stream, const struct pending_question *question, int status)
{
    char text[256];
    struct json json;

    if (status == WEIR_ETIMEOUT)
        (void)snprintf(text, sizeof text, "%s has not answered within %d ms: it is in a handler",
                       question->path, INSPECTIONS_TIMEOUT_MS);
    else
        (void)snprintf(text, sizeof text, "%s: %s", question->path, weir_status_text(status));
    if (question->wants_text) {
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

static void write_answer(const struct pending_question *question, int status,
                         const struct weir_answer *answer, struct control_reply *reply,
                         FILE *stream)
{
    reply->status = http_status_of(status);
    reply->content_type = question->wants_text ? "text/plain; charset=utf-8" : "application/json";
    if (status != 0 || !answer->message)
        write_error(stream, question, status);
    else if (question->wants_text)
        write_text(stream, answer->message);
    else
        write_json(stream, question->path, answer->message);
}

/* --- requests ------------------------------------------------------------------------------- */

static int ask(struct pending_answers *pending, const char *path, char *text,
               struct pending_answer *answer)
{
    const char *items[WEIR_INSPECT_ITEMS_MAX + 1] = { NULL };
    struct request_options options;
    uint64_t reference;
    weir_pid target;
    int status = answer && text ? 0 : WEIR_ENOMEM;

    if (status == 0 && !split(text, items))
        status = WEIR_EINVALID;
    if (status == 0)
        status = find(pending->assembly, path, &target);
    if (status != 0)
        return status;
    options = pending_answers_options(pending, answer, target);
    status = runtime_inspect(pending->assembly->runtime, &options, items, &reference);
    if (status == 0)
        pending_answers_add(pending, answer, reference);
    return status;
}

int inspections_ask(struct pending_answers *pending, const struct inspections_question *question)
{
    struct pending_answer *answer = pending_answer_create(
        &(struct pending_question){ .path = question->path,
                                    .wants_text = question->wants_text,
                                    .timeout_ms = INSPECTIONS_TIMEOUT_MS,
                                    .connection = question->connection,
                                    .write = write_answer });
    char *text = strdup(question->items);
    int status = ask(pending, question->path, text, answer);

    if (status != 0)
        free(answer);
    free(text);
    return status;
}
