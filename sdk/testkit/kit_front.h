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

/* Inserts the message at this place of the front. Returns the place behind it. */
struct kit_message **kit_front_insert(struct kit_message **link, struct kit_message *message);

#endif
