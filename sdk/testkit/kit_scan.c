#include "kit_scan.h"

#include <stdlib.h>
#include <string.h>

/* --- letters ---------------------------------------------------------------------------------- */

bool kit_scan_refuse_at(struct kit_reading *reading, struct mark mark, const char *what)
{
    report_add(reading->report, &mark, NULL, "plain YAML only in a test: %s", what);
    reading->wrong = true;
    return false;
}

bool kit_scan_refuse(struct kit_reading *reading, const char *what)
{
    return kit_scan_refuse_at(reading, reading->scan.mark, what);
}

void kit_scan_advance(struct kit_scan *scan)
{
    unsigned char byte = (unsigned char)*scan->at++;

    if (byte == '\n') {
        scan->mark.line++;
        scan->mark.column = 1;
    } else if ((byte & 0xc0) != 0x80) {
        scan->mark.column++;
    }
    /* Bytes that continue a character belong to its first. */
    while (((unsigned char)*scan->at & 0xc0) == 0x80)
        scan->at++;
}

void kit_scan_spaces(struct kit_scan *scan)
{
    while (*scan->at == ' ')
        kit_scan_advance(scan);
}

bool kit_scan_is_end(char c)
{
    return c == '\0' || c == '\n';
}

bool kit_scan_is_blank(char c)
{
    return c == ' ' || kit_scan_is_end(c);
}

/* The length of the character at `at`; 0 when it is none, or one that YAML takes for a line end. */
static size_t character_length(const unsigned char *at)
{
    uint32_t code = at[0];
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

    if (length < 2)
        return length == 1 && (code == '\n' || (code >= ' ' && code != 0x7f)) ? 1 : 0;
    code &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)))
        return 0;
    if (code < 0xa0 || code == 0x2028 || code == 0x2029 || code >= 0xfff0)
        return code >= 0x10000 ? length : 0;
    return (code >= 0xd800 && code <= 0xdfff) || code == 0xfeff ? 0 : length;
}

bool kit_scan_check(struct kit_reading *reading)
{
    struct kit_scan scan = reading->scan;

    while (*scan.at) {
        size_t length = character_length((const unsigned char *)scan.at);

        const char *end = scan.at + length;
        struct mark mark = scan.mark;

        kit_scan_advance(&scan);
        if (length == 0 || scan.at != end)
            return kit_scan_refuse_at(reading, mark, "a tab, a control character, or no UTF-8");
    }
    return true;
}

/* --- texts ------------------------------------------------------------------------------------ */

static char *keep(struct kit_reading *reading, const char *bytes, size_t size)
{
    char *copy = text_store_copy_size(reading->store, bytes, size);

    if (!copy)
        abort();
    return copy;
}

static bool read_single_quoted(struct kit_reading *reading, const char **out_text)
{
    struct kit_scan *scan = &reading->scan;
    char *text = keep(reading, scan->at, strlen(scan->at));
    size_t size = 0;

    kit_scan_advance(scan);
    for (; !kit_scan_is_end(*scan->at); kit_scan_advance(scan)) {
        const char *from = scan->at;
        struct kit_scan next = *scan;

        kit_scan_advance(&next);
        if (*from == '\'' && *next.at != '\'') {
            *scan = next;
            text[size] = '\0';
            *out_text = text;
            return true;
        }
        if (*from == '\'')
            *scan = next;
        memcpy(text + size, from, (size_t)(next.at - from));
        size += (size_t)(next.at - from);
    }
    return kit_scan_refuse(reading, "a text in quotes ends in its line");
}

/* The letter behind a backslash; NUL when it is none that is plain. */
static char unescape(char letter)
{
    static const char letters[] = "\\\"/nrt";
    static const char meant[] = "\\\"/\n\r\t";
    const char *found = letter ? strchr(letters, letter) : NULL;

    return found ? meant[found - letters] : '\0';
}

static bool read_double_quoted(struct kit_reading *reading, const char **out_text)
{
    struct kit_scan *scan = &reading->scan;
    char *text = keep(reading, scan->at, strlen(scan->at));
    size_t size = 0;

    kit_scan_advance(scan);
    while (!kit_scan_is_end(*scan->at) && *scan->at != '"') {
        const char *from = scan->at;

        kit_scan_advance(scan);
        if (*from != '\\') {
            memcpy(text + size, from, (size_t)(scan->at - from));
            size += (size_t)(scan->at - from);
            continue;
        }
        text[size] = unescape(*scan->at);
        if (!text[size++])
            return kit_scan_refuse(reading, "an escape is one of \\\\ \\\" \\/ \\n \\r \\t");
        kit_scan_advance(scan);
    }
    if (*scan->at != '"')
        return kit_scan_refuse(reading, "a text in quotes ends in its line");
    kit_scan_advance(scan);
    text[size] = '\0';
    *out_text = text;
    return true;
}

/* True where a text without quotes ends. */
static bool ends_plain(const char *at, bool flow)
{
    if (kit_scan_is_end(*at) || (flow && strchr(",[]{}", *at)))
        return true;
    if (*at == ':')
        return kit_scan_is_blank(at[1]) || (flow && strchr(",?[]{}", at[1]));
    return *at == ' ' && at[strspn(at, " ")] == '#';
}

static bool read_plain(struct kit_reading *reading, bool flow, const char **out_text)
{
    struct kit_scan *scan = &reading->scan;
    const char *from = scan->at;
    size_t size;

    if (strchr("?:,[]{}#&*!|>%@`", *from) || (*from == '-' && (kit_scan_is_blank(from[1]) || flow)))
        return kit_scan_refuse(reading, "a text that begins so stands in quotes");
    while (!ends_plain(scan->at, flow))
        kit_scan_advance(scan);
    size = (size_t)(scan->at - from);
    while (size > 0 && from[size - 1] == ' ')
        size--;
    *out_text = keep(reading, from, size);
    return true;
}

/* One text. `out_null`: it stands for nothing, as `~` does. */
bool kit_scan_text(struct kit_reading *reading, bool flow, struct option_text *out, bool *out_null)
{
    const char *from = reading->scan.at;
    bool done;

    *out = (struct option_text){ "", reading->scan.mark, false };
    if (*from == '\'')
        done = read_single_quoted(reading, &out->text);
    else if (*from == '"')
        done = read_double_quoted(reading, &out->text);
    else
        done = read_plain(reading, flow, &out->text);
    *out_null = *from != '\'' && *from != '"' &&
                (strcmp(out->text, "~") == 0 || strcmp(out->text, "null") == 0);
    if (done && strstr(out->text, "${"))
        return kit_scan_refuse_at(reading, out->mark, "${...} is replaced by the host only");
    return done;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* To the end of the line: blanks, and a comment that has one before it. */
bool kit_scan_end_line(struct kit_reading *reading)
{
    struct kit_scan *scan = &reading->scan;
    const char *from = scan->at;

    kit_scan_spaces(scan);
    if (*scan->at == '#' && (scan->at > from || scan->mark.column == 1)) {
        while (!kit_scan_is_end(*scan->at))
            kit_scan_advance(scan);
    }
    return kit_scan_is_end(*scan->at) ||
           kit_scan_refuse(reading, "a value stands in one line, and nothing behind it");
}

bool kit_scan_is_marker(const struct kit_scan *scan)
{
    return scan->mark.column == 1 &&
           (strncmp(scan->at, "---", 3) == 0 || strncmp(scan->at, "...", 3) == 0) &&
           kit_scan_is_blank(scan->at[3]);
}

/* To the first letter that is neither blank nor comment, in this line or a later one. */
void kit_scan_content(struct kit_scan *scan)
{
    for (;;) {
        kit_scan_spaces(scan);
        if (*scan->at == '#') {
            while (!kit_scan_is_end(*scan->at))
                kit_scan_advance(scan);
        }
        if (*scan->at != '\n')
            return;
        kit_scan_advance(scan);
    }
}

bool kit_scan_is_item(const struct kit_scan *scan)
{
    return scan->at[0] == '-' && kit_scan_is_blank(scan->at[1]);
}
