/* SPDX-License-Identifier: MIT */
/*
 * kit_watch.h - descriptors that the worker under test watches.
 */
#ifndef SDK_TESTKIT_KIT_WATCH_H
#define SDK_TESTKIT_KIT_WATCH_H

#include "kit.h"

/* The host calls weir_watch and weir_unwatch. */
int kit_watch_begin(struct weir_self *self, int descriptor, uint32_t events, weir_ready *ready,
                    void *context, uint64_t *out_watch);
int kit_watch_end(struct weir_self *self, uint64_t watch);

/* At the end of the incarnation: ends its watches. */
void kit_watch_finish(struct weir_kit *kit);

#endif
