/*
 * kit_stash.h - messages that the worker under test has put aside.
 */
#ifndef SDK_TESTKIT_KIT_STASH_H
#define SDK_TESTKIT_KIT_STASH_H

#include "kit.h"

/* The host calls weir_stash and weir_unstash. */
int kit_stash_put(struct weir_self *self, struct weir_message *message);
uint32_t kit_stash_give(struct weir_self *self, uint32_t count);

/* The incarnation ends, and the messages of its stash with it. */
void kit_stash_close(struct weir_kit *kit);

#endif
