/* SPDX-License-Identifier: MIT */
/*
 * find.h - the behaviour thumbs.find: a source of the paths of pictures.
 */
#ifndef FIND_H
#define FIND_H

#include <glob.h>

#include <weir/plugin.h>

struct find_settings {
    struct weir_list paths;
};

struct find {
    const struct weir_tag *tag;
    glob_t files;
    size_t next; /* index of the next path */
};

int find_open(struct weir_self *self, const void *settings, void *memory);
int find_produce(struct weir_self *self, void *memory, uint32_t credit);
void find_close(struct weir_self *self, void *memory, int reason);

extern const struct weir_option find_options[];
extern const struct weir_output find_outputs[];

#endif
