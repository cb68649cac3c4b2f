/* SPDX-License-Identifier: MIT */
/*
 * pool/host_table_pool.h - the part of the host table that is about pools: see <weir/host.h>.
 */
#ifndef POOL_HOST_TABLE_POOL_H
#define POOL_HOST_TABLE_POOL_H

#include "actor/actor.h"

struct pool;

/* WEIR_EUNKNOWN, WEIR_ETERMINATED, WEIR_EINVALID: it is no pool. In a read section. */
int host_table_find_pool(struct actor *actor, weir_pid pid, struct pool **out);

weir_pid host_table_pool(struct weir_self *self);
uint32_t host_table_pool_size(struct weir_self *self);
int host_table_pool_resize(struct weir_self *self, weir_pid pid, uint32_t target,
                           struct weir_resized *out);
int host_table_pool_add(struct weir_self *self, weir_pid pid, int32_t count,
                        struct weir_resized *out);
int host_table_pool_stats(struct weir_self *self, weir_pid pid, struct weir_pool_stats *out);
int host_table_pool_members(struct weir_self *self, weir_pid pid, struct weir_member *out,
                            uint32_t member_size, uint32_t max, uint32_t *out_count);
int host_table_pool_tell(struct weir_self *self, weir_pid pid, uint64_t epoch);
int host_table_pool_pause(struct weir_self *self, weir_pid pid, bool paused);

#endif
