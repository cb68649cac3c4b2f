/*
 * config/state_files.h - checks that no two sources or pools keep their state in one file, nor
 * one of them in that of the dead letters, and that no such file is in a folder where any user may
 * replace it.
 *
 * Runs when every pool and every source is known.
 */
#ifndef CONFIG_STATE_FILES_H
#define CONFIG_STATE_FILES_H

#include "config/checking.h"

/* Compares the options with `state`, and `dead_letters.file`: by device and inode; where there is
 * no such file, by those of its folder, and its name; by their spelling where there is no such
 * folder here. Records mistakes in `checking`; WEIR_ENOMEM. */
int state_files_check(struct checking *checking);

#endif
