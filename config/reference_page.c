/* SPDX-License-Identifier: MIT */
#include "config/reference_page.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------------------- */

/* Escapes the bar, which would end the cell of a table. */
static void put_markdown(const struct page *page, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            (void)fputc('\\', page->stream);
        (void)fputc(*text, page->stream);
    }
}

/* Escapes characters that the formatter would replace by a similar sign. */
static void put_manual_letter(const struct page *page, char c)
{
    switch (c) {
    case '\\':
        (void)fputs("\\e", page->stream);
        break;
    case '-':
        (void)fputs("\\-", page->stream);
        break;
    case '~':
        (void)fputs("\\(ti", page->stream);
        break;
    case '^':
        (void)fputs("\\(ha", page->stream);
        break;
    case '\'':
        (void)fputs("\\(aq", page->stream);
        break;
    default:
        (void)fputc(c, page->stream);
        break;
    }
}

/* Protects a point at the start of a line with an invisible sign: it would be a request. */
static void put_manual(const struct page *page, const char *text)
{
    bool literal = false;

    if (text[0] == '.')
        (void)fputs("\\&", page->stream);
    for (; *text; text++) {
        if (*text == '`') {
            literal = !literal;
            (void)fputs(literal ? "\\fB" : "\\fR", page->stream);
        } else {
            put_manual_letter(page, *text);
        }
    }
}

static void put(const struct page *page, const char *text)
{
    if (page->form == PAGE_MARKDOWN)
        put_markdown(page, text);
    else
        put_manual(page, text);
}

/* --- parts ------------------------------------------------------------------------------------ */

void page_comment(const struct page *page, const char *text)
{
    if (page->form == PAGE_MARKDOWN)
        (void)fprintf(page->stream, "<!-- %s -->\n", text);
    else
        (void)fprintf(page->stream, ".\\\" %s\n", text);
}

void page_title(const struct page *page, const char *name, const char *section, const char *book)
{
    if (page->form == PAGE_MANUAL)
        (void)fprintf(page->stream, ".TH %s %s \"\" weir \"%s\"\n", name, section, book);
}

void page_heading(const struct page *page, const char *text)
{
    if (page->form == PAGE_MARKDOWN) {
        (void)fprintf(page->stream, "\n## %s\n", text);
        return;
    }
    (void)fputs(".SH ", page->stream);
    for (; *text; text++) {
        if (*text != '`')
            (void)fputc(toupper((unsigned char)*text), page->stream);
    }
    (void)fputc('\n', page->stream);
}

void page_paragraph(const struct page *page, const char *text)
{
    (void)fputs(page->form == PAGE_MARKDOWN ? "\n" : ".PP\n", page->stream);
    put(page, text);
    (void)fputc('\n', page->stream);
}

void page_example(const struct page *page, const char *lines)
{
    if (page->form == PAGE_MARKDOWN) {
        (void)fprintf(page->stream, "\n```yaml\n%s```\n", lines);
        return;
    }
    (void)fputs(".PP\n.in +4n\n.EX\n", page->stream);
    while (*lines) {
        size_t length = strcspn(lines, "\n");

        if (lines[0] == '.')
            (void)fputs("\\&", page->stream);
        for (size_t i = 0; i < length; i++)
            put_manual_letter(page, lines[i]);
        (void)fputc('\n', page->stream);
        lines += length + (lines[length] == '\n');
    }
    (void)fputs(".EE\n.in\n", page->stream);
}

void page_term(const struct page *page, const char *term, const char *meaning)
{
    (void)fputs(page->form == PAGE_MARKDOWN ? "- **" : ".TP\n\\fI", page->stream);
    put(page, term);
    (void)fputs(page->form == PAGE_MARKDOWN ? "**: " : "\\fR\n", page->stream);
    put(page, meaning);
    (void)fputc('\n', page->stream);
}

/* --- keys ------------------------------------------------------------------------------------- */

void page_begin_keys(const struct page *page)
{
    if (page->form == PAGE_MARKDOWN)
        (void)fputs("\n| key | takes | default | meaning |\n|---|---|---|---|\n", page->stream);
}

void page_end_keys(const struct page *page)
{
    if (page->form == PAGE_MANUAL)
        (void)fputs(".PP\n", page->stream);
}

static void add_cells(const struct page *page, const struct page_key *key)
{
    (void)fprintf(page->stream, "| `%s` | ", key->name);
    put(page, key->takes);
    (void)fputs(" | ", page->stream);
    if (key->fallback)
        (void)fprintf(page->stream, "`%s`", key->fallback);
    (void)fputs(" | ", page->stream);
    put(page, key->help ? key->help : "");
    (void)fputs(" |\n", page->stream);
}

static void add_tagged(const struct page *page, const struct page_key *key)
{
    (void)fputs(".TP\n\\fB", page->stream);
    put(page, key->name);
    (void)fputs("\\fR: ", page->stream);
    put(page, key->takes);
    if (key->fallback) {
        (void)fputs(", default \\fB", page->stream);
        put(page, key->fallback);
        (void)fputs("\\fR", page->stream);
    }
    (void)fputc('\n', page->stream);
    put(page, key->help ? key->help : "\\&");
    (void)fputc('\n', page->stream);
}

void page_add_key(const struct page *page, const struct page_key *key)
{
    if (page->form == PAGE_MARKDOWN)
        add_cells(page, key);
    else
        add_tagged(page, key);
}
