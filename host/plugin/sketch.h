/* SPDX-License-Identifier: MIT */
/*
 * plugin/sketch.h - a configuration with every option of chosen behaviours, for `weir new config`.
 *
 * The behaviours form a chain: each one's first output leads to the next. Options with a default
 * are comments; required ones have an example value, marked `change this`. Pure except for the
 * stream.
 */
#ifndef HOST_PLUGIN_SKETCH_H
#define HOST_PLUGIN_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <weir/plugin.h>

#define SKETCH_PARTS_MAX 16

/* One behaviour of the chain. Borrowed. */
struct sketch_part {
    const char *use; /* PLUGIN.BEHAVIOUR */
    const struct weir_behaviour *behaviour;
};

/* The reason why these parts are no chain, such as "only the first may be a source"; NULL: they are
 * one. `out_wrong` is the index of the part that it is about. */
const char *sketch_refuses(const struct sketch_part *parts, size_t count, size_t *out_wrong);

/* Whether a part has an option that must be changed. */
bool sketch_has_marks(const struct sketch_part *parts, size_t count);

/* A file to be written. The parts are a chain. Borrowed. */
struct sketch {
    const char *name;
    char *const *folders; /* for `host.plugins` */
    size_t folder_count;
    const struct sketch_part *parts;
    size_t count;
};

void sketch_write(FILE *out, const struct sketch *sketch);

#endif
