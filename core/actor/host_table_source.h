/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_source.h - struct weir_host, as sources see it, and the targets of outputs.
 */
#ifndef ACTOR_HOST_TABLE_SOURCE_H
#define ACTOR_HOST_TABLE_SOURCE_H

#include <weir/host.h>

int host_leave_position(struct weir_self *self, const void *data, size_t size);
int host_target(struct weir_self *self, uint32_t output, weir_pid *out_pid);

#endif
