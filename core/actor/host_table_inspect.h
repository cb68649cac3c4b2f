/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_inspect.h - the row of the host table that inspects.
 */
#ifndef ACTOR_HOST_TABLE_INSPECT_H
#define ACTOR_HOST_TABLE_INSPECT_H

#include <weir/host.h>

int host_inspect(struct weir_self *self, weir_pid other, const char *const *items,
                 uint64_t timeout_ms, weir_then *then, void *context, uint64_t *out_reference);

#endif
