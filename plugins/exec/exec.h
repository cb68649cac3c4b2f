/*
 * exec.h - the messages of the plugin `exec`: what a command printed, or a child wrote.
 *
 * For plugins that receive them. The payload of EXEC_OUTPUT_TAG is the standard output of the
 * command, or the bytes of a frame `out`, as they are.
 */
#ifndef EXEC_H
#define EXEC_H

#define EXEC_OUTPUT_TAG "exec.output/1"

#endif
