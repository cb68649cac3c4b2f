/* SPDX-License-Identifier: MIT */
/*
 * config/quarantine.h - pools that refuse messages which have crashed the host: the files that they
 * need.
 */
#ifndef CONFIG_QUARANTINE_H
#define CONFIG_QUARANTINE_H

#include "config/checking.h"

/* Records mistakes in `checking`. */
void quarantine_check(struct checking *checking);

#endif
