/* SPDX-License-Identifier: MIT */
/*
 * log_file.h - a file that is appended to, and rotated: PATH becomes PATH.1, PATH.1 becomes PATH.2.
 *
 * A kill may cut a write between a line and its end: the next line does not continue that one.
 *
 * Life: log_file_open .. log_file_close. Not synchronised. Functions return 0 or an errno.
 */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct log_file {
    const char *path;  /* const, borrowed */
    uint64_t size_max; /* const: bytes of a file; 0 = no limit */
    uint64_t period;   /* const: seconds after which another file begins; 0 = never */
    uint32_t keep;     /* const: number of old files */
    char end;          /* const: of a line */
    bool has_end;      /* const: lines have one */
    int descriptor;    /* owned; -1 = none */
    bool is_regular;   /* else it never rotates: a FIFO, a device */
    bool ends_within_a_line;
    uint64_t size;  /* bytes of the file */
    int64_t number; /* of the period in which the file was last written */
    uint64_t rotations;
};

/* Opens `path` after the constants are set. */
int log_file_open(struct log_file *file);
/* Legal twice. */
void log_file_close(struct log_file *file);
/* Opens the path again, after its file was renamed. After an error the former file stays open. */
int log_file_reopen(struct log_file *file);

/* Appends two parts as one. Rotates first, when the file would be too large or is of an earlier
 * period. After an error the file has no part of the line. */
int log_file_append(struct log_file *file, const char *text, size_t size, const char *end,
                    size_t end_size, time_t now);

#endif
