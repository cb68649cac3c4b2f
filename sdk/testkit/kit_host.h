/*
 * kit_host.h - the table that the plugin calls in place of a host's.
 *
 * Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_HOST_H
#define SDK_TESTKIT_KIT_HOST_H

#include "kit.h"

/* The table, complete; lives for ever. */
const struct weir_host *kit_host_table(void);

/* Frees what was noted. */
void kit_host_finish(struct weir_kit *kit);

#endif
