/* SPDX-License-Identifier: MIT */
/*
 * actor/dead_store.h - passes dead letters to the program's store, of face/dead_store.h.
 *
 * Any thread, in a read section.
 */
#ifndef ACTOR_DEAD_STORE_H
#define ACTOR_DEAD_STORE_H

#include "face/dead_letters.h"
#include "message/message.h"

/*
 * Appends a dead message of the actor or pool `self`, whose path is `path`. `way` is the address
 * for a replay; NULL: `self`. Borrows all. Returns the number of the record; 0: it is not stored,
 * as a message of core itself.
 */
uint64_t dead_store_append(struct runtime *runtime, const struct message *message, weir_pid self,
                           const char *path, const struct dead_letter_way *way,
                           enum dead_reason reason, const char *detail);

#endif
