/* SPDX-License-Identifier: MIT */
/*
 * picture.h - the calls of libvips.
 *
 * Any thread, any number at the same time. Errors have texts of our own: libvips keeps its texts in
 * one buffer for the whole process, where those of several workers would mix.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <weir/plugin.h>

struct picture_header {
    uint32_t width; /* pixels */
    uint32_t height;
    bool is_drawn; /* has no pixels of its own: drawn in the requested size */
};

struct picture_thumb {
    void *bytes; /* owned; a file of PNG */
    size_t size;
    uint32_t width;
    uint32_t height;
};

/* For `open`: 0, or a failure with its reason when libvips did not start. */
int picture_ready(struct weir_self *self);

/* Reads the header. NULL, or the reason of the failure (static text). Never waits for a FIFO or a
 * device. */
const char *picture_look(const char *path, struct picture_header *out);

/* Reduces it to fit into a square; never enlarges it. NULL, or the reason of the failure (static
 * text). */
const char *picture_scale(const char *path, uint32_t edge, struct picture_thumb *out);

/* The same for a picture in memory. One of more than `most` pixels is refused by its header.
 * Borrows the bytes until it returns. */
const char *picture_scale_bytes(const void *bytes, size_t size, uint32_t edge, uint64_t most,
                                struct picture_thumb *out);

void picture_free(struct picture_thumb *thumb);

#endif
