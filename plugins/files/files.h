/* SPDX-License-Identifier: MIT */
/*
 * files.h - the message of the plugin `files`: one line of one file.
 *
 * For plugins that receive it. Inline only: there is nothing to link. The layout is frozen; a
 * changed one gets another tag.
 */
#ifndef FILES_H
#define FILES_H

#include <weir/message.h>

#define FILES_LINE_TAG "files.line/1"
#define FILES_LINE_MAX (1u << 20) /* bytes of a line; longer ones are skipped with a warning */

/* The payload begins with this; the file's name, a NUL, the line and a NUL follow. */
struct files_line {
    uint32_t name_size; /* bytes, without its NUL */
    uint32_t line_size; /* bytes, without line end and NUL; the line may hold NULs of its own */
    uint64_t number;    /* of the line in its file, from 1 */
    uint64_t offset;    /* of its first byte in the file */
};

/*
 * The payload of a message tagged FILES_LINE_TAG; NULL when its sizes do not fit, or a NUL is
 * missing: it may come from another machine, or from a plugin that is wrong. Borrowed.
 */
static inline const struct files_line *files_line_get(const struct weir_message *message)
{
    const struct files_line *line = (const struct files_line *)message->data;
    const char *name;

    if (message->size < sizeof *line)
        return NULL;
    if (message->size != sizeof *line + (size_t)line->name_size + (size_t)line->line_size + 2)
        return NULL;
    name = (const char *)(line + 1);
    if (name[line->name_size] || name[message->size - sizeof *line - 1])
        return NULL;
    return line;
}

/* The path of the file, as the glob returned it; ends with NUL. Borrowed from the message. */
static inline const char *files_line_name(const struct files_line *line)
{
    return (const char *)(line + 1);
}

/* The line without its end; a NUL follows it. Borrowed from the message. */
static inline const char *files_line_text(const struct files_line *line)
{
    return files_line_name(line) + line->name_size + 1;
}

/*
 * The text of a message of any kind, for plugins that take lines and plain bytes alike: the line of
 * a message with the tag `line_tag`, which is the tag of FILES_LINE_TAG; otherwise the payload.
 * Borrowed from the message.
 */
static inline const char *files_text(const struct weir_message *message,
                                     const struct weir_tag *line_tag, size_t *out_size)
{
    const struct files_line *line = message->tag == line_tag ? files_line_get(message) : NULL;

    *out_size = line ? line->line_size : message->size;
    return line ? files_line_text(line) : (const char *)message->data;
}

#endif
