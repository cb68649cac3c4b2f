/* SPDX-License-Identifier: MIT */
/*
 * variables.h - the environment of the children of one worker.
 *
 * Life: variables_init .. variables_finish. Not synchronised. The variables of the host itself must
 * not change meanwhile: no plugin may change them.
 */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stddef.h>
#include <stdint.h>

#include <weir/message.h>
#include <weir/option.h>

#include "user.h"

/* WEIR_KEY=, 20 digits and a NUL, and shorter ones. */
#define VARIABLES_NUMBER_SIZE 32u
/* WEIR_TAG=, a tag of 128 bytes and a NUL. */
#define VARIABLES_TAG_SIZE 144u

struct variables {
    char **items; /* owned array; ends with NULL */
    char **owned; /* owned: the texts of the file's map and of the user; ends with NULL */
    char index[VARIABLES_NUMBER_SIZE];
    char attempt[VARIABLES_NUMBER_SIZE];
    char key[VARIABLES_NUMBER_SIZE];
    char tag[VARIABLES_TAG_SIZE];
};

/* `true` and `false`: they may stand in place of a list of inherited variables. Ends with NULL. */
extern const char *const variables_words[];

/* Why `name`, one of `count` inherited ones, cannot be inherited; NULL when it can. Static. */
const char *variables_problem(const char *name, size_t count);

/*
 * The variables of `map`; HOME, USER and LOGNAME of `user`, unless that is NULL; WEIR_INDEX,
 * WEIR_ATTEMPT, WEIR_KEY and WEIR_TAG; then those of the host that have no such name and are in
 * `inherit`, or all if that is `true`; without those by which a service manager speaks to the host.
 * WEIR_ENOMEM. Borrows the map.
 */
int variables_init(struct variables *variables, const struct weir_map *map,
                   const struct weir_list *inherit, const struct user *user, uint32_t index);
/* Legal after a failed init, and twice. */
void variables_finish(struct variables *variables);

/* Sets the variables of a message. Borrows. */
void variables_set(struct variables *variables, const struct weir_message *message);

#endif
