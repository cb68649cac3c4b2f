/* SPDX-License-Identifier: MIT */
/*
 * config/sample.h - writes a configuration file with every key, its values and its default, from
 * the tables of config/language.h.
 *
 * Its output is config/weir.yaml, which is installed as etc/weir/weir.yaml; a test compares them.
 */
#ifndef CONFIG_SAMPLE_H
#define CONFIG_SAMPLE_H

#include <stdio.h>

/* Writes the whole file. Borrows the stream; its owner checks it for errors. */
void sample_write(FILE *stream);

#endif
