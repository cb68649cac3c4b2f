/* SPDX-License-Identifier: MIT */
#include "config/reference.h"

#include <string.h>

#include "base/option_kind.h"
#include "config/bound.h"
#include "config/capacity.h"
#include "config/language.h"

#define TAKES_SIZE 256 /* the description of a key's values */
#define NAME_SIZE 64   /* `restart.backoff` */

/* A phrase under construction; it is truncated at its end, which the test of the page would
 * show. */
struct phrase {
    char text[TAKES_SIZE];
    size_t used;
};

WEIR_PRINTF(2, 3) static void add(struct phrase *phrase, const char *format, ...)
{
    va_list arguments;
    int length;

    if (phrase->used >= sizeof phrase->text)
        return;
    va_start(arguments, format);
    length = vsnprintf(phrase->text + phrase->used, sizeof phrase->text - phrase->used, format,
                       arguments);
    va_end(arguments);
    phrase->used += length < 0 ? 0 : (size_t)length;
}

/* --- the values of a key ---------------------------------------------------------------------- */

/* Adds the bounds, unless they are those of the type. */
static void add_bounds(struct phrase *phrase, const struct weir_option *row)
{
    char bounds[96];

    if (!option_has_bounds(row) || (row->min == 0 && row->max == INT64_MAX))
        return;
    option_bounds_format(row, bounds, sizeof bounds);
    if (row->min == row->max)
        add(phrase, " %lld", (long long)row->min);
    else
        add(phrase, " %s", bounds);
}

static void add_choices(struct phrase *phrase, const struct weir_option *row)
{
    for (size_t i = 0; row->choices[i]; i++) {
        const char *between = row->choices[i + 1] ? ", " : " or ";

        add(phrase, "%s`%s`", i ? between : "", row->choices[i]);
    }
}

/* After a number. */
static void add_words(struct phrase *phrase, const char *const *words)
{
    for (uint32_t i = 0; words[i]; i++)
        add(phrase, "%s`%s`", words[i + 1] ? ", " : " or ", words[i]);
}

static const char *value_word(uint32_t kind)
{
    switch (kind) {
    case WEIR_BOOL:
        return "`true` or `false`";
    case WEIR_F64:
        return "number";
    case WEIR_SIZE:
        return "size";
    case WEIR_DURATION:
        return "duration";
    case WEIR_STRING:
        return "text";
    case WEIR_LIST:
        return "list of texts";
    case WEIR_MAP:
        return "map of texts";
    default:
        return "integer";
    }
}

static void add_value(struct phrase *phrase, const struct weir_option *row)
{
    if (row->kind == WEIR_ENUM) {
        add_choices(phrase, row);
        return;
    }
    add(phrase, "%s", value_word(row->kind));
    add_bounds(phrase, row);
}

static void add_durations(struct phrase *phrase, const struct weir_option *row)
{
    struct weir_option end = *row;

    end.kind = WEIR_DURATION;
    add(phrase, "range of durations within");
    add_bounds(phrase, &end);
}

static const char *other_word(const struct language_row *row)
{
    switch (row->option.kind) {
    case LANGUAGE_NAMES:
        return row->rows == language_pool ? "map from names to pools" : "map from names to keys";
    case LANGUAGE_BEHAVIOUR:
        return "`PLUGIN.BEHAVIOUR`";
    case LANGUAGE_ARGS:
        return "map from options to values";
    case LANGUAGE_DISPATCHER:
        return "name of a dispatcher";
    case LANGUAGE_TARGET:
        return "path of a pool";
    case LANGUAGE_OUTPUTS:
        return "map from outputs to pools";
    case LANGUAGE_POOL:
        return "a pool";
    case LANGUAGE_FILES:
        return "list of file names and patterns";
    case LANGUAGE_RATE:
        return "messages in a time, such as `100/s` or `5/250ms`, or `{messages: A, per: B, burst: "
               "C}`";
    case LANGUAGE_THREADS:
        return "`auto`, or integer";
    default:
        return "integer";
    }
}

static void add_other(struct phrase *phrase, const struct language_row *row)
{
    if (row->option.kind == LANGUAGE_RANGE) {
        add_durations(phrase, &row->option);
        return;
    }
    add(phrase, "%s", other_word(row));
    add_bounds(phrase, &row->option);
    if (row->option.kind == LANGUAGE_CAPACITY)
        add_words(phrase, capacity_words);
    if (row->option.kind == LANGUAGE_BOUND)
        add_words(phrase, bound_words);
    if (row->option.kind == LANGUAGE_COUNT)
        add(phrase, ", or `{min: A, max: B}`");
}

static void add_takes(struct phrase *phrase, const struct language_row *row)
{
    if (language_is_value(row))
        add_value(phrase, &row->option);
    else
        add_other(phrase, row);
    if (row->option.required)
        add(phrase, ", required");
}

void reference_takes(const struct language_row *row, char *text, size_t size)
{
    struct phrase takes = { .used = 0 };

    if (row->option.kind != LANGUAGE_SECTION)
        add_takes(&takes, row);
    (void)snprintf(text, size, "%s", takes.text);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void write_row(const struct page *page, const struct language_row *row, const char *prefix)
{
    struct phrase takes = { .used = 0 };
    char name[NAME_SIZE];
    struct page_key key = { name, takes.text, row->option.fallback, row->option.help };

    (void)snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "", row->option.name);
    add_takes(&takes, row);
    page_add_key(page, &key);
}

/* The keys of one scope; keys of inner sections have the section's name before theirs. */
static void write_rows(const struct page *page, const struct language_row *rows, uint32_t scope,
                       const char *prefix)
{
    char name[NAME_SIZE];

    for (; rows->option.name; rows++) {
        if (rows->scope != scope)
            continue;
        (void)snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "",
                       rows->option.name);
        if (rows->option.kind == LANGUAGE_SECTION)
            write_rows(page, rows->rows, 0, name);
        else
            write_row(page, rows, prefix);
        if (rows->option.kind == LANGUAGE_RATE)
            write_rows(page, rows->rows, 0, name);
    }
}

static void write_table(const struct page *page, const struct language_row *rows, uint32_t scope)
{
    page_begin_keys(page);
    write_rows(page, rows, scope, "");
    page_end_keys(page);
}

/* The keys at the top; a section there gets a chapter. */
static void write_top(const struct page *page)
{
    page_begin_keys(page);
    for (const struct language_row *row = language_top; row->option.name; row++) {
        struct page_key key = { row->option.name, "map of keys", NULL, row->option.help };

        if (row->option.kind == LANGUAGE_SECTION)
            page_add_key(page, &key);
        else
            write_row(page, row, "");
    }
    page_end_keys(page);
}

/* --- chapters --------------------------------------------------------------------------------- */

static void write_opening(const struct page *page)
{
    page_title(page, "WEIR.YAML", "5", "File Formats Manual");
    page_comment(page, "Written by `weir schema` from config/language.c: change it there.");
    if (page->form == PAGE_MARKDOWN) {
        (void)fputs("\n# The configuration language\n", page->stream);
    } else {
        page_heading(page, "name");
        (void)fputs("weir.yaml \\- configuration of the worker host weir\n", page->stream);
        page_heading(page, "description");
    }
    page_paragraph(page, "A configuration is one YAML file, which may include others. It declares "
                         "sources, which produce messages, and pools of workers, which handle "
                         "messages. Each of them runs a behaviour of a plugin.");
    page_paragraph(page,
                   "`weir check FILE` prints every mistake with line, column and the path of the "
                   "key, and a similar name if there is one: unknown keys, keys that are set "
                   "twice, values of the wrong kind or out of range, outputs without a pool. A "
                   "reload makes the same check, and changes nothing if there is a mistake. `weir "
                   "schema` prints this reference as JSON Schema, for editors.");
    page_example(page, "version: 1\n"
                       "\n"
                       "host:\n"
                       "  plugins: [./build/plugins]\n"
                       "\n"
                       "sources:\n"
                       "  packages:\n"
                       "    use: files.lines\n"
                       "    args: {paths: [\"/var/lib/dpkg/info/*.md5sums\"]}\n"
                       "    to: verify\n"
                       "\n"
                       "pools:\n"
                       "  verify:\n"
                       "    use: integrity.md5\n"
                       "    size: 4\n"
                       "    outputs: {ok: report, changed: {to: report, when_full: wait}}\n"
                       "  report: {use: report.results, size: 1}\n");
}

static void write_values(const struct page *page)
{
    page_heading(page, "Values");
    page_term(page, "integer", "decimal, without leading zeros; quotes are allowed.");
    page_term(page, "size", "bytes: `4096`, `64KiB`, `16MiB`, `1GiB`, `1TiB`.");
    page_term(page, "duration",
              "a number with a unit: `250ms`, `10s`, `2m`, `1h`, `1d`; only `0` needs no unit.");
    page_term(page, "range of durations", "`100ms..10s`; a single duration is both ends.");
    page_term(page, "text",
              "any value that is not a list, a map or empty; `\"\"` is the empty text.");
    page_term(page, "name",
              "1 to 63 letters, digits, `_` and `-`; it begins with a letter or a digit. The path "
              "of a pool is its name, or `POOL/MEMBER` for a nested pool, on every level; copies "
              "have the names `0`, `1` and so on.");
    page_paragraph(
        page, "In every value `${NAME}` is replaced by an environment variable, `${NAME:-default}` "
              "by a variable or, if that is unset or empty, by the default, and `${file:/path}` by "
              "the contents of a file: a secret, which is never printed. The host replaces them "
              "after it has parsed the YAML and before it checks the value, so a variable can be a "
              "number, but not a list. `$${` is a plain `${`.");
    page_paragraph(
        page, "A number out of range is an error. Anchors, aliases and the merge key `<<` work; "
              "keys at the top that begin with `x-` are ignored and may hold anchors. The check "
              "warns of a pool that nothing in the file leads to; the path of a pool below a key "
              "`x-reached` says that code or `weir send` does. Limits of a "
              "file, with its includes and with aliases expanded: 8 MiB, 64 levels, 500,000 "
              "values, 1 MiB for a text, 100,000 times `${`, 1,000 values from files.");
}

static void write_chapters(const struct page *page)
{
    page_heading(page, "Top");
    write_top(page);
    page_paragraph(
        page,
        "Names and patterns of `include` are relative to the folder of the file; the files "
        "are added in the order of their names. An included file cannot include others, and "
        "no key may be in two files. A name or pattern without a file is an error, and so is a "
        "folder of a pattern that cannot be read.");
    page_heading(page, "`host`");
    write_table(page, language_host, 0);
    page_heading(page, "`dispatchers.NAME`");
    page_paragraph(page, "Sets of threads. `default` always exists. Behaviours that may block run "
                         "on `blocking`; if the file does not declare it, the host makes it with "
                         "16 threads and a budget of 1 when it is needed.");
    write_table(page, language_dispatcher, 0);
    page_heading(page, "`sources.NAME`");
    write_table(page, language_source, 0);
}

static void write_pools(const struct page *page)
{
    page_heading(page, "`pools.NAME`");
    page_paragraph(page, "A pool has exactly one of `use` (its members are workers), `members` "
                         "(its members are other pools) and `pool` (its members are copies of one "
                         "pool). Pools may be nested 8 deep. Keys of every pool:");
    write_table(page, language_pool, 0);
    page_heading(page, "`pools.NAME`, of workers");
    page_paragraph(page, "`use` is required. `outputs` binds the outputs of the behaviour; those "
                         "that the behaviour requires must be bound. The check warns when one that "
                         "it expects is not bound, unless it is bound to `none`, or the pool gets "
                         "requests.");
    write_table(page, language_pool, LANGUAGE_OF_WORKERS);
    page_heading(page, "`pools.NAME.outputs.OUTPUT`");
    page_paragraph(page, "The path of a pool, `none`, or these keys. With `wait` the worker gets "
                         "no new messages until there is room; a cycle of outputs that wait is "
                         "refused.");
    write_table(page, language_output, 0);
    page_heading(page, "`pools.NAME`, of pools");
    page_paragraph(page, "With `pool`, `size` is required: the number of copies. With `members`, "
                         "`size` is not allowed. `route: pull` is only for pools of workers.");
    write_table(page, language_pool, LANGUAGE_OF_POOLS);
}

void reference_write(FILE *stream, enum page_form form)
{
    struct page page = { stream, form };

    write_opening(&page);
    write_values(&page);
    write_chapters(&page);
    write_pools(&page);
    if (form == PAGE_MANUAL) {
        page_heading(&page, "see also");
        (void)fputs(".BR weir (1)\n", stream);
    }
}
