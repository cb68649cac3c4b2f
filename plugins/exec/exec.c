/* SPDX-License-Identifier: MIT */
/*
 * exec - workers that are programs of any kind.
 */
#include "pipe.h"
#include "run.h"

WEIR_PLUGIN_OF("exec", "1.0.0", &exec_run, &exec_pipe);
