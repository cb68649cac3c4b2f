/* SPDX-License-Identifier: MIT */
/*
 * config/encoding.h - checks that a text is UTF-8 without constructs that slow the parser.
 */
#ifndef CONFIG_ENCODING_H
#define CONFIG_ENCODING_H

#include "base/report.h"

/*
 * Checks a whole text before it is parsed. Refuses UTF-16 and UTF-32, NUL, control characters,
 * broken UTF-8, and lines of %TAG directives, which libyaml compares in quadratic time. Reports the
 * first mistake at its position in `file`. WEIR_EINVALID.
 */
int encoding_check(const char *file, const char *bytes, size_t size, struct report *report);

/* Checks a text without lines. NULL when it is right, else a static text with the mistake. */
const char *encoding_problem(const char *bytes, size_t size);

#endif
