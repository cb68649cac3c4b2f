/* SPDX-License-Identifier: MIT */
/*
 * kit_blob.h - payloads that several messages share.
 *
 * A blob lives as long as the kit. The kit counts the holds of the plugin.
 */
#ifndef SDK_TESTKIT_KIT_BLOB_H
#define SDK_TESTKIT_KIT_BLOB_H

#include "kit.h"

/* The host calls of weir/blob.h. */
struct weir_blob *kit_blob_new(struct weir_self *self, size_t size);
struct weir_message *kit_blob_message(struct weir_self *self, const struct weir_tag *tag,
                                      struct weir_blob *blob);
struct weir_blob *kit_blob_find(struct weir_self *self, const struct weir_message *message);

/* Adds a problem for each blob that is still held. */
void kit_blob_find_forgotten(struct weir_kit *kit);
/* Frees all of them. */
void kit_blob_finish(struct weir_kit *kit);

#endif
