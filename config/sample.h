/*
 * config/sample.h - a configuration file with every key, what it takes and its default, from the
 * tables of config/language.h.
 *
 * config/weir.yaml, which is installed as etc/weir/weir.yaml, is what this writes; a test compares
 * them.
 */
#ifndef CONFIG_SAMPLE_H
#define CONFIG_SAMPLE_H

#include <stdio.h>

/* Writes the whole file. Borrows the stream, whose errors are its owner's to ask for. */
void sample_write(FILE *stream);

#endif
