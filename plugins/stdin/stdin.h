/* SPDX-License-Identifier: MIT */
/*
 * stdin.h - the message of the plugin `stdin`: one line of the host's standard input.
 *
 * For plugins that receive it. The payload of STDIN_LINE_TAG is the line without its end.
 */
#ifndef STDIN_H
#define STDIN_H

#define STDIN_LINE_TAG "stdin.line/1"

#endif
