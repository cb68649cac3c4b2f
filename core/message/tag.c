/* SPDX-License-Identifier: MIT */
#include "message/tag.h"

#include <string.h>

struct tag_entry {
    struct weir_tag tag;
    struct tag_entry *next;
    char name[];
};

void tag_table_init(struct tag_table *table)
{
    memset(table, 0, sizeof *table);
    lock_init(&table->lock, LOCK_TAGS);
}

void tag_table_finish(struct tag_table *table)
{
    vault_finish(&table->vault);
    lock_finish(&table->lock);
}

static struct tag_entry *find_locked(struct tag_table *table, size_t bucket, const char *name)
{
    struct tag_entry *entry = table->buckets[bucket];

    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

static struct tag_entry *add_locked(struct tag_table *table, size_t bucket, const char *name,
                                    size_t length)
{
    struct tag_entry *entry = vault_take(&table->vault, sizeof *entry + length + 1);

    if (!entry)
        return NULL;
    memcpy(entry->name, name, length + 1);
    entry->tag.name = entry->name;
    entry->next = table->buckets[bucket];
    table->buckets[bucket] = entry;
    return entry;
}

static struct tag_entry *intern(struct tag_table *table, const char *name, size_t length_max)
{
    size_t length = name ? strnlen(name, length_max + 1) : 0;
    size_t bucket;
    struct tag_entry *entry;

    if (length == 0 || length > length_max)
        return NULL;
    bucket = weir_key(name, length) % TAG_BUCKETS;
    lock_acquire(&table->lock);
    entry = find_locked(table, bucket, name);
    if (!entry)
        entry = add_locked(table, bucket, name, length);
    lock_release(&table->lock);
    return entry;
}

const struct weir_tag *tag_table_get(struct tag_table *table, const char *name)
{
    struct tag_entry *entry = intern(table, name, TAG_NAME_MAX);

    return entry ? &entry->tag : NULL;
}

const char *tag_table_label(struct tag_table *table, const char *text)
{
    struct tag_entry *entry = intern(table, text, TAG_LABEL_MAX);

    return entry ? entry->name : NULL;
}
