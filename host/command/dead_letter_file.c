/* SPDX-License-Identifier: MIT */
#include "host/command/dead_letter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <weir/printable.h>

#include "base/plural.h"
#include "config/encoding.h"
#include "config/json.h"
#include "host/command/dead_letter_export.h"
#include "host/command/posting.h"
#include "host/control/http.h"
#include "host/dead/dead_output.h"
#include "host/dead/dead_payload.h"
#include "host/dead/dead_record.h"

/* A file that is gone through. */
struct going {
    const struct dead_letter_file *request;
    struct dead_reader reader;
    struct json json;
    char *socket;   /* owned; of a replay */
    int descriptor; /* of the folder of an export, or of the file, whose records a replay marks */
    uint64_t done, left, unable;
    int code;         /* of the first failure */
    bool saw_no_room; /* a pool had none in time: nothing more is waited for or reported */
};

static FILE *out_of(const struct going *going)
{
    return going->request->client->invocation->out;
}

static FILE *err_of(const struct going *going)
{
    return going->request->client->invocation->err;
}

bool dead_letter_file_is_one(const char *path)
{
    struct dead_reader reader;
    bool is_one;

    if (!path)
        return false;
    is_one = dead_reader_open(&reader, path) == 0 && reader.end > 0;
    dead_reader_finish(&reader);
    return is_one;
}

static bool is_wanted(const struct dead_letter_file *request, const struct dead_entry *entry)
{
    bool is_named = request->count == 0;

    for (uint32_t i = 0; i < request->count; i++)
        is_named |= request->numbers[i] == entry->number;
    return is_named && (!request->pool || strcmp(request->pool, entry->record.path) == 0);
}

static void fail(struct going *going, int code, const char *what, const char *reason)
{
    fprintf(err_of(going), "weir dead: %s: %s\n", what, reason);
    if (going->code == EX_OK)
        going->code = code;
}

/* --- listing -------------------------------------------------------------------------------- */

static const char *printable(const char *text)
{
    return encoding_problem(text, strlen(text)) ? "?" : text;
}

static void begin_list(struct going *going)
{
    if (!going->request->client->json) {
        fprintf(out_of(going), "%8s %-27s %-11s %-20s %-20s %10s %7s %-12s %s\n", "NUMBER", "TIME",
                "REASON", "POOL", "TAG", "SIZE", "ATTEMPT", "FROM", "DETAIL");
        return;
    }
    json_init(&going->json, out_of(going));
    json_begin_array(&going->json, NULL);
}

/* As JSON, or without it for people. */
static void show_payload(const struct going *going, struct json *json,
                         const struct dead_entry *entry)
{
    const struct dead_payload payload = { .tag = entry->record.tag,
                                          .bytes = entry->record.payload,
                                          .size = entry->record.size,
                                          .is_kept = entry->has_payload };

    if (json)
        dead_payload_json(json, &payload);
    else
        dead_payload_print(out_of(going), &payload);
}

static void list_as_json(struct going *going, const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;
    struct json *json = &going->json;

    json_begin_object(json, NULL);
    json_unsigned(json, "number", entry->number);
    json_text(json, "time", printable(entry->time));
    json_text(json, "path", printable(record->path));
    json_text(json, "to", printable(record->to));
    json_text(json, "reason", printable(record->reason));
    json_text(json, "detail", printable(record->detail));
    json_text(json, "tag", printable(record->tag));
    json_unsigned(json, "size", record->size);
    json_bool(json, "payload_kept", entry->has_payload);
    json_bool(json, "replayed", entry->was_replayed);
    json_unsigned(json, "from", record->from_pid);
    json_text(json, "from_path", printable(record->from));
    json_unsigned(json, "attempt", record->attempt);
    json_unsigned(json, "lane", record->lane);
    json_unsigned(json, "key", record->key);
    if (going->request->verbose)
        show_payload(going, json, entry);
    json_end(json);
}

static void list(struct going *going, const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;
    char from[24] = "-";

    if (going->request->client->json) {
        list_as_json(going, entry);
        return;
    }
    if (record->from_pid)
        (void)snprintf(from, sizeof from, "%" PRIu64, (uint64_t)record->from_pid);
    fprintf(out_of(going), "%8" PRIu64 " %-27s %-11s %-20s %-20s %10zu %7u %-12s %s%s\n",
            entry->number, printable(entry->time), printable(record->reason),
            printable(record->path), printable(record->tag), record->size, record->attempt,
            record->from[0] ? printable(record->from) : from, printable(record->detail),
            entry->was_replayed ? " (sent again)" : "");
    if (going->request->verbose)
        show_payload(going, NULL, entry);
}

static void end_list(struct going *going)
{
    if (!going->request->client->json)
        return;
    json_end(&going->json);
    json_finish(&going->json);
}

/* --- exporting ------------------------------------------------------------------------------ */

static void begin_export(struct going *going)
{
    const char *folder = going->request->folder;

    if (strcmp(folder, "-") == 0)
        return;
    if (mkdir(folder, S_IRWXU) == 0 || errno == EEXIST)
        going->descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (going->descriptor < 0)
        fail(going, EX_CANTCREAT, folder, strerror(errno));
}

static void export(struct going *going, const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;
    char name[DEAD_LETTER_EXPORT_NAME];
    int error;

    if (!entry->has_payload) {
        going->unable++;
    } else if (going->descriptor < 0) {
        (void)fwrite(record->payload, 1, record->size, out_of(going));
        going->done++;
    } else {
        error = dead_letter_export_write(going->descriptor, record->path, entry->number,
                                         record->payload, record->size, name);
        going->done += error == 0;
        going->left += error != 0;
        if (error != 0)
            fail(going, EX_CANTCREAT, name, strerror(error));
    }
}

/* --- sending again -------------------------------------------------------------------------- */

static void begin_replay(struct going *going)
{
    struct control_client client = *going->request->client;
    int code = EX_OK;

    client.file = NULL;
    going->descriptor = open(going->request->path, O_WRONLY | O_CLOEXEC);
    if (going->descriptor < 0) {
        fail(going, EX_NOPERM, going->request->path, strerror(errno));
        return;
    }
    going->socket = control_client_find(&client, &code);
    if (!going->socket)
        going->code = code;
}

/* Messages of other lanes, and events, were not sent to workers of a pool by their sender. A
 * message for one worker alone has no receiver. */
static bool can_be_sent(const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;

    return entry->has_payload && !entry->is_take && record->to[0] && record->lane == WEIR_NORMAL &&
           record->kind <= WEIR_REQUEST && record->size <= HTTP_BODY_MAX;
}

/* With the record's id the host, when it still has the dead letter in memory, drops it there. */
static char *make_target(const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;
    char *target = NULL, id[DEAD_ID_TEXT];
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs("/pools/", stream);
    http_write_escaped(stream, record->to);
    fprintf(stream, "/send?lines=0&hash=%" PRIu64, record->key);
    if (record->tag[0]) {
        fputs("&tag=", stream);
        http_write_escaped(stream, record->tag);
    }
    if (entry->id.number) {
        dead_id_format(&entry->id, id);
        fprintf(stream, "&dead=%s&died=", id);
        http_write_escaped(stream, record->path);
    }
    if (fclose(stream) == 0)
        return target;
    free(target);
    return NULL;
}

/* The host has accepted the message. */
static void mark(struct going *going, const struct dead_entry *entry)
{
    if (pwrite(going->descriptor, "r", 1, (off_t)(entry->offset + DEAD_RECORD_STATE)) != 1 ||
        fdatasync(going->descriptor) != 0)
        fail(going, EX_IOERR, going->request->path, strerror(errno));
}

/* Reports why the host refused the message. */
static void report_refused(struct going *going, const struct dead_entry *entry, int code,
                           const struct answer *answer)
{
    char *reason;
    char what[64];

    going->left++;
    if (answer->status == HTTP_STATUS_SERVICE_UNAVAILABLE && going->saw_no_room)
        return;
    reason = posting_find(answer, "error");
    (void)snprintf(what, sizeof what, "dead letter %" PRIu64, entry->number);
    if (answer->status)
        fail(going, code, what, reason ? reason : "refused");
    else if (going->code == EX_OK)
        going->code = code; /* control_client_run has printed it */
    free(reason);
    going->saw_no_room |= answer->status == HTTP_STATUS_SERVICE_UNAVAILABLE;
}

static void replay(struct going *going, const struct dead_entry *entry)
{
    char *target = make_target(entry);
    const struct exchange exchange = { .path = going->socket,
                                       .target = target,
                                       .is_post = true,
                                       .wants_json = true,
                                       .body = entry->record.payload,
                                       .body_size = entry->record.size,
                                       .timeout_s = CONTROL_CLIENT_TIMEOUT_S };
    struct room_wait wait;
    struct answer answer = { .status = 0 };
    int code = EX_SOFTWARE;

    room_wait_begin(&wait, going->saw_no_room ? 0 : going->request->timeout_ms);
    do {
        exchange_finish(&answer);
        if (target)
            code = control_client_run(going->request->client, &exchange, &answer);
    } while (room_wait_pause(&wait, &answer));
    if (code == EX_OK) {
        mark(going, entry);
        going->done++;
    } else {
        report_refused(going, entry, code, &answer);
    }
    exchange_finish(&answer);
    free(target);
}

/* A dead letter that was sent again is sent once more only when its number is given. */
static void try_replay(struct going *going, const struct dead_entry *entry)
{
    if (entry->was_replayed && going->request->count == 0)
        return;
    if (can_be_sent(entry))
        replay(going, entry);
    else
        going->unable++;
}

/* --- the file ------------------------------------------------------------------------------- */

static void print_result(const struct going *going, const char *done)
{
    struct json json;

    if (!going->request->client->json) {
        fprintf(out_of(going), "%s: %" PRIu64 " dead %s %s, %" PRIu64 " %s", going->request->path,
                going->done, plural(going->done, "letter", "letters"), done,
                going->left + going->unable, plural(going->left + going->unable, "stays", "stay"));
        if (going->unable)
            fprintf(out_of(going), "; %" PRIu64 " cannot be sent or written", going->unable);
        fputc('\n', out_of(going));
        return;
    }
    json_init(&json, out_of(going));
    json_begin_object(&json, NULL);
    json_text(&json, "path", going->request->path);
    json_unsigned(&json, done[0] == 'e' ? "exported" : "replayed", going->done);
    json_unsigned(&json, "left", going->left + going->unable);
    json_unsigned(&json, "unable", going->unable);
    json_end(&json);
    json_finish(&json);
}

static void begin(struct going *going)
{
    if (going->request->replay)
        begin_replay(going);
    else if (going->request->folder)
        begin_export(going);
    else
        begin_list(going);
}

static void go_through(struct going *going)
{
    const struct dead_letter_file *request = going->request;
    struct dead_entry entry;
    int found;

    while ((found = dead_reader_next(&going->reader, &entry)) > 0) {
        if (!is_wanted(request, &entry))
            continue;
        if (request->replay)
            try_replay(going, &entry);
        else if (request->folder)
            export(going, &entry);
        else
            list(going, &entry);
    }
    if (found < 0)
        fail(going, EX_IOERR, request->path, strerror(errno));
}

static void end(struct going *going)
{
    const struct dead_letter_file *request = going->request;
    const uint64_t damaged = going->reader.skipped + going->reader.size - going->reader.end;

    if (request->replay)
        print_result(going, "sent again");
    else if (request->folder && going->descriptor >= 0)
        print_result(going, "exported");
    else if (!request->folder)
        end_list(going);
    if (damaged > 0)
        fprintf(err_of(going),
                "weir dead: %s: %" PRIu64 " %s no whole record: incomplete or damaged\n",
                request->path, damaged, plural(damaged, "byte is", "bytes are"));
    if (going->code == EX_OK && going->unable > 0)
        going->code = EX_DATAERR;
}

int dead_letter_file_run(const struct dead_letter_file *request)
{
    struct going going = { .request = request, .descriptor = -1, .code = EX_OK };
    char text[512];
    int error = dead_reader_open(&going.reader, request->path);

    if (error != 0) {
        fail(&going, EX_NOINPUT, request->path,
             dead_output_reason(request->path, error, text, sizeof text));
    } else {
        begin(&going);
        if (going.code == EX_OK)
            go_through(&going);
        if (going.code == EX_OK || going.done + going.left > 0)
            end(&going);
    }
    dead_reader_finish(&going.reader);
    if (going.descriptor >= 0)
        (void)close(going.descriptor);
    free(going.socket);
    return going.code;
}
