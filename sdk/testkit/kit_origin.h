/*
 * kit_origin.h - messages whose origin is the worker under test.
 */
#ifndef SDK_TESTKIT_KIT_ORIGIN_H
#define SDK_TESTKIT_KIT_ORIGIN_H

#include "kit.h"

/* The host call weir_set_origin. */
int kit_origin_set(struct weir_self *self, struct weir_message *message, uint64_t token);

static inline bool kit_origin_is_set(const struct weir_message *message)
{
    return ((const struct kit_message *)(const void *)message)->has_origin;
}

#endif
