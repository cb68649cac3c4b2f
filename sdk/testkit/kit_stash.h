/*
 * kit_stash.h - messages that the worker under test has put aside.
 */
#ifndef SDK_TESTKIT_KIT_STASH_H
#define SDK_TESTKIT_KIT_STASH_H

#include "kit.h"

/* What weir_stash and weir_unstash do. */
int kit_stash_put(struct weir_self *self, struct weir_message *message);
uint32_t kit_stash_give(struct weir_self *self, uint32_t count);

/* The incarnation has ended: what it had put aside is not the plugin's any more. */
void kit_stash_close(struct weir_kit *kit);

#endif
