/*
 * dispatch/note.h - what a thread's callback belongs to, for the crash handler.
 *
 * A turn writes the note before each callback. The texts lie in the runtime's vault
 * (message/vault.h), and a host puts the note itself on pages of its own: what a plugin overwrites
 * by running past the end of its memory is not read when the crash is told.
 *
 * Written by the thread whose executor it is, read by a signal handler on the same thread.
 */
#ifndef DISPATCH_NOTE_H
#define DISPATCH_NOTE_H

#include <stdbool.h>
#include <stdint.h>

struct weir_tag;

struct note {
    const char *label;          /* of the spec: plugin, generation, behaviour; NULL: not known */
    const char *place;          /* the path of the pool or source; NULL: it has none */
    const struct weir_tag *tag; /* of the message in hand; NULL: none */
    uint32_t worker;
    bool inside; /* the callback has not returned */
};

#endif
