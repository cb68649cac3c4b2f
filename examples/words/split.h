/*
 * split.h - the behaviour words.split: lines in, groups of words out.
 */
#ifndef SPLIT_H
#define SPLIT_H

#include <weir/plugin.h>

struct split {
    const struct weir_tag *line_tag;
    const struct weir_tag *group_tag;
    char *line; /* owned; the line in hand, in small letters */
    size_t capacity;
    uint64_t lines_done;
};

int split_open(struct weir_self *self, const void *settings, void *memory);
int split_handle(struct weir_self *self, void *memory, const struct weir_message *message);
void split_close(struct weir_self *self, void *memory, int reason);

extern const struct weir_output split_outputs[];

#endif
