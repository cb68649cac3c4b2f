/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - appends numbers to a file, one on each line, in batches of whole lines.
 *
 * Several recorders, also of several processes, may write one file: each batch is one append, so
 * lines never mix. Life: recorder_init .. recorder_finish. Not synchronised.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stddef.h>
#include <stdint.h>

/* The largest size of a batch: one append of whole pages. */
#define RECORDER_SIZE (64u * 1024u)

struct recorder {
    int descriptor; /* owned; -1 = none */
    int error;      /* errno of the last failure */
    char *buffer;   /* owned; RECORDER_SIZE bytes */
    size_t size;    /* bytes in it, of whole lines */
    uint32_t batch; /* const: largest number of lines in a batch */
    uint32_t lines; /* in the buffer */
};

/* Borrows the path. WEIR_ENOMEM; WEIR_EINVALID and `error` when the file cannot be opened. */
int recorder_init(struct recorder *recorder, const char *path, uint32_t batch);
/* Opens `path` again, after its file was renamed. Buffered lines are written to the former file.
 * The same errors: then nothing changes. */
int recorder_reopen(struct recorder *recorder, const char *path);
/* Legal twice. Lines that are not flushed are lost. */
void recorder_finish(struct recorder *recorder);

/* Adds a number. WEIR_EINVALID and `error` when a batch was full and could not be written. */
int recorder_add(struct recorder *recorder, uint64_t number);
/* Writes the buffer. The same errors; unwritten lines stay for the next try. */
int recorder_flush(struct recorder *recorder);

#endif
