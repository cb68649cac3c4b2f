/* SPDX-License-Identifier: MIT */
/*
 * sort.h - the behaviour thumbs.sort: separates small pictures from large ones by their headers.
 */
#ifndef SORT_H
#define SORT_H

#include <weir/plugin.h>

struct sort_settings {
    uint64_t large;
    uint64_t most;
};

struct sort {
    const struct sort_settings *settings; /* borrowed until close */
    const struct weir_tag *picture_tag;
    const struct weir_tag *result_tag;
};

void sort_check(const void *settings, struct weir_report *report);
int sort_open(struct weir_self *self, const void *settings, void *memory);
int sort_handle(struct weir_self *self, void *memory, const struct weir_message *message);

extern const struct weir_option sort_options[];
extern const struct weir_output sort_outputs[];

#endif
