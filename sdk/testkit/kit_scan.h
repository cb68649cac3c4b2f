/*
 * kit_scan.h - walks over a text and knows its line and column; reads one text of plain YAML.
 *
 * See kit_yaml.h for what is plain. Aborts the program when there is no memory. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_SCAN_H
#define SDK_TESTKIT_KIT_SCAN_H

#include "base/option.h"

/* Where the reader is. Copied to look ahead. */
struct kit_scan {
    const char *at;
    struct mark mark; /* of the character there; columns count characters */
};

/* A text that is being read. */
struct kit_reading {
    struct kit_scan scan;
    struct text_store *store; /* of the texts that were read; borrowed */
    struct report *report;    /* borrowed */
    bool wrong;               /* something was reported */
};

/* Reports what is not plain, here or at a place; false, for returning it. */
bool kit_scan_refuse(struct kit_reading *reading, const char *what);
bool kit_scan_refuse_at(struct kit_reading *reading, struct mark mark, const char *what);

/* Whether all characters are ones that are read; asked once, before. */
bool kit_scan_check(struct kit_reading *reading);

/* Past one character; past blanks; past blanks, comments and line ends. */
void kit_scan_advance(struct kit_scan *scan);
void kit_scan_spaces(struct kit_scan *scan);
void kit_scan_content(struct kit_scan *scan);

bool kit_scan_is_end(char c);   /* of a line or of all */
bool kit_scan_is_blank(char c); /* likewise, or a blank */
/* A dash of a list; a line that begins or ends a document. */
bool kit_scan_is_item(const struct kit_scan *scan);
bool kit_scan_is_marker(const struct kit_scan *scan);

/*
 * Reads one text, in quotes or not; within brackets when `flow`. `*out_null`: it stands for
 * nothing, as `~` does. False after a report.
 */
bool kit_scan_text(struct kit_reading *reading, bool flow, struct option_text *out, bool *out_null);
/* Past blanks and a comment, to the end of the line. False after a report: there is more in it. */
bool kit_scan_end_line(struct kit_reading *reading);

#endif
