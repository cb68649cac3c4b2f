/* SPDX-License-Identifier: MIT */
/*
 * compress.h - workers that read a file and write it compressed, under a temporary name.
 */
#ifndef PACK_COMPRESS_H
#define PACK_COMPRESS_H

#include <weir/plugin.h>

/* Takes a struct job, emits it with its sizes and checksum at output 0. */
extern const struct weir_behaviour compress_behaviour;

#endif
