/*
 * actor/host_table_source.h - struct weir_host, as sources see it.
 */
#ifndef ACTOR_HOST_TABLE_SOURCE_H
#define ACTOR_HOST_TABLE_SOURCE_H

#include <weir/host.h>

int host_leave_position(struct weir_self *self, const void *data, size_t size);

#endif
