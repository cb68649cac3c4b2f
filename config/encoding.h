/*
 * config/encoding.h - is a text one that can be read: UTF-8, and nothing that slows the parser?
 */
#ifndef CONFIG_ENCODING_H
#define CONFIG_ENCODING_H

#include "base/report.h"

/*
 * Looks through a whole text before it is parsed. Refuses UTF-16 and UTF-32, NUL, control
 * characters, broken UTF-8, and lines of %TAG directives, whose number libyaml compares
 * quadratically. Reports the first at its place under the name `file`. WEIR_EINVALID.
 */
int encoding_check(const char *file, const char *bytes, size_t size, struct report *report);

/* The same for a text without lines: NULL, or what is wrong. Static. */
const char *encoding_problem(const char *bytes, size_t size);

#endif
