/* SPDX-License-Identifier: MIT */
/*
 * report.h - the behaviour thumbs.report: prints the result for each picture.
 */
#ifndef REPORT_H
#define REPORT_H

#include <weir/plugin.h>

struct report {
    const struct weir_tag *tag;
    uint64_t done;
    uint64_t failed;
};

int report_open(struct weir_self *self, const void *settings, void *memory);
int report_handle(struct weir_self *self, void *memory, const struct weir_message *message);
void report_close(struct weir_self *self, void *memory, int reason);

#endif
