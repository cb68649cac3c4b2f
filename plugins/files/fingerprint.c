#include "fingerprint.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <weir/message.h>

/* Bytes read at once, on the stack; a multiple of a word. */
#define BLOCK ((size_t)16 * 1024)
/* Up to here the hash is weir_key. */
#define KEY_MAX 256u

/* 1; 0: the file ends before; -1: errno. */
static int read_at(int descriptor, char *to, size_t size, uint64_t offset)
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
static uint64_t mix(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof hash) {
        uint64_t word = 0;

        memcpy(&word, bytes + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
        hash ^= hash >> 32;
    }
    return hash;
}

/* As read_at. */
static int hash_range(int descriptor, uint64_t from, size_t size, uint64_t *out_hash)
{
    char block[BLOCK];
    uint64_t hash = size;

    for (size_t done = 0; done < size;) {
        size_t part = size - done < BLOCK ? size - done : BLOCK;
        int got = read_at(descriptor, block, part, from + done);

        if (got <= 0)
            return got;
        hash = size <= KEY_MAX ? weir_key(block, size) : mix(hash, block, part);
        done += part;
    }
    *out_hash = hash;
    return 1;
}

bool fingerprint_take(int descriptor, uint64_t end, struct fingerprint *out)
{
    struct fingerprint print = { .end = end };

    print.size = end < FINGERPRINT_MAX ? (uint32_t)end : FINGERPRINT_MAX;
    if (hash_range(descriptor, end - print.size, print.size, &print.hash) <= 0)
        return false;
    *out = print;
    return true;
}

int fingerprint_compare(int descriptor, const struct fingerprint *print)
{
    uint64_t hash = 0;
    int got = print->size == 0
                  ? 1
                  : hash_range(descriptor, print->end - print->size, print->size, &hash);

    if (got <= 0 || print->size == 0)
        return got;
    return hash == print->hash;
}
