/* SPDX-License-Identifier: MIT */
/*
 * kit_origin.h - messages whose origin is the worker under test.
 */
#ifndef SDK_TESTKIT_KIT_ORIGIN_H
#define SDK_TESTKIT_KIT_ORIGIN_H

#include "kit.h"

/* The host call weir_set_origin. */
int kit_origin_set(struct weir_self *self, struct weir_message *message, uint64_t token);

/* The host calls weir_join and weir_detach. */
int kit_origin_join(struct weir_self *self, struct weir_message *message,
                    struct weir_message *with);
int kit_origin_detach(struct weir_self *self, struct weir_message *message);

/* The message whose origin a message joins that leaves the worker; NULL: none. */
const struct weir_message *kit_origin_joined(struct weir_kit *kit, const struct weir_message *made,
                                             bool is_emitted);

static inline bool kit_origin_is_set(const struct weir_message *message)
{
    return ((const struct kit_message *)(const void *)message)->has_origin;
}

#endif
