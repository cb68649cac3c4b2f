/* SPDX-License-Identifier: MIT */
/*
 * kit_send.h - weir_send and the other calls that send. The kit records each message.
 */
#ifndef SDK_TESTKIT_KIT_SEND_H
#define SDK_TESTKIT_KIT_SEND_H

#include "kit.h"

/* Records that a message left. Copies. */
void kit_send_note(struct weir_kit *kit, const struct weir_kit_sent *sent);

/* Takes one place of the test's limit. */
int kit_send_take_room(struct weir_kit *kit);

/* Sends the message of a weir_send_after that is due; without room runs the plugin's callback. */
void kit_send_due(struct weir_kit *kit, const struct kit_due *due);

/* The host calls weir_send, weir_send_chain, weir_publish, weir_emit, weir_request, weir_reply and
 * weir_forward. */
int kit_send_message(struct weir_self *self, weir_pid to, enum weir_lane lane,
                     struct weir_message *message);
int kit_send_chain(struct weir_self *self, weir_pid to, struct weir_message *const *messages,
                   uint32_t count);
int kit_send_publish(struct weir_self *self, uint64_t token, struct weir_message *message,
                     uint32_t *out_taken, uint32_t *out_refused);
int kit_send_target(struct weir_self *self, uint32_t output, weir_pid *out_pid);
int kit_send_emit(struct weir_self *self, uint32_t output, struct weir_message *message);
int kit_send_request(struct weir_self *self, weir_pid to, enum weir_lane lane,
                     struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                     void *context, uint64_t *out_reference);
int kit_send_reply(struct weir_self *self, struct weir_message *to, struct weir_message *message);
int kit_send_forward(struct weir_self *self, weir_pid to, enum weir_lane lane,
                     struct weir_message *message);

#endif
