/* SPDX-License-Identifier: MIT */
/*
 * config/syntax.h - explains why libyaml cannot read a text, and where.
 */
#ifndef CONFIG_SYNTAX_H
#define CONFIG_SYNTAX_H

#include <yaml.h>

#include "base/report.h"
#include "config/source.h"

/* Reports why `parser` stopped. WEIR_EINVALID, or WEIR_ENOMEM when memory was out. */
int syntax_report(const yaml_parser_t *parser, const struct config_text *text,
                  struct report *report);

#endif
