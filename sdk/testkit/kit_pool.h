/* SPDX-License-Identifier: MIT */
/*
 * kit_pool.h - the pool of the worker under test: the figures of weir_kit_pool.
 */
#ifndef SDK_TESTKIT_KIT_POOL_H
#define SDK_TESTKIT_KIT_POOL_H

#include "kit.h"

/* The host calls weir_pool_resize and the others of a pool. */
int kit_pool_resize(struct weir_self *self, weir_pid pool, uint32_t target,
                    struct weir_resized *out);
int kit_pool_add(struct weir_self *self, weir_pid pool, int32_t count, struct weir_resized *out);
int kit_pool_stats(struct weir_self *self, weir_pid pool, struct weir_pool_stats *out);
int kit_pool_members(struct weir_self *self, weir_pid pool, struct weir_member *out,
                     uint32_t member_size, uint32_t max, uint32_t *out_count);
int kit_pool_pause(struct weir_self *self, weir_pid pool, bool paused);
int kit_pool_tell(struct weir_self *self, weir_pid pool, uint64_t epoch);
uint32_t kit_pool_size(struct weir_self *self);

/* At the end of the kit. */
void kit_pool_finish(struct weir_kit *kit);

#endif
