/*
 * actor/host_table_messages.h - rows of the host table about messages: their origins.
 */
#ifndef ACTOR_HOST_TABLE_MESSAGES_H
#define ACTOR_HOST_TABLE_MESSAGES_H

#include <weir/host.h>

int host_set_origin(struct weir_self *self, struct weir_message *message, uint64_t token);

#endif
