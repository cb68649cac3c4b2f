/* SPDX-License-Identifier: MIT */
/*
 * pipe.h - the behaviour exec.pipe: a child that stays, and gets message after message.
 */
#ifndef PIPE_H
#define PIPE_H

#include <weir/plugin.h>

extern const struct weir_behaviour exec_pipe;

#endif
