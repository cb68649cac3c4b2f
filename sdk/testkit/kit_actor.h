/* SPDX-License-Identifier: MIT */
/*
 * kit_actor.h - links, monitors, exits and names. The kit has no other actors, so links, monitors
 * and exits have no effect.
 */
#ifndef SDK_TESTKIT_KIT_ACTOR_H
#define SDK_TESTKIT_KIT_ACTOR_H

#include "kit.h"

/* The host calls weir_lookup, weir_link and weir_unlink, weir_monitor, weir_demonitor,
 * weir_trap_exits, weir_exit, weir_name and weir_rename. */
int kit_actor_lookup(struct weir_self *self, const char *name, weir_pid *out_pid);
int kit_actor_link(struct weir_self *self, weir_pid other);
int kit_actor_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor);
int kit_actor_demonitor(struct weir_self *self, uint64_t number);
int kit_actor_trap_exits(struct weir_self *self, bool on);
int kit_actor_exit(struct weir_self *self, weir_pid other, enum weir_end_reason why);
int kit_actor_name(struct weir_self *self, const char *name);
int kit_actor_rename(struct weir_self *self, const char *from, const char *to);

/* The incarnation ends, with its names and monitors. */
void kit_actor_close(struct weir_kit *kit);
void kit_actor_finish(struct weir_kit *kit);

#endif
