/* SPDX-License-Identifier: MIT */
/*
 * weir/file_identity.h - is this still the file of that position? For a source that reads a file,
 * and goes on later where it was.
 *
 * A name says little: files are renamed, replaced and truncated. A file is the same when it has
 * the same inode, and still the bytes that were read last, up to 64 KiB before the position. It may
 * have grown, and have another name. A copy is another file; so is one that was written again.
 *
 *      struct weir_file_identity identity;
 *
 *      weir_file_identity_take(descriptor, offset, &identity)      when a position is saved
 *      weir_file_identity_compare(descriptor, &identity) > 0       when it is used: go on at offset
 *
 * A file that cannot be opened or read has not changed: keep its position, and try again. Included
 * by <weir/settling.h>, whose weir_settling_load_file and weir_settling_save_file do this for a
 * source of one file. Inline only, nothing to link. Any thread.
 */
#ifndef WEIR_FILE_IDENTITY_H
#define WEIR_FILE_IDENTITY_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#ifdef O_CLOEXEC /* POSIX.1-2008, which weir_add_plugin asks for */

/* The most bytes that are hashed: logs that begin alike, or repeat themselves, differ in so
 * many. */
#define WEIR_FINGERPRINT_MAX ((uint32_t)64 * 1024)

/* Bytes before a place of a file. A file that only grows keeps them. */
struct weir_fingerprint {
    uint64_t end;  /* of the hashed bytes in the file: an offset */
    uint32_t size; /* of the hashed bytes; 0 = none: every file has it */
    uint64_t hash; /* of up to 256 bytes: their weir_key */
};

struct weir_file_identity {
    uint64_t device; /* says whether its file system is there; it may change with a new start */
    uint64_t inode;
    struct weir_fingerprint print;
};

/* 1; 0: the file ends before; -1: errno. */
static inline int weir_fingerprint_read_(int descriptor, char *to, size_t size, uint64_t offset)
{
    size_t all = 0;

    while (all < size) {
        ssize_t got = pread(descriptor, to + all, size - all, (off_t)(offset + all));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return (int)got;
        all += (size_t)got;
    }
    return 1;
}

/* By words: eight times as fast as weir_key. Only the last block of a file is no multiple of
 * them. */
static inline uint64_t weir_fingerprint_mix_(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof hash) {
        uint64_t word = 0;

        memcpy(&word, bytes + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
        hash ^= hash >> 32;
    }
    return hash;
}

/* As weir_fingerprint_read_. */
static inline int weir_fingerprint_hash_(int descriptor, uint64_t from, size_t size,
                                         uint64_t *out_hash)
{
    char block[16 * 1024]; /* a multiple of a word */
    uint64_t hash = size;

    for (size_t done = 0; done < size;) {
        size_t part = size - done < sizeof block ? size - done : sizeof block;
        int got = weir_fingerprint_read_(descriptor, block, part, from + done);

        if (got <= 0)
            return got;
        hash = size <= 256 ? weir_key(block, size) : weir_fingerprint_mix_(hash, block, part);
        done += part;
    }
    *out_hash = hash;
    return 1;
}

/* Hashes the last bytes before `end`. False: they cannot be read, and `*out` is as before. */
static inline bool weir_fingerprint_take(int descriptor, uint64_t end, struct weir_fingerprint *out)
{
    const uint32_t size = end < WEIR_FINGERPRINT_MAX ? (uint32_t)end : WEIR_FINGERPRINT_MAX;
    uint64_t hash = 0;

    if (weir_fingerprint_hash_(descriptor, end - size, size, &hash) <= 0 && size > 0)
        return false;
    out->end = end;
    out->size = size;
    out->hash = hash;
    return true;
}

/* 1: the file has these bytes at that place; 0: it has others, or ends before; -1: they cannot be
 * read, and errno says why. */
static inline int weir_fingerprint_compare(int descriptor, const struct weir_fingerprint *print)
{
    uint64_t hash = 0;
    int got = print->size == 0 ? 1
                               : weir_fingerprint_hash_(descriptor, print->end - print->size,
                                                        print->size, &hash);

    if (got <= 0 || print->size == 0)
        return got;
    return hash == print->hash;
}

/*
 * Replaces a fingerprint by one up to `end`. False: it is as before, since these bytes cannot be
 * read, or those of the old one are no longer there. That is looked at after the new ones were
 * read: they may be of other content, and the old fingerprint shows that later, too.
 */
static inline bool weir_fingerprint_move(int descriptor, uint64_t end,
                                         struct weir_fingerprint *print)
{
    struct weir_fingerprint later;

    if (!weir_fingerprint_take(descriptor, end, &later) ||
        weir_fingerprint_compare(descriptor, print) <= 0)
        return false;
    *print = later;
    return true;
}

/* Takes the identity of an open file that was read up to `end`. Returns 0 or an errno; ENODATA: it
 * ends before, or cannot be read. */
static inline int weir_file_identity_take(int descriptor, uint64_t end,
                                          struct weir_file_identity *out)
{
    struct stat about;

    if (fstat(descriptor, &about) < 0)
        return errno;
    out->device = (uint64_t)about.st_dev;
    out->inode = (uint64_t)about.st_ino;
    return weir_fingerprint_take(descriptor, end, &out->print) ? 0 : ENODATA;
}

/* 1: this open file is still that one; 0: it is another one, or has been written again; -1: it
 * cannot be read, and errno says why: it has not changed. */
static inline int weir_file_identity_compare(int descriptor,
                                             const struct weir_file_identity *identity)
{
    struct stat about;

    if (fstat(descriptor, &about) < 0)
        return -1;
    if ((uint64_t)about.st_ino != identity->inode)
        return 0;
    return weir_fingerprint_compare(descriptor, &identity->print);
}

#endif

#endif
