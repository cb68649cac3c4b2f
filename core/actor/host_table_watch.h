/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_watch.h - rows of the host table about watched descriptors.
 */
#ifndef ACTOR_HOST_TABLE_WATCH_H
#define ACTOR_HOST_TABLE_WATCH_H

#include <weir/host.h>

int host_watch(struct weir_self *self, int descriptor, uint32_t events, weir_ready *ready,
               void *context, uint64_t *out_watch);
int host_unwatch(struct weir_self *self, uint64_t watch);

#endif
