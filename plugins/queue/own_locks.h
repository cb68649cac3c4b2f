/* SPDX-License-Identifier: MIT */
/*
 * own_locks.h - locks of SQLite that belong to an open file, not to the process.
 *
 * close() of any descriptor of a file drops all POSIX locks that the process has on the file.
 * Another program then takes the file for unused and deletes its WAL. Locks of the open file (OFD)
 * stay. Two connections of one process to one file would refuse each other with them, so only a
 * thread that asks has them: each of its files has one connection.
 */
#ifndef OWN_LOCKS_H
#define OWN_LOCKS_H

/* From now on the locks of SQLite that this thread takes are those of the open file. Returns 0;
 * -1: SQLite has no such system call. */
int own_locks_enter(void);

#endif
