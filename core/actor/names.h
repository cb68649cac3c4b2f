/*
 * actor/names.h - who is called what.
 *
 * Looked up without a lock inside a read section; changed under one. A name is unique.
 */
#ifndef ACTOR_NAMES_H
#define ACTOR_NAMES_H

#include <pthread.h>
#include <stdatomic.h>

#include "dispatch/reclaim.h"

#include <weir/message.h>

#define NAMES_BUCKETS 1024
#define NAMES_LENGTH_MAX 127

struct name_entry;

struct names {
    pthread_mutex_t lock; /* writers */
    _Atomic(struct name_entry *) buckets[NAMES_BUCKETS];
};

void names_init(struct names *names);
void names_finish(struct names *names);

/* WEIR_EEXISTS, WEIR_EINVALID (empty or too long), WEIR_ENOMEM. Borrows the name. */
int names_add(struct names *names, const char *name, weir_pid pid);

/*
 * Gives a PID's name another text: at each instant it is found under one of the two, and under one
 * only. WEIR_EUNKNOWN (not this PID's), WEIR_EEXISTS, WEIR_EINVALID, WEIR_ENOMEM: nothing changed.
 */
int names_rename(struct names *names, const char *from, const char *to, weir_pid pid,
                 struct reader *reader);

/* Removes a name if it is this PID's. */
void names_remove(struct names *names, const char *name, weir_pid pid, struct reader *reader);

/* Removes all names of a PID. */
void names_remove_pid(struct names *names, weir_pid pid, struct reader *reader);

/* WEIR_EUNKNOWN. Inside a read section. */
int names_find(struct names *names, const char *name, weir_pid *out_pid);

#endif
