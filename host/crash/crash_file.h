/* SPDX-License-Identifier: MIT */
/*
 * crash/crash_file.h - the file of `host.crash_file`: which messages have crashed the host, for
 * `quarantine` of pools.
 *
 *      crash_file_open, at the start --> crash_file_poison, for each spec
 *                                   \--> crash_file_blame, in a signal handler: one line more
 *
 * After a first line it has a line for each crash: the time in seconds since 1970, the signal or
 * `exit`, the identity of the message in 16 hexadecimal digits, the path of the pool, the label of
 * the message. The times that a message stands there with a pool, or with another copy of it in a
 * template, are its crashes there.
 *
 * One per process, since a signal handler can only reach globals. What was read at the start stays
 * as it is until crash_file_close.
 */
#ifndef HOST_CRASH_CRASH_FILE_H
#define HOST_CRASH_CRASH_FILE_H

#include "base/log.h"
#include "config/settings.h"
#include "host/crash/last_words.h"
#include "weir_core.h"

#define CRASH_FILE_FIRST_LINE "weir crashes 1\n"
#define CRASH_FILE_LINES_MAX 1000u /* a start keeps the last ones */
#define CRASH_FILE_NAMED 5u        /* crashes of a message that a start names */

/*
 * Opens and reads the file of the settings, and names in the log each message that has crashed the
 * host often. Without a file nothing happens. WEIR_EINVALID after a report; WEIR_ENOMEM.
 */
int crash_file_open(const struct settings *settings, const struct log_sink *sink,
                    struct report *report);
void crash_file_close(void);

/* The messages that have crashed the host `times` or more in the pool of that path, or in copies of
 * it; 0 = none.
 * Returns owned; NULL also when there is none. WEIR_ENOMEM. */
int crash_file_poison(const char *path, uint32_t times, struct poison **out, uint32_t *out_count);

/* Appends a line about the message in hand of the note, if there is one with an identity; the note
 * may be NULL. Not in a child process, nor when no 16 MiB of memory are left. Safe in a signal
 * handler. */
void crash_file_blame(const char *cause, const struct crash_note *note);

#endif
