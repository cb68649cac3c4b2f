/* SPDX-License-Identifier: MIT */
#include "host/log/log_line.h"

#include <math.h>
#include <string.h>

#include <weir/printable.h>

#include "host/log/line.h"

/* Reserved for the end of a truncated line. */
#define TAIL_SIZE 16

const char *log_line_level(enum weir_log_level level)
{
    static const char *const names[] = {
#define LEVEL_WORD(name, number, word) [number] = word,
        WEIR_LOG_LEVEL_LIST(LEVEL_WORD)
#undef LEVEL_WORD
    };

    return (unsigned)level < sizeof names / sizeof names[0] ? names[level] : "debug";
}

static int priority(enum weir_log_level level)
{
    static const int priorities[] = { 3, 4, 6, 7 }; /* of syslog(3) */

    return (unsigned)level < sizeof priorities / sizeof priorities[0] ? priorities[level] : 7;
}

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

/* JSON has no \x, so an invalid byte becomes the replacement character there. */
static void add_escaped(struct line *line, enum log_format format, unsigned char c)
{
    if (c == '\n') {
        line_text(line, "\\n");
    } else if (c == '\t') {
        line_text(line, "\\t");
    } else if (c == '"' || c == '\\') {
        line_put(line, '\\');
        line_put(line, (char)c);
    } else if (format != LOG_JSON) {
        line_text(line, "\\x");
        line_hex(line, c);
    } else if (is_control(c)) {
        line_text(line, "\\u00");
        line_hex(line, c);
    } else {
        line_text(line, "\\ufffd");
    }
}

/* Escapes what would end the line or its quotes, or control a terminal. */
static void add_safe(struct line *line, enum log_format format, const char *text, bool quoted)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t size = quoted && (*text == '"' || *text == '\\') ? 0 : weir_printable(text, left);

        if (size == 0) {
            add_escaped(line, format, (unsigned char)*text);
            size = 1;
        } else {
            line_bytes(line, text, size);
        }
        text += size;
        left -= size;
    }
}

static void add_quoted(struct line *line, enum log_format format, const char *text)
{
    line_put(line, '"');
    add_safe(line, format, text, true);
    line_put(line, '"');
}

static bool needs_quotes(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    if (!*at)
        return true;
    for (; *at; at++) {
        if (is_control(*at) || *at >= 0x80 || strchr(" \"\\=", *at))
            return true;
    }
    return false;
}

static void add_string(struct line *line, enum log_format format, const char *text)
{
    if (!text)
        text = "";
    if (format == LOG_JSON || needs_quotes(text))
        add_quoted(line, format, text);
    else
        line_text(line, text);
}

static bool is_ascii_text(char c)
{
    return c >= 0x20 && c < 0x7f;
}

static void add_key(struct line *line, enum log_format format, const char *key)
{
    if (format == LOG_JSON) {
        line_put(line, ',');
        add_quoted(line, format, key);
        line_put(line, ':');
        return;
    }
    line_put(line, ' ');
    for (; *key; key++)
        line_put(line, strchr(" \"\\=", *key) || !is_ascii_text(*key) ? '_' : *key);
    line_put(line, '=');
}

static void add_real(struct line *line, enum log_format format, double value)
{
    if (format == LOG_JSON && !isfinite(value))
        line_text(line, "null");
    else
        line_format(line, "%.6g", value);
}

static void add_value(struct line *line, enum log_format format, const struct weir_field *field)
{
    switch (field->kind) {
    case WEIR_I64:
        line_signed(line, field->value.integer);
        break;
    case WEIR_U64:
        line_unsigned(line, field->value.natural);
        break;
    case WEIR_F64:
        add_real(line, format, field->value.real);
        break;
    default:
        add_string(line, format, field->value.string);
        break;
    }
}

/* With zeros in front. */
static void add_digits(struct line *line, uint64_t value, unsigned count)
{
    char digits[8];

    for (unsigned i = count; i-- > 0; value /= 10)
        digits[i] = (char)('0' + value % 10);
    line_bytes(line, digits, count);
}

/* The Gregorian date of a day since 1970. gmtime_r is not safe in a signal handler. Counts in years
 * that begin in March, so that a leap day is the last day of its year. */
static void add_day(struct line *line, uint64_t days)
{
    uint64_t day = days + 719468; /* since 0000-03-01 */
    uint64_t era = day / 146097;  /* of 400 years */
    uint64_t in_era = day % 146097;
    uint64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    uint64_t in_year = in_era - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * in_year + 2) / 153; /* since March */

    add_digits(line, era * 400 + year + (month >= 10), 4);
    line_put(line, '-');
    add_digits(line, month < 10 ? month + 3 : month - 9, 2);
    line_put(line, '-');
    add_digits(line, in_year - (153 * month + 2) / 5 + 1, 2);
}

static void add_time(struct line *line, uint64_t date_us)
{
    uint64_t seconds = date_us / 1000000;

    add_digits(line, seconds / 3600 % 24, 2);
    line_put(line, ':');
    add_digits(line, seconds / 60 % 60, 2);
    line_put(line, ':');
    add_digits(line, seconds % 60, 2);
    line_put(line, '.');
    add_digits(line, date_us / 1000 % 1000, 3);
}

static void add_date(struct line *line, uint64_t date_us)
{
    add_day(line, date_us / 1000000 / 86400);
    line_put(line, 'T');
    add_time(line, date_us);
    line_put(line, 'Z');
}

static void add_level(struct line *line, enum weir_log_level level, bool colour)
{
    static const char *const colours[] = { "\033[31m", "\033[33m", "\033[32m" };
    bool is_coloured = colour && (unsigned)level < sizeof colours / sizeof colours[0];

    line_put(line, ' ');
    if (is_coloured)
        line_text(line, colours[level]);
    line_text(line, log_line_level(level));
    if (is_coloured)
        line_text(line, "\033[0m");
    line_put(line, ' ');
}

static void add_text_head(struct line *line, const struct log_style *style, uint64_t date_us,
                          const struct log_line *from)
{
    add_time(line, date_us + (uint64_t)style->zone_s * 1000000);
    add_level(line, from->level, style->colour);
    add_safe(line, LOG_TEXT, from->component ? from->component : "", false);
    line_text(line, ": ");
    add_safe(line, LOG_TEXT, from->event ? from->event : "", false);
}

static void add_head(struct line *line, const struct log_style *style, uint64_t date_us,
                     const struct log_line *from)
{
    enum log_format format = style->format;

    if (format == LOG_TEXT) {
        add_text_head(line, style, date_us, from);
        return;
    }
    line_text(line, format == LOG_JSON ? "{\"ts\":\"" : "ts=");
    add_date(line, date_us);
    if (format == LOG_JSON)
        line_put(line, '"');
    add_key(line, format, "level");
    add_string(line, format, log_line_level(from->level));
    add_key(line, format, "component");
    add_string(line, format, from->component);
    add_key(line, format, "event");
    if (format == LOG_JSON)
        add_string(line, format, from->event);
    else
        add_quoted(line, format, from->event ? from->event : "");
}

/* Leaves out a field that does not fit as a whole, so that programs can still parse the line. */
static bool add_field(struct line *line, enum log_format format, const struct weir_field *field)
{
    size_t before = line->used;

    add_key(line, format, field->key);
    add_value(line, format, field);
    if (!line->cut)
        return true;
    line->used = before;
    line->text[before] = '\0';
    return false;
}

/* Keeps only the level and the fact of a head that is too long. */
static void replace_head(struct line *line, const struct log_style *style, uint64_t date_us,
                         const struct log_line *from)
{
    struct log_line shorter = { .level = from->level,
                                .component = "log",
                                .event = "a line longer than the limit was left out" };

    line->used = 0;
    line->cut = false;
    add_head(line, style, date_us, &shorter);
}

size_t log_line_write(char *buffer, const struct log_style *style, uint64_t date_us,
                      const struct log_line *from)
{
    const struct weir_field *field = from->fields;
    struct line prefix, line;
    bool whole = true;

    line_init(&prefix, buffer, LOG_LINE_MAX + 1);
    if (style->journal) {
        line_put(&prefix, '<');
        line_unsigned(&prefix, (uint64_t)priority(from->level));
        line_put(&prefix, '>');
    }
    line_init(&line, buffer + prefix.used, LOG_LINE_MAX + 1 - prefix.used - TAIL_SIZE);
    add_head(&line, style, date_us, from);
    if (line.cut) {
        replace_head(&line, style, date_us, from);
        field = NULL;
    }
    for (; field && field->key && whole; field++)
        whole = add_field(&line, style->format, field);
    line.size += TAIL_SIZE;
    if (!whole)
        line_text(&line, style->format == LOG_JSON ? ",\"cut\":true" : " cut=true");
    line_text(&line, style->format == LOG_JSON ? "}\n" : "\n");
    return prefix.used + line.used;
}
