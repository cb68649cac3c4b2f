/* SPDX-License-Identifier: MIT */
/*
 * host_table.h - the runtime as behaviours see it: struct weir_host, put together from the rows of
 * actors and of pools.
 */
#ifndef HOST_TABLE_H
#define HOST_TABLE_H

#include <weir/host.h>

extern const struct weir_host host_table;

#endif
