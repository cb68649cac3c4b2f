/* SPDX-License-Identifier: MIT */
/*
 * actor/names.h - the table of registered names.
 *
 * Lookups need no lock inside a read section; changes take one. A name is unique. There are two
 * kinds: the path of a pool or a source lasts as long as the pool or source; a claim is the name of
 * an incarnation, and ends with it. A claim made in `open` is reserved from the first moment, so
 * that a clash fails there. Lookups find it only after the open has succeeded.
 *
 * The cost of an operation does not depend on the number of names; an operation on all names of a
 * PID costs as much as it has names. Calls with a reader are made by its thread.
 */
#ifndef ACTOR_NAMES_H
#define ACTOR_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/table.h"
#include "dispatch/reclaim.h"

#include <weir/message.h>

#define NAMES_LENGTH_MAX 127

struct name_table;

/* All zeros is a label of no PID. */
struct name_label {
    struct table_node by_pid; /* lock */
    const char *text;         /* borrowed */
};

struct names {
    struct lock lock;                   /* writers */
    _Atomic(struct name_table *) table; /* written under lock, read by all; NULL = no name yet */
    struct table by_pid;                /* lock: of all names */
    struct table labels;                /* lock: by PID */
    uint32_t count;                     /* lock: of names */
};

void names_init(struct names *names);
void names_finish(struct names *names);

/* WEIR_EEXISTS, WEIR_EINVALID (empty or too long), WEIR_ENOMEM. Borrows the name. */
int names_add(struct names *names, const char *name, weir_pid pid, struct reader *reader);

/* Adds a claim of an incarnation of this PID; unless `is_found`, it waits for names_publish. */
int names_claim(struct names *names, const char *name, weir_pid pid, bool is_found,
                struct reader *reader);

/* Makes all names of a PID visible. Allocates nothing. */
void names_publish(struct names *names, weir_pid pid);

/*
 * Renames a claim of a PID. At each instant a lookup finds exactly one of the two names; neither
 * when the claim is not published. WEIR_EUNKNOWN (not this PID's, or no claim), WEIR_EEXISTS,
 * WEIR_EINVALID, WEIR_ENOMEM: nothing changed.
 */
int names_rename(struct names *names, const char *from, const char *to, weir_pid pid,
                 struct reader *reader);

/* Removes a name if it belongs to this PID. */
void names_remove(struct names *names, const char *name, weir_pid pid, struct reader *reader);

/* Another one may take a name of this PID. Until then, and when the other one has given it up,
 * lookups still find this PID. */
void names_yield(struct names *names, const char *name, weir_pid pid);

/* Removes all claims of a PID, whose incarnation has ended. */
void names_remove_claims(struct names *names, weir_pid pid, struct reader *reader);

/* Gives a PID a label, by which it cannot be found: for people. At most one. Borrows the label and
 * its text until names_unlabel, which does nothing for a label of no PID. */
void names_label(struct names *names, struct name_label *label, const char *text, weir_pid pid);
void names_unlabel(struct names *names, struct name_label *label);
/* Copies the label of a PID, or else a name; "" when it has none. A text that is too long is
 * cut. */
void names_of(struct names *names, weir_pid pid, char out_name[NAMES_LENGTH_MAX + 1]);

/* WEIR_EUNKNOWN. Inside a read section. */
int names_find(struct names *names, const char *name, weir_pid *out_pid);

#endif
