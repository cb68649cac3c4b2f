/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads lines, one file at a time, through one buffer that never grows.
 *
 * Life: reader_init .. reader_finish; reader_open .. reader_close any number of times in between.
 * Not synchronised. Each step makes at most one system call, so that a caller may stop between two
 * of them, for every file.
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* A line without its end (LF or CR LF). */
struct reader_line {
    const char *text; /* borrowed until the next reader_next; no NUL after it */
    size_t size;
    uint64_t number; /* from 1 */
    uint64_t offset; /* of its first byte */
};

enum reader_step {
    READER_LINE,     /* a line was read */
    READER_AGAIN,    /* something was read, but no line has ended yet */
    READER_TOO_LONG, /* a line was skipped: only number and offset are set */
    READER_END,      /* the file is finished */
    READER_FAILED,   /* it cannot be read on; errno is in `error` */
};

struct reader {
    char *buffer;       /* owned; line_max + chunk bytes */
    size_t line_max;    /* const: bytes of a line, its end not counted */
    size_t chunk;       /* const: bytes read at once */
    int descriptor;     /* owned unless `borrows`; -1 = no file */
    bool borrows;       /* it belongs to the caller of reader_follow */
    int error;          /* errno of the last failure */
    size_t begin;       /* of the bytes that have not been handed out */
    size_t scanned;     /* no line ends between begin and here */
    size_t end;         /* of the bytes that have been read */
    uint64_t offset;    /* of `begin` in the file */
    uint64_t number;    /* lines before `begin` */
    uint64_t skip_from; /* where the line begins whose end is looked for */
    bool skipping;      /* its bytes are not kept: it is too long, or was looked through before */
    bool at_end;        /* everything has been read */
    bool
        follows; /* the file may grow: END leaves a last line without an end, and is not the last */
};

/* Capacities are parameters, so that a test can run with small ones. WEIR_ENOMEM. */
int reader_init(struct reader *reader, size_t line_max, size_t chunk);
/* Legal after a failed init, and twice. */
void reader_finish(struct reader *reader);

/* 0 for a regular file; EISDIR; EINVAL for anything else. Any thread. */
int reader_why_not(const struct stat *about);

/*
 * Opens a regular file. 0; -1 and `error` when it cannot be opened, or as reader_why_not.
 * Never waits for the other end of a FIFO. Closes the file that was open.
 */
int reader_open(struct reader *reader, const char *path);
/* Goes on at a line that begins at `offset` with `number` lines before it. As reader_open. */
int reader_open_at(struct reader *reader, const char *path, uint64_t offset, uint64_t number);
/* Where a file is read on. */
struct reader_from {
    uint64_t offset;  /* a line begins there */
    uint64_t number;  /* lines before it */
    uint64_t scanned; /* no line ends between `offset` and here; at most `offset` = not known */
    bool follows;     /* the file may grow; else its rest is read to its end */
};

/* As reader_open_at, for a file that is open. Borrows the descriptor until reader_close. */
int reader_follow(struct reader *reader, int descriptor, const struct reader_from *from);
/* Where the line begins that comes next; `number` lines are before it. */
uint64_t reader_place(const struct reader *reader);
/* No line ends between reader_place and here. */
uint64_t reader_scanned(const struct reader *reader);
/* Legal when none is open. */
void reader_close(struct reader *reader);

/* The next step. A last line without an end is a line. After END or FAILED every step has the same
 * result. */
enum reader_step reader_next(struct reader *reader, struct reader_line *out_line);

#endif
