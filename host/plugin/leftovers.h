/* SPDX-License-Identifier: MIT */
/*
 * plugin/leftovers.h - removes directories with plugin copies that a killed host left behind.
 *
 * The process that uses such a directory holds a lock on it (flock), which the kernel releases when
 * the process ends in any way. So a directory without a lock has no user. Process ids would not do:
 * they are reused, and differ between containers that share a /tmp.
 */
#ifndef HOST_PLUGIN_LEFTOVERS_H
#define HOST_PLUGIN_LEFTOVERS_H

#define LEFTOVERS_PREFIX "weir-plugins."

/*
 * Opens the directory `name` in `parent`, another directory's descriptor, never through a link, and
 * locks it for as long as the returned descriptor is open; the descriptor is closed by exec. Never
 * waits. Negative: leftovers_sweep holds the lock or has removed the directory, or it cannot be
 * opened. On a file system without locks no directory is swept.
 */
int leftovers_lock(int parent, const char *name);

/* Removes the files in an open directory; ignores failures. */
void leftovers_remove_files(int directory);

/*
 * Removes this user's directories LEFTOVERS_PREFIX* in `parent` that are not locked, with their
 * files. Ignores failures: such a directory does no harm.
 */
void leftovers_sweep(int parent);

#endif
