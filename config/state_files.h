/* SPDX-License-Identifier: MIT */
/*
 * config/state_files.h - checks that no two sources or pools keep their state in one file, that
 * nobody appends to such a file, and that none is in a folder where any user may replace it.
 *
 * Runs when every pool and every source is known.
 */
#ifndef CONFIG_STATE_FILES_H
#define CONFIG_STATE_FILES_H

#include "config/checking.h"

/* Compares the options with `state`, the files beside them, `dead_letters.file`, `control`, and the
 * options with `writes`: by device and inode; where there is no such file, by those of its folder,
 * and its name; by their spelling where there is no such folder here. Records mistakes in
 * `checking`; WEIR_ENOMEM. */
int state_files_check(struct checking *checking);

#endif
