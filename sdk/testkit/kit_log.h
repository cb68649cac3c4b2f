/* SPDX-License-Identifier: MIT */
/*
 * kit_log.h - the log of a plugin as lines of text.
 *
 * Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_LOG_H
#define SDK_TESTKIT_KIT_LOG_H

#include "kit.h"

/* For the table of the host. */
void kit_log_line(struct weir_self *self, enum weir_log_level level, const char *event,
                  const struct weir_field *fields);

#endif
