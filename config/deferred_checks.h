/* SPDX-License-Identifier: MIT */
/*
 * config/deferred_checks.h - the calls of behaviours' `check`, deferred until the file was read.
 *
 * `check` is code of a plugin. So the catalogue sees all calls before the first is made, and can
 * try them in another process. They are made in the order of the file. Part of one check; not
 * synchronised.
 */
#ifndef CONFIG_DEFERRED_CHECKS_H
#define CONFIG_DEFERRED_CHECKS_H

#include "config/checking.h"

/* Adds a call of the behaviour's `check`; does nothing when the behaviour has none. The pointers in
 * `call` stay valid until the check is over. WEIR_ENOMEM. */
int deferred_checks_add(struct checking *checking, const struct catalogue_check *call);

/* Makes all calls. Reports each mistake that a behaviour names, at its option. WEIR_EINVALID when
 * there was a mistake, or when the catalogue refused a call. */
int deferred_checks_run(struct checking *checking);

void deferred_checks_finish(struct deferred_checks *deferred);

#endif
