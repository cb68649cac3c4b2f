/*
 * plugin/catalogue.h - the language's view of the plugins: finds `plugin.behaviour` by the loader.
 *
 * Each plugin is looked up once a round, however often a file names it; so all parts of one
 * configuration see one version of it. A new round, for a reload, looks again.
 *
 * Life: catalogue_create .. catalogue_destroy, after the settings that were made with it, before
 * the loader. Not synchronised.
 */
#ifndef HOST_PLUGIN_CATALOGUE_H
#define HOST_PLUGIN_CATALOGUE_H

#include "config/catalogue.h"
#include "config/tree.h"
#include "host/plugin/loader.h"

struct plugin_catalogue;

/* Returns owned through `out`; borrows the loader until catalogue_destroy. WEIR_ENOMEM. */
int catalogue_create(struct loader *loader, struct plugin_catalogue **out);
/* NULL is allowed. */
void catalogue_destroy(struct plugin_catalogue *catalogue);

/*
 * Begins a round for the file in `tree`: looks in the directories of its host.plugins, then in the
 * default ones. WEIR_ENOMEM.
 */
int catalogue_begin(struct plugin_catalogue *catalogue, const struct config_tree *tree);

/*
 * Ends the round, and unloads the plugins that nobody uses, where they say that they can be: those
 * that no counted settings name, so settings of an earlier round are counted or gone. Returns how
 * many stay mapped though nobody uses them. catalogue_begin does it, too.
 */
uint32_t catalogue_tidy(struct plugin_catalogue *catalogue);

/*
 * For this round each behaviour's `check` is called in a process of its own first, by `program`
 * (borrowed until the next round): see probe_checks. What does not return there is not called here,
 * and is wrong.
 */
void catalogue_try_checks(struct plugin_catalogue *catalogue, const char *program);

/* The file of the plugin that was loaded as the `index`th of this round; NULL: there are not so
 * many. Borrowed until the next round. */
const char *catalogue_file(const struct plugin_catalogue *catalogue, size_t index);

/* For config_check. Borrowed until catalogue_destroy; the entries that it finds until their plugin
 * is unloaded: see catalogue_tidy. */
const struct catalogue *catalogue_get(const struct plugin_catalogue *catalogue);

#endif
