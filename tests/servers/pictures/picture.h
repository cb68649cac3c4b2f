/* SPDX-License-Identifier: MIT */
/*
 * pictures/picture.h - reads a picture as many programs do: without handlers of errors. So libjpeg
 * calls exit, and libpng abort, for what it cannot read.
 */
#ifndef PICTURES_PICTURE_H
#define PICTURES_PICTURE_H

#include <stdint.h>

/* A JPEG or PNG file; the sum of its samples. 0: it cannot be opened, or is neither. */
uint64_t picture_sum(const char *path);

/* Writes a picture of WIDTH times HEIGHT, as a JPEG or a PNG. Returns 0 on success. */
int picture_make(const char *path, int is_png, unsigned width, unsigned height);

#endif
