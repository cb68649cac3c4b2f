/* SPDX-License-Identifier: MIT */
/*
 * dispatch/note.h - the owner of a thread's present callback, for the crash handler.
 *
 * A turn writes the note before its first callback, and the tag before each one. The texts lie in
 * the runtime's vault (message/vault.h), and a host puts the note itself on separate pages: so a
 * plugin that writes past the end of its memory does not change the crash line.
 *
 * Written by the executor's thread, read by a signal handler on the same thread.
 */
#ifndef DISPATCH_NOTE_H
#define DISPATCH_NOTE_H

#include <stdbool.h>
#include <stdint.h>

struct weir_tag;

/* Callbacks, and their names for people. */
#define NOTE_CALLBACK_LIST(X)                                                                      \
    X(HANDLE, "handle")                                                                            \
    X(FLUSH, "flush")                                                                              \
    X(PRODUCE, "produce")                                                                          \
    X(RESUME, "resume")                                                                            \
    X(OPEN, "open")                                                                                \
    X(CLOSE, "close")                                                                              \
    X(RECONFIGURE, "reconfigure")                                                                  \
    X(INSPECT, "inspect")                                                                          \
    X(REOPEN, "reopen")                                                                            \
    X(LEAVE, "leave")                                                                              \
    X(TIMER, "timer")                                                                              \
    X(WATCH, "watch of a descriptor")                                                              \
    X(CONTINUATION, "continuation")                                                                \
    X(SETTLED, "settled")                                                                          \
    X(UNDELIVERED, "undelivered")                                                                  \
    X(AUDIENCE, "audience")                                                                        \
    X(LEASE, "taken or returned")

enum note_callback {
#define NOTE_CALLBACK(name, text) NOTE_##name,
    NOTE_CALLBACK_LIST(NOTE_CALLBACK)
#undef NOTE_CALLBACK
};

struct note {
    const char *label;          /* of the spec: plugin, generation, behaviour; NULL: unknown */
    const char *place;          /* the path of the pool or source; NULL: it has none */
    const struct weir_tag *tag; /* of the message in hand; NULL: none */
    uint64_t identity;          /* of that message; 0: none, or not kept */
    uint32_t worker;
    uint8_t callback; /* enum note_callback */
    bool inside;      /* the callback has not returned */
};

#endif
