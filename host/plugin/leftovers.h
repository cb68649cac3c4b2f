/*
 * plugin/leftovers.h - directories for plugin copies that a killed host could not remove.
 *
 * The process that uses such a directory holds a lock on it (flock), which the kernel releases when
 * the process ends, however it ends. So a directory whose lock can be had is nobody's. No process
 * id is asked: those are used again, and differ between containers that share a /tmp.
 */
#ifndef HOST_PLUGIN_LEFTOVERS_H
#define HOST_PLUGIN_LEFTOVERS_H

#define LEFTOVERS_PREFIX "weir-plugins."

/*
 * Opens the directory `name` in `parent`, another directory's descriptor, never through a link, and
 * locks it for as long as the descriptor that it returns is open; the descriptor does not outlive
 * exec. Never waits. Negative: leftovers_sweep looks at it or has removed it, or it cannot be
 * opened. Where the file system knows no locks, nobody sweeps either.
 */
int leftovers_lock(int parent, const char *name);

/* Removes the files in the directory that is open there; what cannot be removed stays. */
void leftovers_remove_files(int directory);

/*
 * Removes the directories LEFTOVERS_PREFIX* of this user in `parent` that nobody holds, with the
 * files in them. What cannot be removed stays, in silence: it is in nobody's way.
 */
void leftovers_sweep(int parent);

#endif
