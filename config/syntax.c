/* SPDX-License-Identifier: MIT */
#include "config/syntax.h"

#include <string.h>

/* The byte at a place of the text; lines and columns (of characters) count from 0. */
static char byte_at(const struct config_text *text, const yaml_mark_t *mark)
{
    const char *at = text->bytes;
    const char *end = text->bytes + text->size;
    size_t column = 0;

    for (size_t line = 0; line < mark->line && at; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    while (at && at < end && column < mark->column) {
        at++;
        column += at < end && ((unsigned char)*at & 0xc0) != 0x80;
    }
    return at && at < end ? *at : '\0';
}

/* Reports libyaml's message, and where the construct had begun. */
static void report_problem(const yaml_parser_t *parser, const struct config_text *text,
                           struct report *report)
{
    struct mark mark = { text->name, (uint32_t)parser->problem_mark.line + 1,
                         (uint32_t)parser->problem_mark.column + 1 };
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    char byte = byte_at(text, &parser->problem_mark);

    if (byte == '\t')
        report_add(report, &mark, NULL, "a tab cannot indent, use spaces");
    else if (byte && strcmp(problem, "found character that cannot start any token") == 0)
        report_add(report, &mark, NULL,
                   "not valid YAML: a text cannot begin with %c, put it in quotes", byte);
    else if (parser->context)
        report_add(report, &mark, NULL, "not valid YAML: %s %s that begins in line %zu", problem,
                   parser->context, parser->context_mark.line + 1);
    else
        report_add(report, &mark, NULL, "not valid YAML: %s", problem);
}

int syntax_report(const yaml_parser_t *parser, const struct config_text *text,
                  struct report *report)
{
    struct mark nowhere = { text->name, 0, 0 };

    if (parser->error == YAML_MEMORY_ERROR)
        return WEIR_ENOMEM;
    if (parser->error == YAML_READER_ERROR)
        report_add(report, &nowhere, NULL, "not valid YAML at byte %zu: %s", parser->problem_offset,
                   parser->problem);
    else
        report_problem(parser, text, report);
    return WEIR_EINVALID;
}
