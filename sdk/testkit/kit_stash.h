/* SPDX-License-Identifier: MIT */
/*
 * kit_stash.h - the stash of the worker under test.
 */
#ifndef SDK_TESTKIT_KIT_STASH_H
#define SDK_TESTKIT_KIT_STASH_H

#include "kit.h"

/* The host calls weir_stash and weir_unstash. */
int kit_stash_put(struct weir_self *self, struct weir_message *message);
uint32_t kit_stash_give(struct weir_self *self, uint32_t count);

/* At the end of the incarnation: drops the messages of its stash. */
void kit_stash_close(struct weir_kit *kit);

#endif
