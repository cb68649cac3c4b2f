/*
 * actor/host_table.h - the runtime as behaviours see it: struct weir_host.
 */
#ifndef ACTOR_HOST_TABLE_H
#define ACTOR_HOST_TABLE_H

#include <weir/host.h>

extern const struct weir_host host_table;

#endif
