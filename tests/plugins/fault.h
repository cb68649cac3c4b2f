/* SPDX-License-Identifier: MIT */
/*
 * fault.h - the correct parts of every faulty plugin. Each of them breaks one rule.
 */
#ifndef TESTS_PLUGINS_FAULT_H
#define TESTS_PLUGINS_FAULT_H

#include <weir/plugin.h>

static inline int fault_handle(struct weir_self *self, void *state,
                               const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

struct fault_settings {
    uint32_t keep;
};

#endif
