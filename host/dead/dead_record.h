/* SPDX-License-Identifier: MIT */
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
 * width. The checksum is weir_key of all that follows it. In a field's text `%`, control
 * characters, and the first letter of `letter ` are written as `%` and two digits; payloads are
 * quoted (dead/dead_quote.h). So no text and no payload contains the word of a frame.
 *
 * A record that is incomplete or damaged is no record; the reader goes on at the next frame. It
 * reads each byte a bounded number of times, whatever the file contains.
 *
 * Version 1 quoted nothing. There the reader knows the next frame by the sizes in the present one
 * alone, and ends at a damaged frame.
 */
#ifndef HOST_DEAD_RECORD_H
#define HOST_DEAD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weir_core.h"

#define DEAD_FILE_FIRST_LINE "weir dead letters 2\n"
#define DEAD_RECORD_STATE 7 /* the offset of S in a record */

/* Zeroed memory is an empty text. */
struct dead_text {
    char *bytes; /* owned */
    size_t size;
    size_t capacity;
};

/* WEIR_ENOMEM: the text is unchanged. */
int dead_text_append(struct dead_text *text, const void *bytes, size_t size);

/* Names a record among those of all hosts. Zero: no name. */
struct dead_id {
    uint64_t run;    /* a random number of the process that wrote it */
    uint64_t number; /* in its store */
};

#define DEAD_ID_TEXT 34 /* bytes of an id as text, with its NUL */
void dead_id_format(const struct dead_id *id, char text[DEAD_ID_TEXT]);
/* False: it is none. */
bool dead_id_parse(const char *text, struct dead_id *out);

/* Appends a record. `time_us`: since 1970, UTC. WEIR_ENOMEM: the text is unchanged. Borrows. */
int dead_record_write(struct dead_text *text, const struct dead_record *record,
                      const struct dead_id *id, uint64_t time_us);
/* The bytes of the record that begins at `bytes`, and was written by dead_record_write. */
size_t dead_record_size(const char *bytes);

/* A record that was read. The texts end with NUL, and belong to `memory`. */
struct dead_entry {
    uint64_t number; /* 1, 2, ... in the order of the file */
    uint64_t offset; /* in the file */
    bool was_replayed;
    bool has_payload;
    bool is_by_user; /* of version 1: the record says that it is no take */
    /* Version 1 also has takes, which no worker may get: see docs/decisions/305. */
    bool is_take;
    const char *time;
    struct dead_id id;
    struct dead_record record;
    char *memory; /* owned by the reader, until its next call */
};

struct dead_reader {
    FILE *stream;     /* owned */
    unsigned version; /* of the format: 1 or 2; 0: the file has no whole first line */
    uint64_t size;    /* of the file when it was opened */
    uint64_t number;  /* of the last record */
    uint64_t end;     /* of the last record, or of the first line; 0: there is no first line */
    uint64_t skipped; /* bytes before that that are no record */
    char *memory;     /* owned */
};

/* Opens a file, and never waits for a writer of a FIFO. Returns 0 or an errno; EILSEQ: it is no
 * file of dead letters. An empty file, or half a first line, is one without records whose `end` is
 * 0. */
int dead_reader_open(struct dead_reader *reader, const char *path);
void dead_reader_finish(struct dead_reader *reader);
/* 1: a record; 0: the end; -1: errno. */
int dead_reader_next(struct dead_reader *reader, struct dead_entry *out);

#endif
