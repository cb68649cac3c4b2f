/*
 * count.h - the behaviour words.count: a shard. Groups of words in, its totals out when it closes.
 */
#ifndef COUNT_H
#define COUNT_H

#include <weir/plugin.h>

#include "table.h"

struct count {
    const struct weir_tag *group_tag;
    const struct weir_tag *totals_tag;
    struct table words; /* word -> how often */
    struct table files; /* key of a file -> the last line seen of it */
    uint64_t counted;
    uint64_t unordered;
};

int count_open(struct weir_self *self, const void *settings, void *memory);
int count_handle(struct weir_self *self, void *memory, const struct weir_message *message);
void count_close(struct weir_self *self, void *memory, int reason);

extern const struct weir_output count_outputs[];

#endif
