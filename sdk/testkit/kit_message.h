/* SPDX-License-Identifier: MIT */
/*
 * kit_message.h - every message of a test, and its owner.
 *
 * A message lives as long as the kit, so no two messages have the same address. A message that does
 * not belong to the plugin any more loses its payload. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_MESSAGE_H
#define SDK_TESTKIT_KIT_MESSAGE_H

#include "kit.h"

/* A message with zeroed payload. NULL: there is no memory for so large a payload. */
struct kit_message *kit_message_make(struct weir_kit *kit, enum kit_owner owner,
                                     const struct weir_tag *tag, size_t size);
/* A copy of all public fields and the payload. */
struct kit_message *kit_message_copy(struct weir_kit *kit, enum kit_owner owner,
                                     const struct weir_message *like);

/* True when the plugin may send or free it; else adds a problem. `doing` is a word such as
 * "sent". */
bool kit_message_is_owned(struct weir_kit *kit, const struct weir_message *message,
                          const char *doing);
/* Changes the owner; frees the payload unless the message was sent, since the test reads sent
 * ones. */
void kit_message_give(struct kit_message *message, enum kit_owner owner);
/* After `handle`: settled by the verdict, or kept. */
void kit_message_settle(struct weir_kit *kit, struct kit_message *message, int verdict);
/* True for a verdict that weir_settle takes. */
bool kit_message_is_settling(int verdict);
/* weir_settle. */
int kit_message_settle_kept(struct weir_kit *kit, struct weir_message *message, int verdict);
/* As core after a `flush` that returned WEIR_DONE. */
void kit_message_settle_all_kept(struct weir_kit *kit);
size_t kit_message_kept_count(const struct weir_kit *kit);
/* The most that its behaviour may keep. */
uint32_t kit_message_in_hand_max(const struct weir_kit *kit);

/* Adds a problem for each forgotten message. */
void kit_message_find_forgotten(struct weir_kit *kit);
void kit_message_finish(struct weir_kit *kit);

#endif
