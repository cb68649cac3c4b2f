/* SPDX-License-Identifier: MIT */
/*
 * face/standalone.h - stand-alone actors, which belong to no pool.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_STANDALONE_H
#define FACE_STANDALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "face/figures.h"
#include "face/parts.h"

struct dispatcher;
struct executor;
struct runtime;
struct standalone;

struct standalone_options {
    const char *name; /* registered for look-ups; NULL or "" = none; borrowed until return */
    bool is_hidden;   /* the name is for people: it cannot be looked up */
    struct dispatcher *dispatcher;
    struct spec *spec;                              /* takes a reference */
    uint32_t limit;                                 /* of its mailbox; 0 = unlimited */
    struct wiring *wiring;                          /* takes it on 0; the targets of its outputs */
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the defaults */
};

/* Opens in its first turn. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS (the name). */
int standalone_create(struct runtime *runtime, struct executor *executor,
                      const struct standalone_options *options, struct standalone **out);

weir_pid standalone_pid(const struct standalone *standalone);
/* Borrowed while it is there; "" = none. */
const char *standalone_name(const struct standalone *standalone);

/* Takes the wiring, the targets of its outputs from now on. */
void standalone_set_wiring(struct standalone *standalone, struct wiring *wiring,
                           struct executor *executor);

/* 0: it is open; 1 not yet; WEIR_ECLOSED it has ended; or the status of an open that failed. */
int standalone_opening(struct standalone *standalone);

void standalone_ledger(struct standalone *standalone, struct ledger_reading *out);

/* Accepts no new message, and ends when it has finished the accepted ones. */
void standalone_close(struct standalone *standalone, struct executor *executor);

/* Ends after the present message; waiting messages are dead. */
void standalone_stop_now(struct standalone *standalone, struct executor *executor);

/* Its actor is gone. */
bool standalone_has_ended(const struct standalone *standalone);

/* Frees it; its actor has ended, or no thread runs any more. NULL is allowed. */
void standalone_destroy(struct standalone *standalone);

#endif
