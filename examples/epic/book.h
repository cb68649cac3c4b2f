/* SPDX-License-Identifier: MIT */
/*
 * book.h - the Epics in the database: how far each is settled, and which pieces failed.
 *
 * At most one Epic is unfinished. Its *mark* is the number of a piece: that piece and all before it
 * are settled. The book survives a failure of the master and a crash of the host.
 */
#ifndef BOOK_H
#define BOOK_H

#include "database.h"
#include "window.h"

#define BOOK_NAME_MAX 64u
#define BOOK_QUERY_MAX 1024u

struct epic {
    char name[BOOK_NAME_MAX];
    char query[BOOK_QUERY_MAX];
    int64_t mark;
    uint64_t done;   /* pieces up to the mark that were handled */
    uint64_t failed; /* pieces up to the mark that were not */
    bool finished;
};

/* Zeroed memory may be finished. */
struct book {
    sqlite3 *database;
    sqlite3_stmt *find, *begin, *move, *fail;
    sqlite3_stmt *batch; /* of the Epic in work */
};

/* Opens the database and makes the tables that are missing. False: book_error has the reason. In
 * both cases book_finish is due. */
bool book_init(struct book *book, const char *path, uint64_t busy_ms);
void book_finish(struct book *book);
/* Borrowed until the next call. */
const char *book_error(const struct book *book);

/* Reads the Epic of this name; NULL: the unfinished one. Returns 1; 0: there is none; -1. */
int book_find(struct book *book, const char *name, struct epic *out);
/* Prepares the query of an Epic for book_next. False: it is no such query. */
bool book_use(struct book *book, const struct epic *epic);
/* Writes a new Epic down, from its beginning. */
bool book_begin(struct book *book, struct epic *epic);
/* Reads up to `max` numbers after `after`, in ascending order. Returns their count, or -1. */
int book_next(struct book *book, int64_t after, uint32_t max, int64_t *out);
/* Moves the mark past `count` settled pieces at the front of the window, and changes `epic`, in one
 * transaction. On false nothing has changed. */
bool book_move(struct book *book, struct epic *epic, struct window *window, uint32_t count,
               bool finished);

#endif
