/*
 * host/supported.h - what the language has and this version does not run yet.
 *
 * The file is refused for it, by check as by run and reload: nothing that was asked for is ignored
 * in silence.
 */
#ifndef HOST_SUPPORTED_H
#define HOST_SUPPORTED_H

#include "config/settings.h"
#include "config/tree.h"

/* Reports all of it at once, with its place in the tree that the settings were made of:
 * WEIR_EUNSUPPORTED. */
int supported_check(const struct config_tree *tree, const struct settings *settings,
                    struct report *report);

#endif
