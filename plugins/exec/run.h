/* SPDX-License-Identifier: MIT */
/*
 * run.h - the behaviour exec.run: a command for each message.
 */
#ifndef RUN_H
#define RUN_H

#include <weir/plugin.h>

extern const struct weir_behaviour exec_run;

#endif
