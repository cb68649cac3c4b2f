/* SPDX-License-Identifier: MIT */
/*
 * message/tag.h - interned names: of payload types, and labels for the crash handler.
 *
 * Append-only: a tag lives as long as its table, so reading needs no lock. Any thread.
 */
#ifndef MESSAGE_TAG_H
#define MESSAGE_TAG_H

#include "base/lock.h"
#include "message/vault.h"

#include <weir/message.h>

#define TAG_BUCKETS 256 /* a host has tens of tags */
#define TAG_NAME_MAX 128
#define TAG_TASK "weir.task" /* the payload is a struct weir_task_call */
#define TAG_LABEL_MAX 512    /* a plugin's name, version and behaviour */

struct tag_entry;

struct tag_table {
    struct lock lock;                       /* writers */
    struct tag_entry *buckets[TAG_BUCKETS]; /* lock */
    struct vault vault;                     /* lock: the entries */
};

void tag_table_init(struct tag_table *table);
void tag_table_finish(struct tag_table *table);

/* The one tag of a name, borrowed until the table ends; NULL: out of memory, or a name that is
 * empty or longer than TAG_NAME_MAX. */
const struct weir_tag *tag_table_get(struct tag_table *table, const char *name);

/* The only copy of a text of at most TAG_LABEL_MAX bytes, where plugins cannot overwrite it;
 * borrowed until the table ends. NULL: out of memory, empty or too long. */
const char *tag_table_label(struct tag_table *table, const char *text);

#endif
