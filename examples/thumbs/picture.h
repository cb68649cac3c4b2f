/*
 * picture.h - all that is asked of libvips.
 *
 * Any thread, any number at the same time. What goes wrong is told in words of
 * our own: the texts of libvips lie in one buffer for the whole process, where
 * those of several workers would mix.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <weir/plugin.h>

struct picture_header {
    uint32_t width; /* pixels */
    uint32_t height;
    bool is_drawn; /* has no pixels of its own: drawn in the size that is asked
                    for */
};

struct picture_thumb {
    void *bytes; /* owned; a file of PNG */
    size_t size;
    uint32_t width;
    uint32_t height;
};

/* For `open`: 0, or a failure with its reason when libvips did not start. */
int picture_ready(struct weir_self *self);

/* Reads the header. NULL, or why not (static text). Never waits for a FIFO or a
 * device. */
const char *picture_look(const char *path, struct picture_header *out);

/* Makes it fit into a square; never makes it larger. NULL, or why not (static
 * text). */
const char *picture_scale(const char *path, uint32_t edge, struct picture_thumb *out);

void picture_free(struct picture_thumb *thumb);

#endif
