/* SPDX-License-Identifier: MIT */
/*
 * words.h - what a child writes to its standard error, as lines of the log.
 *
 * At most `limit` lines between words_begin and words_end, or words_next; further lines are
 * counted. A long line is cut. The last line is kept: it says most, and the host, which limits the
 * lines of one event, may have left it out. Zeroed memory with `event` and `limit` set is ready for
 * words_begin. Not synchronised.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

#include <weir/plugin.h>

#define WORDS_LINE_MAX 3000u /* bytes of a line; the rest is cut. A line of the log has 4096 */

struct words {
    const char *event; /* const: of the log lines */
    uint32_t limit;    /* const: lines that are logged; 0 = none */
    uint32_t lines;    /* lines since words_begin */
    uint64_t total;    /* lines ever */
    size_t size;       /* bytes of `line` */
    char line[WORDS_LINE_MAX + 1];
    char last[WORDS_LINE_MAX + 1]; /* the last line that is not blank; "" = none */
};

void words_begin(struct words *words);
/* Adds what was read. Borrows. */
void words_add(struct weir_self *self, struct words *words, long long process, const char *text,
               size_t size);
/* Logs how many lines were not logged, lets `limit` lines more through, and forgets the last
 * one. */
void words_next(struct weir_self *self, struct words *words, long long process);
/* Logs a last line without an end, and how many lines were not logged. */
void words_end(struct weir_self *self, struct words *words, long long process);
/* The last field of a log line: `said`, the last line; without one, no field. Borrows until the
 * next call. */
struct weir_field words_said(const struct words *words);

#endif
