/*
 * report.h - the behaviour words.report: totals of the shards in, a table for people out.
 */
#ifndef REPORT_H
#define REPORT_H

#include <weir/plugin.h>

#include "table.h"

struct report_settings {
    uint32_t top;
};

struct report {
    const struct report_settings *settings; /* borrowed until close */
    const struct weir_tag *totals_tag;
    struct table words;
    uint64_t *shards; /* owned; words that each shard counted */
    uint32_t shard_count;
    uint64_t unordered;
};

int report_open(struct weir_self *self, const void *settings, void *memory);
int report_handle(struct weir_self *self, void *memory, const struct weir_message *message);
void report_close(struct weir_self *self, void *memory, int reason);

extern const struct weir_option report_options[];

#endif
