/* SPDX-License-Identifier: MIT */
/*
 * config/file.h - reads a regular file into memory.
 *
 * A pipe, a device or a directory is refused without waiting for it.
 */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stddef.h>

/*
 * Reads `file`, of at most `max` bytes. `*out_bytes` is returned owned (free), with a NUL after its
 * `*out_size` bytes. WEIR_EUNKNOWN the file cannot be opened or read, WEIR_EINVALID it is no
 * regular file, is too large, or is written repeatedly while it is read, WEIR_ENOMEM. `why` gets
 * the reason without the file's name, truncated at why_size.
 */
int file_read(const char *file, size_t max, char **out_bytes, size_t *out_size, char *why,
              size_t why_size);

#endif
