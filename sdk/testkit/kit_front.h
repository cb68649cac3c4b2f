/* SPDX-License-Identifier: MIT */
/*
 * kit_front.h - the messages that `handle` gets next: unstashed, or put back. See
 * core/actor/front.h.
 */
#ifndef SDK_TESTKIT_KIT_FRONT_H
#define SDK_TESTKIT_KIT_FRONT_H

#include "kit.h"

/* The host call weir_put_back. */
int kit_front_put_back(struct weir_self *self, struct weir_message *message);

/* Adds the message at the end of the row. */
void kit_front_add(struct weir_kit *kit, struct kit_message *message);
void kit_front_end_row(struct weir_kit *kit);

#endif
