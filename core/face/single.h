/*
 * face/single.h - single actors: those that belong to no pool.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_SINGLE_H
#define FACE_SINGLE_H

#include <stdbool.h>
#include <stdint.h>

#include "face/figures.h"
#include "face/parts.h"

struct dispatcher;
struct executor;
struct runtime;
struct single;

struct single_options {
    const char *name; /* registered for look-ups; NULL or "" = none; borrowed until return */
    bool is_hidden;   /* the name is for people: it cannot be looked up */
    struct dispatcher *dispatcher;
    struct spec *spec;                              /* takes a reference */
    uint32_t limit;                                 /* of its mailbox; 0 = unlimited */
    struct wiring *wiring;                          /* takes it on 0; the targets of its outputs */
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the defaults */
};

/* Opens in its first turn. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS (the name). */
int single_create(struct runtime *runtime, struct executor *executor,
                  const struct single_options *options, struct single **out);

weir_pid single_pid(const struct single *single);
/* Borrowed while it is there; "" = none. */
const char *single_name(const struct single *single);

/* Takes the wiring, the targets of its outputs from now on. */
void single_set_wiring(struct single *single, struct wiring *wiring, struct executor *executor);

/* 0: it is open; 1 not yet; WEIR_ECLOSED it has ended; or the status of an open that failed. */
int single_opening(struct single *single);

void single_ledger(struct single *single, struct ledger_reading *out);

/* Accepts no new message, and ends when it has finished the accepted ones. */
void single_close(struct single *single, struct executor *executor);

/* Ends after the present message; waiting messages are dead. */
void single_stop_now(struct single *single, struct executor *executor);

/* Its actor is gone. */
bool single_has_ended(const struct single *single);

/* Frees it; its actor has ended, or no thread runs any more. NULL is allowed. */
void single_destroy(struct single *single);

#endif
