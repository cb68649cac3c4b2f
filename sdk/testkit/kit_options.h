/* SPDX-License-Identifier: MIT */
/*
 * kit_options.h - makes settings from a text with the table of options and `check`, as the host
 * does.
 *
 * The settings live until the kit is destroyed, since a plugin may read those of its `open` until
 * its `close`. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_OPTIONS_H
#define SDK_TESTKIT_KIT_OPTIONS_H

#include "kit.h"

/* Checks the table of options as the host does when it loads a plugin; adds a problem. */
void kit_options_check_table(struct weir_kit *kit);
void kit_options_finish(struct weir_kit *kit);

#endif
