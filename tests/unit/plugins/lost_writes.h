/* SPDX-License-Identifier: MIT */
/*
 * lost_writes.h - the disk below the files of SQLite in this program, as a power failure leaves it.
 *
 * A block that was written is on the disk after the next sync of its file. A sync that fails drops
 * the blocks that were to be written, as Linux does: the next sync succeeds without them, although
 * who reads the file still sees them. The program has its own fdatasync, fsync, pwrite64 and
 * ftruncate64, which libraries find before those of libc.
 *
 * Any thread.
 */
#ifndef LOST_WRITES_H
#define LOST_WRITES_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets all files. Call it before they are made. */
void lost_writes_begin(void);
/* Makes `count` syncs from the nth on fail, 1 = the next one; 0, 0: none. */
void lost_writes_fail(uint32_t nth, uint32_t count);
/* How many have failed since. */
uint32_t lost_writes_failed(void);
/* Makes the next sync wait until lost_writes_go_on, or for wait_limit_ms. */
void lost_writes_hold(void);
void lost_writes_go_on(void);
/* Likewise, and the sync behind it waits. */
void lost_writes_step(void);
/* Until that sync waits. */
void lost_writes_wait_holding(void);
/* True while a sync waits. */
bool lost_writes_is_holding(void);
/* Writes what the disk has of the file `path` to a file `as`. */
void lost_writes_save(const char *path, const char *as);

#endif
