/* SPDX-License-Identifier: MIT */
/*
 * config/reference_page.h - writes one page, as Markdown or as a manual page for man(7).
 *
 * Texts are plain except for `literals` between backticks; characters that have a meaning in the
 * form are escaped here. Not synchronised; borrows all.
 */
#ifndef CONFIG_REFERENCE_PAGE_H
#define CONFIG_REFERENCE_PAGE_H

#include <stdio.h>

enum page_form {
    PAGE_MARKDOWN,
    PAGE_MANUAL,
};

struct page {
    FILE *stream;
    enum page_form form;
};

/* A key and its description. NULL = empty. */
struct page_key {
    const char *name;
    const char *takes;
    const char *fallback; /* the default, a literal */
    const char *help;
};

void page_heading(const struct page *page, const char *text);
void page_paragraph(const struct page *page, const char *text);
/* Writes lines as they are; each ends with a line end. */
void page_example(const struct page *page, const char *lines);

/* Writes a term and its meaning; several make a list. */
void page_term(const struct page *page, const char *term, const char *meaning);

/* A table of keys: begin, the keys, end. */
void page_begin_keys(const struct page *page);
void page_add_key(const struct page *page, const struct page_key *key);
void page_end_keys(const struct page *page);

/* The comment at the start of both forms, for people who edit the file. */
void page_comment(const struct page *page, const char *text);

/* A manual page's first line; nothing in Markdown. */
void page_title(const struct page *page, const char *name, const char *section, const char *book);

#endif
