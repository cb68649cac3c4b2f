/*
 * actor/names.h - who is called what.
 *
 * Looked up without a lock inside a read section; changed under one. A name is unique. There are
 * two kinds: the path of a pool or a source stays as long as that does; what an incarnation calls
 * itself is a claim, which ends with it. One that is made in `open` is taken from the first moment,
 * so that a clash is told there, and found by nobody until the open has succeeded.
 *
 * Each operation costs the same however many names there are, and what concerns all names of a PID
 * costs as much as these. The calls with a reader are made by its thread.
 */
#ifndef ACTOR_NAMES_H
#define ACTOR_NAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/table.h"
#include "dispatch/reclaim.h"

#include <weir/message.h>

#define NAMES_LENGTH_MAX 127

struct name_table;

struct names {
    pthread_mutex_t lock;               /* writers */
    _Atomic(struct name_table *) table; /* written under lock, read by all; NULL = no name yet */
    struct table by_pid;                /* lock: of all names */
    uint32_t count;                     /* lock: of names */
};

void names_init(struct names *names);
void names_finish(struct names *names);

/* WEIR_EEXISTS, WEIR_EINVALID (empty or too long), WEIR_ENOMEM. Borrows the name. */
int names_add(struct names *names, const char *name, weir_pid pid, struct reader *reader);

/* Likewise a claim of an incarnation of this PID; unless `is_found`, it waits for names_publish. */
int names_claim(struct names *names, const char *name, weir_pid pid, bool is_found,
                struct reader *reader);

/* From now on all names of a PID are found. Allocates nothing. */
void names_publish(struct names *names, weir_pid pid);

/*
 * Gives a claim of a PID another text: at each instant it is found under one of the two, and under
 * one only; under neither when it waits to be found. WEIR_EUNKNOWN (not this PID's, or no claim),
 * WEIR_EEXISTS, WEIR_EINVALID, WEIR_ENOMEM: nothing changed.
 */
int names_rename(struct names *names, const char *from, const char *to, weir_pid pid,
                 struct reader *reader);

/* Removes a name if it is this PID's. */
void names_remove(struct names *names, const char *name, weir_pid pid, struct reader *reader);

/* Removes all claims of a PID: its incarnation has ended. */
void names_remove_claims(struct names *names, weir_pid pid, struct reader *reader);

/* WEIR_EUNKNOWN. Inside a read section. */
int names_find(struct names *names, const char *name, weir_pid *out_pid);

#endif
