/*
 * config/syntax.h - says in our words why libyaml cannot read a text, and where.
 */
#ifndef CONFIG_SYNTAX_H
#define CONFIG_SYNTAX_H

#include <yaml.h>

#include "base/report.h"
#include "config/source.h"

/* Reports what stopped `parser`. WEIR_EINVALID, or WEIR_ENOMEM when it was memory. */
int syntax_report(const yaml_parser_t *parser, const struct config_text *text,
                  struct report *report);

#endif
