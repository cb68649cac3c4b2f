/* SPDX-License-Identifier: MIT */
#include "host/pages/dead_letters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/encoding.h"
#include "config/json.h"
#include "host/control/reserve.h"
#include "host/dead/dead_payload.h"
#include "host/pages/sender_names.h"

#define NS_PER_MS 1000000u
#define US_PER_S 1000000u

/* The pool or source that has the dead letters. */
struct dead_letter_owner {
    const char *path;
    struct dead_letter_box box;
};

/* --- looking up ----------------------------------------------------------------------------- */

static struct dead_letter_owner pool_owner(struct pool *pool)
{
    return (struct dead_letter_owner){ pool_path(pool), pool_dead_letters(pool) };
}

static struct dead_letter_owner source_owner(const char *name, struct source *source)
{
    return (struct dead_letter_owner){ name, source_dead_letters(source) };
}

/* assembly->lock is held. */
static bool find_owner_locked(const struct overview *overview, const char *path,
                              struct dead_letter_owner *out)
{
    const struct settings *settings = overview->assembly->shared->settings;
    uint32_t pool = settings_find_pool(settings, path);
    uint32_t source = settings_find_source(settings, path);

    if (pool != SETTINGS_NONE)
        *out = pool_owner(overview->assembly->pools[pool]);
    else if (source != SETTINGS_NONE)
        *out = source_owner(settings->sources[source].name, overview->assembly->sources[source]);
    return pool != SETTINGS_NONE || source != SETTINGS_NONE;
}

/* --- the summary ---------------------------------------------------------------------------- */

static void write_figures(struct json *json, const struct dead_letter_owner *owner)
{
    struct dead_letters_figures figures = { 0 };

    dead_letters_figures(owner->box.letters, &figures);
    json_begin_object(json, NULL);
    json_text(json, "path", owner->path);
    overview_write_dead(json, &figures);
    json_end(json);
}

static void print_figures(FILE *stream, const struct dead_letter_owner *owner)
{
    struct dead_letters_figures figures = { 0 };

    dead_letters_figures(owner->box.letters, &figures);
    fprintf(stream,
            "%-24s %10" PRIu64 " %6" PRIu32 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
            " ",
            owner->path, dead_letters_total(&figures), figures.kept, figures.kept_bytes,
            figures.evicted, figures.replayed, figures.deleted);
    for (uint32_t i = 0; i < DEAD_REASONS; i++)
        if (figures.counts[i])
            fprintf(stream, " %s:%" PRIu64, dead_reason_name((enum dead_reason)i),
                    figures.counts[i]);
    fputc('\n', stream);
}

static void show_owner(struct json *json, FILE *stream, const struct dead_letter_owner *owner)
{
    if (json)
        write_figures(json, owner);
    else
        print_figures(stream, owner);
}

static void show_owners_locked(const struct overview *overview, struct json *json, FILE *stream)
{
    const struct assembly *assembly = overview->assembly;
    const struct settings *settings = assembly->shared->settings;
    struct dead_letter_owner owner;

    for (uint32_t i = 0; i < settings->source_count; i++) {
        owner = source_owner(settings->sources[i].name, assembly->sources[i]);
        show_owner(json, stream, &owner);
    }
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        owner = pool_owner(assembly->pools[i]);
        show_owner(json, stream, &owner);
    }
}

void dead_letters_page_summary(const struct overview *overview, bool for_people, FILE *stream)
{
    struct json json;

    lock_acquire(&overview->assembly->lock);
    if (for_people) {
        fprintf(stream, "%-24s %10s %6s %10s %8s %8s %8s  %s\n", "POOL", "TOTAL", "KEPT", "BYTES",
                "EVICTED", "REPLAYED", "DELETED", "REASONS");
        show_owners_locked(overview, NULL, stream);
    } else {
        json_init(&json, stream);
        json_begin_array(&json, NULL);
        show_owners_locked(overview, &json, stream);
        json_end(&json);
        json_finish(&json);
    }
    lock_release(&overview->assembly->lock);
}

/* --- the list ------------------------------------------------------------------------------- */

/* The time of the death by the wall clock. */
static void format_time(const struct overview *overview, uint64_t when_ns, char text[32])
{
    uint64_t age_us = (clock_now_ns(&overview->clock) - when_ns) / 1000;
    uint64_t date_us = overview->date_us() - age_us;
    time_t seconds = (time_t)(date_us / US_PER_S);
    struct tm parts;

    text[0] = '\0';
    if (gmtime_r(&seconds, &parts))
        (void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* Two digits for each byte. */
static void format_head(const struct dead_letter *letter, char text[2 * DEAD_LETTER_HEAD + 1])
{
    size_t size = letter->size < DEAD_LETTER_HEAD ? letter->size : DEAD_LETTER_HEAD;

    text[0] = '\0';
    for (size_t i = 0; letter->whole && i < size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", letter->head[i]);
}

/* The text of a plugin, with bytes that are not printable replaced. */
static const char *printable(const char *text)
{
    return encoding_problem(text, strlen(text)) ? "?" : text;
}

static const char *tag_of(const struct dead_letter *letter)
{
    return letter->tag ? printable(letter->tag->name) : "";
}

/* The dead letters of one answer, and their senders. */
struct dead_letter_list {
    const struct overview *overview;
    const char *path;
    bool has_payloads;
    bool has_path; /* those of several paths: each one says its own */
    struct dead_letter *letters;
    uint32_t count;
    struct sender_names senders;
};

/* Copies a payload; the caller frees it. As dead_letters_payload, and WEIR_EUNKNOWN: no such
 * path. */
static int read_payload(const struct overview *overview, const char *path, uint64_t number,
                        unsigned char **out, size_t *out_size)
{
    struct dead_letter_owner owner;
    int status = WEIR_EUNKNOWN;

    *out = NULL;
    *out_size = 0;
    lock_acquire(&overview->assembly->lock);
    if (find_owner_locked(overview, path, &owner))
        status = dead_letters_payload(owner.box.letters, number, out, out_size);
    lock_release(&overview->assembly->lock);
    return status;
}

/* As JSON, or without it for people. */
static void show_payload(const struct dead_letter_list *list, struct json *json, FILE *stream,
                         const struct dead_letter *letter)
{
    unsigned char *bytes;
    size_t size;
    const int status = read_payload(list->overview, list->path, letter->number, &bytes, &size);
    const struct dead_payload payload = { .tag = letter->tag ? letter->tag->name : "",
                                          .bytes = (const char *)bytes,
                                          .size = letter->size,
                                          .is_kept = status == 0 };

    if (json)
        dead_payload_json(json, &payload);
    else
        dead_payload_print(stream, &payload);
    free(bytes);
}

static void write_dead_letter(const struct dead_letter_list *list, struct json *json,
                              const struct dead_letter *letter)
{
    const char *sender = sender_names_get(&list->senders, letter->from);
    char time_text[32];
    char head[2 * DEAD_LETTER_HEAD + 1];

    format_time(list->overview, letter->when_ns, time_text);
    format_head(letter, head);
    json_begin_object(json, NULL);
    if (list->has_path)
        json_text(json, "path", list->path);
    json_unsigned(json, "number", letter->number);
    json_text(json, "time", time_text);
    json_text(json, "reason", dead_reason_name(letter->reason));
    json_text(json, "detail", printable(letter->detail));
    json_text(json, "tag", tag_of(letter));
    json_unsigned(json, "size", letter->size);
    json_bool(json, "payload_kept", letter->whole);
    json_text(json, "head", head);
    json_unsigned(json, "from", letter->from);
    json_text(json, "from_path", sender ? sender : "");
    json_unsigned(json, "attempt", letter->attempt);
    json_unsigned(json, "lane", letter->lane);
    json_unsigned(json, "key", letter->key);
    if (letter->way.output != DEAD_LETTER_DIRECT)
        json_unsigned(json, "output", letter->way.output);
    if (letter->way.to)
        json_unsigned(json, "to", letter->way.to);
    if (list->has_payloads)
        show_payload(list, json, NULL, letter);
    json_end(json);
}

/* The sender's name; its PID when it has no name; empty for a sender outside all actors. */
static void format_sender(const struct dead_letter_list *list, const struct dead_letter *letter,
                          char *text, size_t size)
{
    const char *sender = sender_names_get(&list->senders, letter->from);

    if (sender)
        (void)snprintf(text, size, "%s", sender);
    else if (letter->from)
        (void)snprintf(text, size, "%" PRIu64, letter->from);
    else
        (void)snprintf(text, size, "-");
}

static void print_dead_letter(const struct dead_letter_list *list, FILE *stream,
                              const struct dead_letter *letter)
{
    char sender[PLACE_PATH_MAX + 16];
    char time_text[32];

    format_time(list->overview, letter->when_ns, time_text);
    format_sender(list, letter, sender, sizeof sender);
    fprintf(stream, "%8" PRIu64 " %-20s %-11s %-24s %10zu %7u %-20s  %s%s\n", letter->number,
            time_text, dead_reason_name(letter->reason), tag_of(letter), letter->size,
            letter->attempt, sender, printable(letter->detail),
            letter->whole || letter->size == 0 ? "" : " (payload not kept)");
    if (list->has_payloads)
        show_payload(list, NULL, stream, letter);
}

static void print_heads(FILE *stream)
{
    fprintf(stream, "%8s %-20s %-11s %-24s %10s %7s %-20s  %s\n", "NUMBER", "TIME", "REASON", "TAG",
            "SIZE", "ATTEMPT", "FROM", "DETAIL");
}

static void show_rows(const struct dead_letter_list *list, struct json *json, FILE *stream)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (json)
            write_dead_letter(list, json, &list->letters[i]);
        else
            print_dead_letter(list, stream, &list->letters[i]);
    }
}

static void show_list(const struct dead_letter_list *list, bool for_people, FILE *stream)
{
    struct json json;

    if (for_people) {
        print_heads(stream);
        show_rows(list, NULL, stream);
        return;
    }
    json_init(&json, stream);
    json_begin_array(&json, NULL);
    show_rows(list, &json, stream);
    json_end(&json);
    json_finish(&json);
}

/* Those of the numbers that are there. */
static uint32_t read_numbers(struct dead_letters *letters, const struct dead_letters_wanted *wanted,
                             struct dead_letter *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < wanted->count; i++)
        if (wanted->numbers[i] > 0 &&
            dead_letters_read_after(letters, wanted->numbers[i] - 1, &out[count], 1) == 1)
            count += out[count].number == wanted->numbers[i];
    return count;
}

/* assembly->lock is held. */
static void read_letters_locked(struct dead_letter_list *list,
                                const struct dead_letter_owner *owner,
                                const struct dead_letters_wanted *wanted)
{
    list->count = wanted->count > 0
                      ? read_numbers(owner->box.letters, wanted, list->letters)
                      : dead_letters_read_after(owner->box.letters, wanted->after, list->letters,
                                                DEAD_LETTERS_LISTED_MAX);
    for (uint32_t i = 0; i < list->count; i++)
        sender_names_want(&list->senders, list->letters[i].from);
    sender_names_find_locked(&list->senders, list->overview);
}

/* False: there is no such path. Without memory none is listed. In both cases list_finish. */
static bool list_init(struct dead_letter_list *list, const struct overview *overview,
                      const char *path, const struct dead_letters_wanted *wanted)
{
    struct dead_letter_owner owner;
    bool found;

    *list = (struct dead_letter_list){ .overview = overview,
                                       .path = path,
                                       .has_payloads = wanted->has_payloads,
                                       .letters = calloc(DEAD_LETTERS_LISTED_MAX,
                                                         sizeof *list->letters) };
    sender_names_init(&list->senders, DEAD_LETTERS_LISTED_MAX);
    lock_acquire(&overview->assembly->lock);
    found = find_owner_locked(overview, path, &owner);
    if (found && list->letters)
        read_letters_locked(list, &owner, wanted);
    lock_release(&overview->assembly->lock);
    return found;
}

static void list_finish(struct dead_letter_list *list)
{
    sender_names_finish(&list->senders);
    free(list->letters);
}

int dead_letters_page_list(const struct overview *overview, const char *path,
                           const struct dead_letters_wanted *wanted, bool for_people, FILE *stream)
{
    struct dead_letter_list list;
    const bool found = list_init(&list, overview, path, wanted) &&
                       (list.count > 0 || wanted->count == 0);

    if (found)
        show_list(&list, for_people, stream);
    list_finish(&list);
    return found ? 0 : WEIR_EUNKNOWN;
}

/* Returns owned: the name of pool or source number `index` of the present file; NULL: past the
 * last one, or memory is out. */
static char *path_of(const struct overview *overview, uint32_t index)
{
    const struct assembly *assembly = overview->assembly;
    const struct settings *settings;
    char *path = NULL;

    lock_acquire(&overview->assembly->lock);
    settings = assembly->shared->settings;
    if (index < settings->source_count)
        path = strdup(settings->sources[index].name);
    else if (index - settings->source_count < settings->pool_count)
        path = strdup(pool_path(assembly->pools[index - settings->source_count]));
    lock_release(&overview->assembly->lock);
    return path;
}

void dead_letters_page_all(const struct overview *overview, bool for_people, FILE *stream)
{
    const struct dead_letters_wanted wanted = { .has_payloads = true };
    struct dead_letter_list list;
    struct json json;
    char *path;

    json_init(&json, stream);
    if (!for_people)
        json_begin_array(&json, NULL);
    for (uint32_t i = 0; (path = path_of(overview, i)); i++) {
        (void)list_init(&list, overview, path, &wanted);
        list.has_path = true;
        if (for_people && list.count > 0) {
            fprintf(stream, "%s:\n", path);
            print_heads(stream);
        }
        show_rows(&list, for_people ? NULL : &json, stream);
        list_finish(&list);
        free(path);
    }
    if (!for_people) {
        json_end(&json);
        json_finish(&json);
    }
}

bool dead_letters_page_numbers(const struct overview *overview, const char *path, uint64_t after,
                               FILE *stream)
{
    struct dead_letter *letters = calloc(DEAD_LETTERS_LISTED_MAX, sizeof *letters);
    struct dead_letter_owner owner;
    uint32_t count = 0;
    bool found;

    lock_acquire(&overview->assembly->lock);
    found = find_owner_locked(overview, path, &owner);
    if (found && letters)
        count = dead_letters_read_after(owner.box.letters, after, letters, DEAD_LETTERS_LISTED_MAX);
    lock_release(&overview->assembly->lock);
    for (uint32_t i = 0; i < count; i++)
        fprintf(stream, "%" PRIu64 "\n", letters[i].number);
    free(letters);
    return found;
}

/* --- one payload, and deleting -------------------------------------------------------------- */

int dead_letters_page_payload(const struct overview *overview, const char *path, uint64_t number,
                              FILE *stream)
{
    unsigned char *payload;
    size_t size;
    const int status = read_payload(overview, path, number, &payload, &size);

    if (status == 0)
        (void)fwrite(payload, 1, size, stream);
    free(payload);
    return status;
}

static uint32_t delete_each(struct dead_letters *letters, const uint64_t *numbers, uint32_t count)
{
    uint32_t deleted = 0;

    for (uint32_t i = 0; i < count; i++)
        deleted += dead_letters_delete(letters, numbers[i]);
    return deleted;
}

int dead_letters_page_delete(const struct overview *overview, const char *path,
                             const uint64_t *numbers, uint32_t count, uint32_t *out_deleted)
{
    struct dead_letter_owner owner;
    bool found;

    lock_acquire(&overview->assembly->lock);
    found = find_owner_locked(overview, path, &owner);
    if (found)
        *out_deleted = numbers ? delete_each(owner.box.letters, numbers, count)
                               : dead_letters_delete_all(owner.box.letters);
    lock_release(&overview->assembly->lock);
    return found ? 0 : WEIR_EUNKNOWN;
}

/* --- sending again -------------------------------------------------------------------------- */

static void show_replay(const char *path, const struct replay_result *result, bool for_people,
                        FILE *stream)
{
    uint32_t refused = result->left - result->unable;
    struct json json;

    if (for_people) {
        fprintf(stream, "%s: %" PRIu32 " sent again, %" PRIu32 " stay", path, result->replayed,
                result->left);
        if (refused)
            fprintf(stream, "; %" PRIu32 " were refused: %s", refused,
                    weir_status_text(result->status));
        if (result->unable)
            fprintf(stream, "; %" PRIu32 " have no payload any more", result->unable);
        fputc('\n', stream);
        return;
    }
    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", path);
    json_unsigned(&json, "replayed", result->replayed);
    json_unsigned(&json, "left", result->left);
    json_unsigned(&json, "unable", result->unable);
    json_text(&json, "status", weir_status_name(result->status));
    json_end(&json);
    json_finish(&json);
}

bool dead_letters_page_replay(const struct overview *overview, const char *path, bool for_people,
                              FILE *stream)
{
    struct runtime *runtime = overview->assembly->runtime;
    struct replay_result result = { .status = WEIR_ENOMEM };
    struct executor *executor;
    struct dead_letter_owner owner;
    bool found;

    lock_acquire(&overview->assembly->lock);
    found = find_owner_locked(overview, path, &owner);
    executor = found ? runtime_enter(runtime) : NULL;
    if (executor) {
        dead_letter_box_replay(runtime, executor, &owner.box, &result);
        runtime_leave(executor);
    }
    lock_release(&overview->assembly->lock);
    if (found && overview->dead_file && result.replayed > 0) {
        reserve_lend(overview->reserve);
        dead_file_mark(overview->dead_file);
        reserve_end_loan(overview->reserve);
    }
    if (found)
        show_replay(path, &result, for_people, stream);
    return found;
}

void dead_letters_page_sent_again(const struct overview *overview, const char *path, const char *id)
{
    struct dead_letter_owner owner;
    struct dead_id own;

    if (!overview->dead_file || !dead_id_parse(id, &own) ||
        !dead_file_id_is_own(overview->dead_file, &own))
        return;
    lock_acquire(&overview->assembly->lock);
    if (find_owner_locked(overview, path, &owner))
        (void)dead_letters_sent_again(owner.box.letters, own.number);
    lock_release(&overview->assembly->lock);
}
