/* SPDX-License-Identifier: MIT */
/*
 * exec.h - the messages of the plugin `exec`: the output of a command, or a frame of a child.
 *
 * For plugins that receive them. The payload of EXEC_OUTPUT_TAG is the standard output of the
 * command, or the bytes of a frame `out`, unchanged.
 */
#ifndef EXEC_H
#define EXEC_H

#define EXEC_OUTPUT_TAG "exec.output/1"

#endif
