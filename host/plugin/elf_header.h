/*
 * plugin/elf_header.h - is this the beginning of a shared object for this machine? Pure.
 *
 * dlopen says "invalid ELF header" or, of a text file, worse. This says what was wanted and found.
 */
#ifndef HOST_PLUGIN_ELF_HEADER_H
#define HOST_PLUGIN_ELF_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "host/plugin/problem.h"

#define ELF_HEADER_SIZE 64 /* of the longer, 64-bit form */

/*
 * Checks the first `size` bytes of the file called `file`. 0, or WEIR_EUNSUPPORTED and why; the
 * sentence begins with the file's name.
 */
int elf_header_check(const unsigned char *bytes, size_t size, const char *file,
                     struct problem *problem);

/*
 * Of a header that was accepted: are all parts that it tells of within the file's `file_size`
 * bytes? A file that is still being written is not, and mapping it may be deadly. As above.
 */
int elf_header_check_whole(const unsigned char *bytes, size_t size, uint64_t file_size,
                           const char *file, struct problem *problem);

#endif
