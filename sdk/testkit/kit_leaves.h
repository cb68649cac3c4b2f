/* SPDX-License-Identifier: MIT */
/*
 * kit_leaves.h - finds what plugin code leaves in the process: threads, keys, signal handlers.
 */
#ifndef SDK_TESTKIT_KIT_LEAVES_H
#define SDK_TESTKIT_KIT_LEAVES_H

#include <stdbool.h>

/* See weir_kit_leaves_nothing. */
bool kit_leaves_nothing(void (*work)(void *context), void *context);

#endif
