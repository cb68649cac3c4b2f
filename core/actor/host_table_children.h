/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_children.h - the rows of the host table about an actor's children.
 */
#ifndef ACTOR_HOST_TABLE_CHILDREN_H
#define ACTOR_HOST_TABLE_CHILDREN_H

#include <weir/host.h>

int host_spawn(struct weir_self *self, const struct weir_spawn_options *options,
               weir_pid *out_child);
int host_stop(struct weir_self *self, weir_pid child, bool now);
weir_pid host_parent(struct weir_self *self);

#endif
