/* SPDX-License-Identifier: MIT */
/*
 * base/dispatcher_policy.h - the settings of a dispatcher that its threads read, and that a reload
 * changes while they run.
 *
 * The reader of a file fills this struct, and the host gives it to core as a whole. So a key in it
 * needs no line between the language and its use in core. Zeros are valid: the usual policy.
 */
#ifndef BASE_DISPATCHER_POLICY_H
#define BASE_DISPATCHER_POLICY_H

#include <stdint.h>

struct dispatcher_policy {
    uint32_t budget; /* messages that an actor handles before another one runs; 0 = the usual */
};

#endif
