/* SPDX-License-Identifier: MIT */
/* load.work: the worker of the rows of `weir run`. It works, so many steps a message. */
#include <weir/plugin.h>

#include "row.h"

struct settings {
    uint64_t steps;
};

struct load {
    uint64_t steps;
    uint64_t noise;
};

static int open_load(struct weir_self *self, const void *settings, void *memory)
{
    (void)self;
    ((struct load *)memory)->steps = ((const struct settings *)settings)->steps;
    return 0;
}

static int work(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct load *load = memory;

    (void)self;
    load->noise = row_work(load->noise + *(const uint64_t *)message->data, load->steps);
    return WEIR_DONE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U64(struct settings, steps, .required = true, .max = INT64_MAX,
                    .help = "of work with each message; 900 take about 1 us"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "work",
        .summary = "works and forgets",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct load),
        .open = open_load,
        .handle = work,
    },
    { 0 },
};

WEIR_PLUGIN("load", "1.0.0", behaviours);
