/* SPDX-License-Identifier: MIT */
/*
 * kit_line.h - the line of the plugin that makes a message, as weir_kit_line got it.
 */
#ifndef SDK_TESTKIT_KIT_LINE_H
#define SDK_TESTKIT_KIT_LINE_H

struct kit_line {
    const char *file; /* a constant of the plugin; NULL: not known */
    int line;
};

/* The line that weir_kit_line set on this thread; the next call gets none. */
struct kit_line kit_line_take(void);

#endif
