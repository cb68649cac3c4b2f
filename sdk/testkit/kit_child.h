/* SPDX-License-Identifier: MIT */
/*
 * kit_child.h - children that the behaviour under test has spawned. They never run.
 */
#ifndef SDK_TESTKIT_KIT_CHILD_H
#define SDK_TESTKIT_KIT_CHILD_H

#include "kit.h"

/* The host calls weir_spawn, weir_stop and weir_stop_now, and weir_parent. */
int kit_child_spawn(struct weir_self *self, const struct weir_spawn_options *options,
                    weir_pid *out_child);
int kit_child_stop(struct weir_self *self, weir_pid pid, bool now);
weir_pid kit_child_parent(struct weir_self *self);

/* The incarnation ends, with its children. */
void kit_child_end_all(struct weir_kit *kit);
void kit_child_finish(struct weir_kit *kit);

#endif
