/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_events.h - rows of the host table about events.
 */
#ifndef ACTOR_HOST_TABLE_EVENTS_H
#define ACTOR_HOST_TABLE_EVENTS_H

#include <weir/host.h>

int host_event(struct weir_self *self, const char *name, uint64_t *out_event);
int host_subscribe(struct weir_self *self, const char *name);
int host_unsubscribe(struct weir_self *self, const char *name);
int host_publish(struct weir_self *self, uint64_t event, struct weir_message *message,
                 uint32_t *out_taken, uint32_t *out_refused);

#endif
