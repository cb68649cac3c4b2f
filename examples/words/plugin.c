/*
 * words - counts the words of texts, in shards: each word is always counted by the same worker.
 */
#include "count.h"
#include "report.h"
#include "split.h"

static const struct weir_behaviour behaviours[] = {
    {
        .name = "split",
        .summary = "splits lines into words, grouped so that equal words have equal keys",
        .outputs = split_outputs,
        .state_size = sizeof(struct split),
        .open = split_open,
        .handle = split_handle,
        .close = split_close,
    },
    {
        .name = "count",
        .summary = "one shard: counts the words it is given, tells its totals when it closes",
        .outputs = count_outputs,
        .state_size = sizeof(struct count),
        .open = count_open,
        .handle = count_handle,
        .close = count_close,
    },
    {
        .name = "report",
        .summary = "adds up what the shards counted, and prints it",
        .options = report_options,
        .settings_size = sizeof(struct report_settings),
        .state_size = sizeof(struct report),
        .open = report_open,
        .handle = report_handle,
        .close = report_close,
    },
    { 0 },
};

WEIR_PLUGIN("words", "1.0.0", behaviours);
