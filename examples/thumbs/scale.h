/* SPDX-License-Identifier: MIT */
/*
 * scale.h - the behaviour thumbs.scale: makes a thumbnail of a picture.
 */
#ifndef SCALE_H
#define SCALE_H

#include <weir/plugin.h>

struct scale_settings {
    const char *into;
    uint32_t edge;
};

struct scale {
    const struct scale_settings *settings; /* borrowed until close */
    const struct weir_tag *picture_tag;
    const struct weir_tag *result_tag;
    uint64_t done;
};

int scale_open(struct weir_self *self, const void *settings, void *memory);
int scale_handle(struct weir_self *self, void *memory, const struct weir_message *message);

extern const struct weir_option scale_options[];
extern const struct weir_output scale_outputs[];

#endif
