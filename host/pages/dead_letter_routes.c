/* SPDX-License-Identifier: MIT */
#include "host/pages/dead_letter_routes.h"

#include <string.h>

#include "base/plural.h"
#include "base/text.h"
#include "config/json.h"
#include "host/pages/dead_letters.h"

/* Reads the number `name` of the query. */
static bool query_number(const struct inquiry *inquiry, const char *name, uint64_t *out)
{
    char text[32];

    return http_query(inquiry->request, name, text, sizeof text) &&
           text_parse_u64(text, out) == TEXT_OK;
}

static bool wants_payloads(const struct inquiry *inquiry)
{
    uint64_t payloads = 0;

    return query_number(inquiry, "payloads", &payloads) && payloads == 1;
}

/* `?payloads=1`: the dead letters of all pools and sources, with their payloads. */
unsigned dead_letter_routes_summary(struct inquiry *inquiry)
{
    const struct overview *overview = &inquiry->routes->overview;

    if (wants_payloads(inquiry))
        dead_letters_page_all(overview, inquiry->request->wants_text, inquiry->stream);
    else
        dead_letters_page_summary(overview, inquiry->request->wants_text, inquiry->stream);
    return HTTP_STATUS_OK;
}

/* Parses numbers between commas and returns their count; 0: `text` has something else. */
static uint32_t parse_numbers(char *text, uint64_t numbers[DEAD_LETTERS_DELETED_MAX])
{
    uint32_t count = 0;
    char *rest = text;
    char *number;

    while ((number = strsep(&rest, ",")))
        if (count == DEAD_LETTERS_DELETED_MAX ||
            text_parse_u64(number, &numbers[count++]) != TEXT_OK)
            return 0;
    return count;
}

static unsigned refuse_numbers(struct inquiry *inquiry, const char *more)
{
    return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST,
                          "numbers must be at most %d numbers of dead letters%s",
                          DEAD_LETTERS_DELETED_MAX, more);
}

/* At most as many as fit into an answer; `?after=N` continues after dead letter N, `?numbers=N,N`
 * lists these; `&payloads=1` shows the start of each payload. */
unsigned dead_letter_routes_list(struct inquiry *inquiry)
{
    uint64_t numbers[DEAD_LETTERS_DELETED_MAX];
    struct dead_letters_wanted wanted = { .numbers = numbers,
                                          .has_payloads = wants_payloads(inquiry) };
    char text[HTTP_TARGET_MAX];

    (void)query_number(inquiry, "after", &wanted.after);
    if (http_query(inquiry->request, "numbers", text, sizeof text)) {
        wanted.count = parse_numbers(text, numbers);
        if (wanted.count == 0)
            return refuse_numbers(inquiry, "");
    }
    if (dead_letters_page_list(&inquiry->routes->overview, inquiry->rest, &wanted,
                               inquiry->request->wants_text, inquiry->stream) == 0)
        return HTTP_STATUS_OK;
    return wanted.count > 0 ? inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND,
                                             "%s has none of these dead letters", inquiry->rest)
                            : inquiry_no_such_pool(inquiry);
}

static unsigned refuse_payload(struct inquiry *inquiry, uint64_t number, int status)
{
    if (status == WEIR_EUNSUPPORTED)
        return inquiry_refuse(inquiry, HTTP_STATUS_CONFLICT,
                              "%s: the payload of dead letter %ju was not kept", inquiry->rest,
                              (uintmax_t)number);
    if (status == WEIR_EUNKNOWN)
        return inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND, "%s has no dead letter %ju",
                              inquiry->rest, (uintmax_t)number);
    return inquiry_refuse(inquiry, HTTP_STATUS_INTERNAL_SERVER_ERROR, "%s",
                          weir_status_text(status));
}

/* The numbers alone, one on each line, for programs that go through them. */
static unsigned get_numbers(struct inquiry *inquiry)
{
    uint64_t after = 0;

    (void)query_number(inquiry, "after", &after);
    inquiry->reply.content_type = TYPE_TEXT;
    return dead_letters_page_numbers(&inquiry->routes->overview, inquiry->rest, after,
                                     inquiry->stream)
               ? HTTP_STATUS_OK
               : inquiry_no_such_pool(inquiry);
}

/* `?number=N`: the payload of dead letter N. `?after=N`: the numbers after N. */
unsigned dead_letter_routes_payload(struct inquiry *inquiry)
{
    uint64_t number = 0;
    int status;

    if (!query_number(inquiry, "number", &number))
        return get_numbers(inquiry);
    status = dead_letters_page_payload(&inquiry->routes->overview, inquiry->rest, number,
                                       inquiry->stream);
    if (status != 0)
        return refuse_payload(inquiry, number, status);
    inquiry->reply.content_type = TYPE_BYTES;
    return HTTP_STATUS_OK;
}

unsigned dead_letter_routes_replay(struct inquiry *inquiry)
{
    return dead_letters_page_replay(&inquiry->routes->overview, inquiry->rest,
                                    inquiry->request->wants_text, inquiry->stream)
               ? HTTP_STATUS_OK
               : inquiry_no_such_pool(inquiry);
}

/* Missing numbers make the status a conflict, since the request was not carried out in full. */
static unsigned answer_deleted(struct inquiry *inquiry, uint32_t deleted, uint32_t missing)
{
    unsigned status = missing ? HTTP_STATUS_CONFLICT : HTTP_STATUS_OK;
    struct json json;

    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              "dead letters deleted", weir_str("path", inquiry->rest),
              weir_uint("deleted", deleted));
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %u dead %s deleted", inquiry->rest, deleted,
                plural(deleted, "letter", "letters"));
        if (missing)
            fprintf(inquiry->stream, ", %u %s not there", missing, plural(missing, "is", "are"));
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
unsigned dead_letter_routes_delete(struct inquiry *inquiry)
{
    uint64_t numbers[DEAD_LETTERS_DELETED_MAX];
    char text[HTTP_TARGET_MAX];
    uint32_t count = 0, deleted = 0;
    bool all;

    if (!http_query(inquiry->request, "numbers", text, sizeof text))
        text[0] = '\0';
    all = strcmp(text, "all") == 0;
    if (!all)
        count = parse_numbers(text, numbers);
    if (!all && count == 0)
        return refuse_numbers(inquiry, ", or all");
    if (dead_letters_page_delete(&inquiry->routes->overview, inquiry->rest, all ? NULL : numbers,
                                 count, &deleted) != 0)
        return inquiry_no_such_pool(inquiry);
    return answer_deleted(inquiry, deleted, all ? 0 : count - deleted);
}
