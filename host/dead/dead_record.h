/*
 * dead/dead_record.h - dead letters as bytes of a file: writing and reading.
 *
 * The file begins with a line that names the format and its version. Each record has
 *
 *      letter S CHECKSUM HEADER PAYLOAD     a frame of 52 bytes with its line end
 *      time: 2026-11-24T06:40:00.123456Z    HEADER bytes: a field in each line
 *      pool: images/fast
 *      ...
 *      the payload                          PAYLOAD bytes, and a line end
 *
 * S is `-`, or `r` when the dead letter was sent again. The numbers are hexadecimal, of fixed
 * width. The checksum is weir_key of all that follows it. In a field's text `%` and control
 * characters are written as `%` and two digits.
 *
 * A record that is incomplete or damaged is no record; the reader goes on at the next one.
 */
#ifndef HOST_DEAD_RECORD_H
#define HOST_DEAD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weir_core.h"

#define DEAD_FILE_FIRST_LINE "weir dead letters 1\n"
#define DEAD_RECORD_STATE 7 /* the offset of S in a record */

/* Zeroed memory is an empty text. */
struct dead_text {
    char *bytes; /* owned */
    size_t size;
    size_t capacity;
};

/* Appends a record. `time_us`: since 1970, UTC. WEIR_ENOMEM: the text is unchanged. Borrows. */
int dead_record_write(struct dead_text *text, const struct dead_record *record, uint64_t time_us);

/* A record that was read. The texts end with NUL, and belong to `memory`. */
struct dead_entry {
    uint64_t number; /* 1, 2, ... in the order of the file */
    uint64_t offset; /* in the file */
    bool was_replayed;
    bool has_payload;
    bool is_by_user; /* the record says that it is no take */
    bool is_take; /* an older Weir stored takes, which no worker may get: see docs/decisions/305 */
    const char *time;
    struct dead_record record;
    char *memory; /* owned by the reader, until its next call */
};

struct dead_reader {
    FILE *stream;     /* owned */
    uint64_t size;    /* of the file when it was opened */
    uint64_t number;  /* of the last record */
    uint64_t end;     /* of the last record; 0: the file does not begin as it should */
    uint64_t skipped; /* bytes before that that are no record */
    char *memory;     /* owned */
};

/* Takes the stream of a whole file. Returns 0 or an errno; EILSEQ: it is no file of dead letters.
 * An empty file, or half a first line, is one without records whose `end` is 0. */
int dead_reader_init(struct dead_reader *reader, FILE *stream);
void dead_reader_finish(struct dead_reader *reader);
/* 1: a record; 0: the end; -1: errno. */
int dead_reader_next(struct dead_reader *reader, struct dead_entry *out);

#endif
