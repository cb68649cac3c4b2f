/*
 * recorder.h - appends numbers to a file, a line each, in batches of whole lines.
 *
 * Several recorders, also of several processes, may write one file: each batch is one append, so
 * lines never mix. Life: recorder_init .. recorder_finish. Not synchronised.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one batch at most: one append of whole pages. */
#define RECORDER_SIZE (64u * 1024u)

struct recorder {
    int descriptor; /* owned; -1 = none */
    int error;      /* errno of the last failure */
    char *buffer;   /* owned; RECORDER_SIZE bytes */
    size_t size;    /* bytes in it, of whole lines */
    uint32_t batch; /* const: lines in a batch at most */
    uint32_t lines; /* in the buffer */
};

/* Borrows the path. WEIR_ENOMEM; WEIR_EINVALID and `error` when the file cannot be opened. */
int recorder_init(struct recorder *recorder, const char *path, uint32_t batch);
/* Opens `path`, for what was renamed; what is in the buffer is written to the former file. The same
 * errors: then all stays as it was. */
int recorder_reopen(struct recorder *recorder, const char *path);
/* Legal twice. What has not been flushed is lost. */
void recorder_finish(struct recorder *recorder);

/* Adds a number. WEIR_EINVALID and `error` when a batch was full and could not be written. */
int recorder_add(struct recorder *recorder, uint64_t number);
/* Writes what there is. The same errors; what was not written stays for the next try. */
int recorder_flush(struct recorder *recorder);

#endif
