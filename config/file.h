/*
 * config/file.h - takes a regular file into memory, whatever stands under its name.
 *
 * A pipe, a device or a directory under the name is refused without waiting for it.
 */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stddef.h>

/*
 * Reads `file`, of at most `max` bytes. `*out_bytes` is returned owned (free), with a NUL behind
 * its `*out_size` bytes. WEIR_EUNKNOWN it cannot be opened or read, WEIR_EINVALID it is no regular
 * file, too large, or written again and again while it is read, WEIR_ENOMEM; and a reason in `why`,
 * cut at why_size, that does not name the file.
 */
int file_read(const char *file, size_t max, char **out_bytes, size_t *out_size, char *why,
              size_t why_size);

#endif
