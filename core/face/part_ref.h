/* SPDX-License-Identifier: MIT */
/*
 * face/part_ref.h - what parts of all kinds have in common: pools, sources, actors.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_PART_REF_H
#define FACE_PART_REF_H

#include <stdbool.h>

#include "face/dead_letters.h"
#include "face/figures.h"

struct runtime;

enum part_kind {
    PART_POOL,
    PART_STANDALONE,
    PART_SOURCE,
};

/* Borrows the part. */
struct part_ref {
    enum part_kind kind;
    /* `kind` says which */
    union {
        struct pool *pool;
        struct standalone *standalone;
        struct source *source;
    };
};

weir_pid part_ref_pid(struct part_ref part);
/* For people. Borrowed while the part is there. */
const char *part_ref_name(struct part_ref part);

/* Also after its end. */
void part_ref_ledger(struct part_ref part, struct ledger_reading *out);

/* Its dead letters, and where its outputs lead. In a read section. */
struct dead_letter_box part_ref_dead_letters(struct part_ref part);

/* The part accepts nothing new, finishes its accepted messages, and ends. A second call has no
 * effect. */
void part_ref_close(struct part_ref part, struct executor *executor);

/* Ends after its present message; waiting messages are dead. */
void part_ref_stop_now(struct part_ref part, struct executor *executor);

bool part_ref_has_ended(struct part_ref part);

/* True when the part cannot open, is paused or has no worker. Senders that wait for its room wait
 * without end. */
bool part_ref_admits_nothing(struct part_ref part);

#endif
