/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_messages.h - rows of the host table about messages: origins, chains, the stash,
 * putting back, blobs; and a name.
 */
#ifndef ACTOR_HOST_TABLE_MESSAGES_H
#define ACTOR_HOST_TABLE_MESSAGES_H

#include <weir/host.h>

struct weir_message *host_message_new(struct weir_self *self, const struct weir_tag *tag,
                                      size_t size);
struct weir_message *host_message_labelled(struct weir_self *self, const struct weir_tag *tag,
                                           size_t size, const char *label);
int host_set_identity(struct weir_self *self, struct weir_message *message, const void *bytes,
                      size_t size);
int host_message_fits(struct weir_self *self, size_t size);
int host_set_origin(struct weir_self *self, struct weir_message *message, uint64_t token);
int host_join(struct weir_self *self, struct weir_message *message, struct weir_message *with);
int host_detach(struct weir_self *self, struct weir_message *message);
int host_send_chain(struct weir_self *self, weir_pid to, struct weir_message *const *messages,
                    uint32_t count);
int host_stash(struct weir_self *self, struct weir_message *message);
uint32_t host_unstash(struct weir_self *self, uint32_t count);
int host_put_back(struct weir_self *self, struct weir_message *message);
struct weir_blob *host_blob_new(struct weir_self *self, size_t size);
struct weir_message *host_message_with_blob(struct weir_self *self, const struct weir_tag *tag,
                                            struct weir_blob *blob);
struct weir_blob *host_message_blob(struct weir_self *self, const struct weir_message *message);
uint64_t host_time_left(struct weir_self *self, const struct weir_message *message);
int host_rename(struct weir_self *self, const char *from, const char *to);

#endif
