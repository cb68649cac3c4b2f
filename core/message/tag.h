/*
 * message/tag.h - interned names of payload types.
 *
 * Append-only: a tag lives as long as its table, so reading needs no lock. Any thread.
 */
#ifndef MESSAGE_TAG_H
#define MESSAGE_TAG_H

#include <pthread.h>

#include <weir/message.h>

#define TAG_BUCKETS 256 /* a host has tens of tags */
#define TAG_NAME_MAX 128

struct tag_entry;

struct tag_table {
    pthread_mutex_t lock;                   /* writers */
    struct tag_entry *buckets[TAG_BUCKETS]; /* lock */
};

void tag_table_init(struct tag_table *table);
void tag_table_finish(struct tag_table *table);

/* The one tag of a name, borrowed until the table ends; NULL: out of memory, or a name that is
 * empty or longer than TAG_NAME_MAX. */
const struct weir_tag *tag_table_get(struct tag_table *table, const char *name);

#endif
