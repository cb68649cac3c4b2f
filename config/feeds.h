/*
 * config/feeds.h - what a source leads to: workers must be there, and keys where they are needed.
 */
#ifndef CONFIG_FEEDS_H
#define CONFIG_FEEDS_H

#include "config/checking.h"

/* Reports what each source cannot do. After pools and sources were read. WEIR_ENOMEM. */
int feeds_check(struct checking *checking);

#endif
