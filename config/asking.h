/*
 * config/asking.h - the calls of behaviours' `check`, put off until all of the file has been read.
 *
 * They are code of plugins: the catalogue is shown all of them before the first is made, so that it
 * can try them elsewhere. In the order of the file. Part of one check; not synchronised.
 */
#ifndef CONFIG_ASKING_H
#define CONFIG_ASKING_H

#include "config/checking.h"

/* Notes that the behaviour of `call` is to be asked; nothing when it has no `check`. What `call`
 * points at lives until the check is over. WEIR_ENOMEM. */
int asking_note(struct checking *checking, const struct catalogue_check *call);

/* Asks all of them. What they say is reported, at the option that they name. WEIR_EINVALID when
 * they said anything, or when one may not be called. */
int asking_carry_out(struct checking *checking);

void asking_finish(struct asking *asking);

#endif
