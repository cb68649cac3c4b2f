/* SPDX-License-Identifier: MIT */
/*
 * weir/label.h - labels for weir_message_new_labelled: what names the piece of work to people, in
 * the log and in dead letters.
 *
 * Part of <weir/plugin.h>: include that.
 */
#ifndef WEIR_LABEL_H
#define WEIR_LABEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inline.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_LABEL_SIZE 190 /* bytes of a label, with its NUL */

/* Writes NAME:LINE, and returns where it begins in `out`. Of a name that is too long it takes the
 * end, behind "..."; a character in UTF-8 is not cut. Borrows the name. */
WEIR_INLINE const char *weir_label_of_line(char out[WEIR_LABEL_SIZE], const char *name,
                                           uint64_t line)
{
    char *label = out + WEIR_LABEL_SIZE - 1;
    size_t size = strlen(name), room;

    *label = '\0';
    do
        *--label = (char)('0' + line % 10);
    while ((line /= 10) > 0);
    *--label = ':';
    room = (size_t)(label - out);
    if (size <= room)
        return (char *)memcpy(label - size, name, size);
    name += size - (room - 3);
    while (((unsigned char)*name & 0xC0) == 0x80)
        name++;
    size = strlen(name);
    label = (char *)memcpy(label - size, name, size);
    return (char *)memcpy(label - 3, "...", 3);
}

#ifdef __cplusplus
}
#endif

#endif
