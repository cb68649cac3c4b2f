/* SPDX-License-Identifier: MIT */
/*
 * epic - the work-pulling pattern with a SQLite database: a master that takes Epics, and workers.
 */
#include "epic.h"

WEIR_PLUGIN_OF("epic", "1.0.0", &epic_master, &epic_worker);
