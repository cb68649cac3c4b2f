/* SPDX-License-Identifier: MIT */
/*
 * kit_inspect.h - weir_inspect, and the figures of the behaviour under test.
 */
#ifndef SDK_TESTKIT_KIT_INSPECT_H
#define SDK_TESTKIT_KIT_INSPECT_H

#include "kit.h"

/* The host call weir_inspect: a request without a message, for weir_kit_answer. */
int kit_inspect_ask(struct weir_self *self, weir_pid other, const char *const *items,
                    uint64_t timeout_ms, weir_then *then, void *context, uint64_t *out_reference);

#endif
