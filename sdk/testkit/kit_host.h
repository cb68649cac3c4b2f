/* SPDX-License-Identifier: MIT */
/*
 * kit_host.h - the host table that the plugin calls.
 *
 * Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_HOST_H
#define SDK_TESTKIT_KIT_HOST_H

#include "kit.h"

/* The complete table; static. */
const struct weir_host *kit_host_table(void);

/* Frees the recorded calls. */
void kit_host_finish(struct weir_kit *kit);

#endif
