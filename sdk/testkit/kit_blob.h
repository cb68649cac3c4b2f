/*
 * kit_blob.h - payloads that several messages share.
 *
 * None is freed before the kit. What is counted are the holds of the plugin.
 */
#ifndef SDK_TESTKIT_KIT_BLOB_H
#define SDK_TESTKIT_KIT_BLOB_H

#include "kit.h"

/* What the calls of weir/blob.h do. */
struct weir_blob *kit_blob_new(struct weir_self *self, size_t size);
struct weir_message *kit_blob_message(struct weir_self *self, const struct weir_tag *tag,
                                      struct weir_blob *blob);
struct weir_blob *kit_blob_find(struct weir_self *self, const struct weir_message *message);

/* Notes what is held still, and frees all. */
void kit_blob_find_forgotten(struct weir_kit *kit);
void kit_blob_finish(struct weir_kit *kit);

#endif
