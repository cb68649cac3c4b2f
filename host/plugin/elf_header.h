/* SPDX-License-Identifier: MIT */
/*
 * plugin/elf_header.h - checks that a file begins like a shared object for this machine. Pure.
 *
 * Its messages name the wrong value and the expected one; those of dlopen ("invalid ELF header") do
 * not.
 */
#ifndef HOST_PLUGIN_ELF_HEADER_H
#define HOST_PLUGIN_ELF_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "host/plugin/problem.h"

#define ELF_HEADER_SIZE 64 /* of the longer, 64-bit form */

/*
 * Checks the first `size` bytes of the file named `file`. 0, or WEIR_EUNSUPPORTED with a sentence
 * that begins with the file's name.
 */
int elf_header_check(const unsigned char *bytes, size_t size, const char *file,
                     struct problem *problem);

/*
 * For an accepted header: checks that all of its parts lie within `file_size` bytes. They do not
 * while a file is still being written, and mapping such a file can crash. Result as above.
 */
int elf_header_check_whole(const unsigned char *bytes, size_t size, uint64_t file_size,
                           const char *file, struct problem *problem);

#endif
