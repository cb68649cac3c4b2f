/*
 * exec.h - the messages of the plugin `exec`: what a command printed.
 *
 * For plugins that receive them. The payload of EXEC_OUTPUT_TAG is the standard output of the
 * command, as it is.
 */
#ifndef EXEC_H
#define EXEC_H

#define EXEC_OUTPUT_TAG "exec.output/1"

#endif
