/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <sysexits.h>

#include "text.h"
#include "view.h"

#define SHOWN_BYTES 2048 /* of a payload, for people */

static const char *state_name(int state)
{
    return state >= 0 && state < STORE_STATES ? view_states[state] : "unknown";
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void print_time(FILE *out, const char *name, int64_t ms)
{
    char text[TEXT_TIME_SIZE];

    text_time(ms, text);
    text_json(out, name, ms > 0 ? text : NULL);
}

/* The members but the payload, without the end of the object. */
static void print_members(FILE *out, const struct view_piece *piece)
{
    char key[24];

    (void)snprintf(key, sizeof key, "%016" PRIx64, piece->key);
    (void)fprintf(out, "{\"number\": %" PRId64, piece->number);
    text_json(out, "queue", piece->queue);
    text_json(out, "state", state_name(piece->state));
    text_json_number(out, "attempt", piece->attempt);
    text_json_number(out, "bytes", piece->size);
    print_time(out, "made", piece->made_ms);
    print_time(out, "due", piece->due_ms);
    text_json(out, "name", piece->name);
    text_json(out, "key", piece->key ? key : NULL);
    text_json(out, "tag", piece->tag && piece->tag[0] ? piece->tag : NULL);
    text_json(out, "reason", piece->reason);
    text_json(out, "detail", piece->detail && piece->detail[0] ? piece->detail : NULL);
}

static void print_json(FILE *out, const struct view_piece *piece, bool is_first)
{
    (void)fputs(is_first ? "\n  " : ",\n  ", out);
    print_members(out, piece);
    (void)fputc('}', out);
}

static void print_with_payload(FILE *out, const struct view_piece *piece, bool is_first)
{
    (void)is_first;
    print_members(out, piece);
    text_json_payload(out, piece->payload, (size_t)piece->size);
    (void)fputs("}\n", out);
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_waiting(FILE *out, const struct view_piece *piece, bool is_first)
{
    char made[TEXT_TIME_SIZE], due[TEXT_TIME_SIZE];

    if (is_first)
        (void)fprintf(out, "%8s  %-5s  %7s  %9s  %-24s  %-24s  %s\n", "NUMBER", "STATE", "ATTEMPT",
                      "BYTES", "MADE", "DUE", "QUEUE");
    text_time(piece->made_ms, made);
    text_time(piece->due_ms > 0 ? piece->due_ms : -1, due);
    (void)fprintf(out, "%8" PRId64 "  %-5s  %7" PRId64 "  %9" PRId64 "  %-24s  %-24s  ",
                  piece->number, state_name(piece->state), piece->attempt, piece->size, made, due);
    text_print(out, piece->queue);
    (void)fputc('\n', out);
}

static void print_dead(FILE *out, const struct view_piece *piece, bool is_first)
{
    char made[TEXT_TIME_SIZE];

    if (is_first)
        (void)fprintf(out, "%8s  %7s  %9s  %-24s  %s\n", "NUMBER", "ATTEMPT", "BYTES", "MADE",
                      "QUEUE: REASON: DETAIL");
    text_time(piece->made_ms, made);
    (void)fprintf(out, "%8" PRId64 "  %7" PRId64 "  %9" PRId64 "  %-24s  ", piece->number,
                  piece->attempt, piece->size, made);
    text_print(out, piece->queue);
    (void)fputs(": ", out);
    text_print(out, piece->reason);
    if (piece->detail && piece->detail[0]) {
        (void)fputs(": ", out);
        text_print(out, piece->detail);
    }
    (void)fputc('\n', out);
}

static void print_row(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, "%-8s ", name);
    text_print(out, value);
    (void)fputc('\n', out);
}

static void print_start(FILE *out, const struct view_piece *piece)
{
    size_t size = piece->size < SHOWN_BYTES ? (size_t)piece->size : SHOWN_BYTES;

    if (size > 0) {
        (void)fputc('\n', out);
        text_print_lines(out, piece->payload, size);
        (void)fputc('\n', out);
    }
    if ((int64_t)size < piece->size)
        (void)fprintf(out, "... (%zu of %" PRId64 ")\n", size, piece->size);
}

static void print_one(FILE *out, const struct view_piece *piece, bool is_first)
{
    char text[TEXT_TIME_SIZE];

    (void)fprintf(out, "%s%-8s %" PRId64 "\n", is_first ? "" : "\n", "number", piece->number);
    print_row(out, "queue", piece->queue);
    print_row(out, "state", state_name(piece->state));
    (void)fprintf(out, "%-8s %" PRId64 "\n", "attempt", piece->attempt);
    text_time(piece->made_ms, text);
    print_row(out, "made", text);
    if (piece->due_ms > 0) {
        text_time(piece->due_ms, text);
        print_row(out, "due", text);
    }
    print_row(out, "name", piece->name);
    if (piece->tag && piece->tag[0])
        print_row(out, "tag", piece->tag);
    if (piece->reason)
        print_row(out, "reason", piece->reason);
    if (piece->detail && piece->detail[0])
        print_row(out, "detail", piece->detail);
    (void)fprintf(out, "%-8s %" PRId64 "\n", "bytes", piece->size);
    print_start(out, piece);
}

/* --- actions ---------------------------------------------------------------------------------- */

static int list(const struct call *call,
                void (*print)(FILE *out, const struct view_piece *piece, bool is_first))
{
    int code;

    if (call->is_json)
        (void)fputs("{\"pieces\": [", stdout);
    code = view_each(call, false, call->is_json ? print_json : print);
    if (call->is_json)
        (void)fputs("\n]}\n", stdout);
    return code == EX_OK ? call_flush(call) : code;
}

int call_list(const struct call *call)
{
    return list(call, print_waiting);
}

int call_dead(const struct call *call)
{
    struct call dead = *call;

    dead.state = 2;
    return list(&dead, print_dead);
}

int call_show(const struct call *call)
{
    int code = view_each(call, true, call->is_json ? print_with_payload : print_one);

    return code == EX_OK ? call_flush(call) : code;
}

int call_export(const struct call *call)
{
    int code = view_each(call, true, print_with_payload);

    return code == EX_OK ? call_flush(call) : code;
}
