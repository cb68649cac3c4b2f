/* SPDX-License-Identifier: MIT */
#include "config/reader.h"

#include <stdlib.h>
#include <string.h>

#include "config/builder.h"
#include "config/encoding.h"
#include "config/extent.h"
#include "config/file.h"
#include "config/include.h"
#include "config/substitute.h"

#define BYTES_MAX ((size_t)8 << 20) /* docs/promises.md promises these four limits */
#define DEPTH_MAX 64u
#define NODES_MAX 500000u
#define TEXT_MAX (1u << 20)

/* The reading of one file and the files that it includes. */
struct reading {
    struct config_tree *tree;
    struct config_source source; /* with its limits filled in */
    struct report *report;
    uint32_t nodes; /* read so far; the two below, too */
    size_t bytes;   /* of all files */
    size_t text;    /* of all keys and values */
    struct substitute_use use;
    struct include_merging merging;
};

static struct config_source complete_source(const struct config_source *source)
{
    struct config_source complete = { 0 };

    if (source)
        complete = *source;
    if (!complete.limits.bytes)
        complete.limits.bytes = BYTES_MAX;
    if (!complete.limits.depth)
        complete.limits.depth = DEPTH_MAX;
    if (!complete.limits.nodes)
        complete.limits.nodes = NODES_MAX;
    if (!complete.limits.text)
        complete.limits.text = TEXT_MAX;
    return complete;
}

/* Skips a byte order mark: it would shift the columns of the first line. */
static void skip_byte_order_mark(const char **bytes, size_t *size)
{
    if (*size >= 3 && memcmp(*bytes, "\xef\xbb\xbf", 3) == 0) {
        *bytes += 3;
        *size -= 3;
    }
}

/* Turns a mistake that leaves a tree into success: the check reads the other values, too. */
static int note(struct reading *reading, int status)
{
    if (status != WEIR_EINVALID || !reading->source.is_checked_next)
        return status;
    reading->tree->wrong = true;
    return WEIR_OK;
}

/* Reads one text and substitutes `${...}` in its values. */
static int read_document(struct reading *reading, const char *name, const char *bytes, size_t size,
                         struct config_node **out_root)
{
    struct config_text text = { text_store_copy(&reading->tree->store, name), bytes, size,
                                reading->source.is_part };
    struct config_node *root = NULL;
    bool wrong = false;
    int status;

    if (!text.name)
        return WEIR_ENOMEM;
    skip_byte_order_mark(&text.bytes, &text.size);
    status = encoding_check(text.name, text.bytes, text.size, reading->report);
    if (status == WEIR_OK)
        status = builder_read(reading->tree, &text, &reading->source.limits, &reading->nodes,
                              reading->report, &root, &wrong);
    if (status == WEIR_OK && wrong)
        status = note(reading, WEIR_EINVALID);
    if (status == WEIR_OK)
        status = note(reading, substitute_values(reading->tree, root, &reading->source,
                                                 &reading->use, reading->report));
    if (status == WEIR_OK)
        status = extent_add(root, reading->source.limits.bytes, &reading->text, reading->report);
    if (status == WEIR_OK)
        *out_root = root;
    return status;
}

/* Reports that a single file is too large. */
static int refuse_more(const struct reading *reading, const struct mark *mark)
{
    char limit[32];

    text_format_size(reading->source.limits.bytes, limit, sizeof limit);
    report_add(reading->report, mark, NULL, "makes the files that are read larger than %s", limit);
    return WEIR_EINVALID;
}

static int read_file(struct reading *reading, const char *file, struct config_node **out_root)
{
    struct mark mark = { file, 0, 0 };
    char why[160];
    char *bytes = NULL;
    size_t size = 0;
    int status;

    config_files_add(reading->source.files, file, false);
    status = file_read(file, reading->source.limits.bytes, &bytes, &size, why, sizeof why);

    if (status != WEIR_OK) {
        report_add(reading->report, &mark, NULL, "%s", why);
        return status;
    }
    reading->bytes += size;
    if (reading->bytes > reading->source.limits.bytes)
        status = refuse_more(reading, &mark);
    else
        status = read_document(reading, file, bytes, size, out_root);
    free(bytes);
    return status;
}

static int add_file(struct reading *reading, const char *file)
{
    struct config_node *added = NULL;
    int status = read_file(reading, file, &added);

    return status == WEIR_OK ? note(reading, include_merge(&reading->merging, added)) : status;
}

/* False: the report is full. */
static bool goes_on(const struct reading *reading)
{
    return reading->bytes <= reading->source.limits.bytes && !report_has_enough(reading->report);
}

static int add_included(struct reading *reading, const char *file)
{
    const struct config_node *patterns = config_find(reading->tree->root, "include");
    struct include_list list = { NULL, 0 };
    int result;

    if (!patterns || reading->source.is_part)
        return WEIR_OK;
    result = include_find(file, patterns, reading->source.files, reading->report, &list);
    include_merging_init(&reading->merging, reading->tree, reading->report);
    for (size_t i = 0; i < list.count && result != WEIR_ENOMEM && goes_on(reading); i++) {
        int status = add_file(reading, list.files[i]);

        if (status != WEIR_OK)
            result = status;
    }
    include_merging_finish(&reading->merging);
    include_finish(&list);
    return result;
}

static int begin(struct reading *reading, const struct config_source *source, struct report *report)
{
    *reading = (struct reading){ .tree = config_tree_create(),
                                 .source = complete_source(source),
                                 .report = report };
    return reading->tree ? WEIR_OK : WEIR_ENOMEM;
}

static int end(struct reading *reading, const char *name, int status, struct config_tree **out_tree)
{
    if (status == WEIR_OK)
        status = add_included(reading, name);
    if (status == WEIR_OK && report_has_enough(reading->report))
        status = WEIR_EINVALID;
    if (status == WEIR_OK)
        *out_tree = reading->tree;
    else
        config_tree_destroy(reading->tree);
    return status;
}

int config_read_file(const char *file, const struct config_source *source, struct report *report,
                     struct config_tree **out_tree)
{
    struct reading reading;

    if (begin(&reading, source, report) != WEIR_OK)
        return WEIR_ENOMEM;
    return end(&reading, file, read_file(&reading, file, &reading.tree->root), out_tree);
}

int config_read_text(const char *name, const char *text, size_t size,
                     const struct config_source *source, struct report *report,
                     struct config_tree **out_tree)
{
    struct reading reading;
    struct mark mark = { name, 0, 0 };
    int status = WEIR_EINVALID;

    if (begin(&reading, source, report) != WEIR_OK)
        return WEIR_ENOMEM;
    if (size > reading.source.limits.bytes)
        report_add(report, &mark, NULL, "is longer than %zu bytes", reading.source.limits.bytes);
    else
        status = read_document(&reading, name, text, size, &reading.tree->root);
    return end(&reading, name, status, out_tree);
}
