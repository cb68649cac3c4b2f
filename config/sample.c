/* SPDX-License-Identifier: MIT */
#include "config/sample.h"

#include <string.h>

#include "config/language.h"
#include "config/reference.h"

#include <weir/host.h>

#define COLUMNS 100   /* of a line */
#define TEXT_SIZE 512 /* a help text with the values of a key */

/* One block of keys. */
struct block {
    FILE *stream;
    int indent;
    bool off; /* all lines begin with `#-` */
};

/* --- lines ------------------------------------------------------------------------------------ */

static void begin_line(const struct block *block, bool off)
{
    if (block->off)
        (void)fprintf(block->stream, "  #- %*s", block->indent - 2, "");
    else
        (void)fprintf(block->stream, "%*s%s", block->indent, "", off ? "#- " : "");
}

/* Counts the bytes of `text` that fit into `room`, cut between words. */
static size_t fitting(const char *text, size_t room)
{
    size_t size = strlen(text);

    if (size <= room)
        return size;
    for (size = room; size > 0 && text[size] != ' '; size--)
        continue;
    return size ? size : room;
}

static void write_comment(const struct block *block, const char *text)
{
    const size_t used = (size_t)block->indent + (block->off ? 3 : 0) + strlen("# ");

    while (*text) {
        size_t size = fitting(text, COLUMNS - used);

        begin_line(block, false);
        (void)fprintf(block->stream, "# %.*s\n", (int)size, text);
        text += size + (text[size] == ' ' ? 1 : 0);
    }
}

WEIR_PRINTF(3, 4)
static void write_line(const struct block *block, bool off, const char *format, ...)
{
    va_list arguments;

    begin_line(block, off);
    va_start(arguments, format);
    (void)vfprintf(block->stream, format, arguments);
    va_end(arguments);
    (void)fputc('\n', block->stream);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* An example value of a key without a default. */
static const char *example_of(const struct language_row *row)
{
    switch (row->option.kind) {
    case WEIR_STRING:
        return "TEXT";
    case LANGUAGE_BEHAVIOUR:
        return "PLUGIN.BEHAVIOUR";
    case LANGUAGE_ARGS:
        return "{}";
    case LANGUAGE_TARGET:
        return "POOL";
    case LANGUAGE_DISPATCHER:
        return "default";
    case LANGUAGE_POOL:
        return "{use: PLUGIN.BEHAVIOUR}";
    case LANGUAGE_NAMES:
        return "{NAME: {use: PLUGIN.BEHAVIOUR}}";
    case LANGUAGE_COUNT:
        return "4";
    case LANGUAGE_RANGE:
        return "1s..1m";
    case LANGUAGE_RATE:
        return "{messages: 100, per: 1s, burst: 10}";
    default:
        return "[]";
    }
}

static void write_help(const struct block *block, const struct language_row *row)
{
    char takes[TEXT_SIZE / 2];
    char text[TEXT_SIZE];

    reference_takes(row, takes, sizeof takes);
    (void)snprintf(text, sizeof text, "%s%s%s", row->option.help, takes[0] ? ": " : "", takes);
    write_comment(block, text);
}

static void write_rows(const struct block *block, const struct language_row *rows, uint32_t scope);

/* A key that has keys below it. */
static void write_section(const struct block *block, const struct language_row *row)
{
    struct block inner = *block;
    const bool outputs = row->option.kind == LANGUAGE_OUTPUTS;

    inner.indent += 2;
    write_line(block, false, "%s:", row->option.name);
    if (outputs) {
        write_line(&inner, false, "OUTPUT:");
        inner.indent += 2;
    }
    write_rows(&inner, outputs ? language_output : row->rows, 0);
}

static void write_row(const struct block *block, const struct language_row *row)
{
    const char *fallback = row->option.fallback;

    write_help(block, row);
    if (row->option.kind == LANGUAGE_SECTION || row->option.kind == LANGUAGE_OUTPUTS)
        write_section(block, row);
    else
        write_line(block, !fallback, "%s: %s", row->option.name,
                   fallback ? fallback : example_of(row));
}

/* The keys of a scope; with LANGUAGE_OF_WORKERS those of every pool, too. */
static void write_rows(const struct block *block, const struct language_row *rows, uint32_t scope)
{
    for (; rows->option.name; rows++)
        if (rows->scope == scope || (rows->scope == 0 && scope == LANGUAGE_OF_WORKERS))
            write_row(block, rows);
}

/* --- chapters --------------------------------------------------------------------------------- */

static void write_opening(FILE *stream)
{
    (void)fputs(
        "# Weir's configuration, with every key, its values and its default. A line that begins "
        "with\n"
        "# `#-` shows a key that has no default, or one that needs a plugin of yours: take "
        "the `#-` away\n"
        "# to use it, and the `{}` above it.\n"
        "#\n"
        "#     weir check FILE             every mistake, with line and column\n"
        "#     weir plan FILE --from OLD   the steps of a reload from OLD to FILE\n"
        "#     weir describe PLUGIN        the behaviours of a plugin, their options and "
        "outputs\n"
        "#\n"
        "# Durations: 250ms, 10s, 2m, 1h. Sizes: 64KiB, 16MiB, 1GiB. Ranges: a..b. Any text "
        "may contain\n"
        "# ${VARIABLE} or ${VARIABLE:-default}. Keys at the top that begin with `x-` are "
        "yours, for anchors.\n"
        "#\n"
        "# Written by `weir schema --sample` from config/language.c: change it there.\n",
        stream);
}

/* One entry of a map of names. Its lines begin with `#-` unless the entry always exists. */
static void write_entry(FILE *stream, const char *name, const struct language_row *rows,
                        uint32_t scope, bool off)
{
    const struct block outer = { stream, 2, off };
    const struct block inner = { stream, 4, off };

    write_line(&outer, false, "%s:", name);
    write_rows(&inner, rows, scope);
}

static void write_pools(FILE *stream)
{
    (void)fputs("\n# Pools handle messages: a pool of workers, of pools by name, or of equal "
                "pools.\npools: {}\n",
                stream);
    write_entry(stream, "workers", language_pool, LANGUAGE_OF_WORKERS, true);
    write_entry(stream, "pools", language_pool, LANGUAGE_OF_POOLS, true);
}

void sample_write(FILE *stream)
{
    const struct block top = { stream, 0, false };
    const struct block host = { stream, 2, false };

    write_opening(stream);
    (void)fputc('\n', stream);
    write_row(&top, language_find(language_top, "version"));
    write_row(&top, language_find(language_top, "include"));
    (void)fputs("\nhost:\n", stream);
    write_rows(&host, language_host, 0);
    (void)fputs("\n# Sets of threads. `default` is always there. Behaviours that may block (files, "
                "networks, sleeping)\n# belong on a set of their own; their plugin marks them with "
                "the flag BLOCKING.\ndispatchers:\n",
                stream);
    write_entry(stream, "default", language_dispatcher, 0, false);
    (void)fputs("\n# Sources produce messages on demand: never more than the pool behind `to` has "
                "room for.\nsources: {}\n",
                stream);
    write_entry(stream, "NAME", language_source, 0, true);
    write_pools(stream);
}
