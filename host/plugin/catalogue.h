/* SPDX-License-Identifier: MIT */
/*
 * plugin/catalogue.h - the language's view of the plugins: finds `plugin.behaviour` by the loader.
 *
 * A round is one reading of a configuration. It looks up each plugin once, so all parts of the
 * configuration see one version of each plugin.
 *
 * Life: catalogue_create .. catalogue_destroy, after the settings that were made with it, before
 * the loader. Not synchronised.
 */
#ifndef HOST_PLUGIN_CATALOGUE_H
#define HOST_PLUGIN_CATALOGUE_H

#include "config/catalogue.h"
#include "config/files.h"
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
 * Ends the round, and unloads the plugins that no counted settings name, if they allow it. So
 * settings of an earlier round must be counted or destroyed. Returns the number of unused plugins
 * that stay mapped. catalogue_begin calls it, too.
 */
uint32_t catalogue_tidy(struct plugin_catalogue *catalogue);

/*
 * For this round: calls each behaviour's `check` in a separate process first, with `program`
 * (borrowed until the next round): see probe_checks. A check that does not return there is not
 * called here and counts as a mistake.
 */
void catalogue_try_checks(struct plugin_catalogue *catalogue, const char *program);

/* From now on in this round, each file that is looked at is added to `files`, with its stamp of
 * before. Borrowed until the next call, or the next round. NULL: to none. */
void catalogue_note_files(struct plugin_catalogue *catalogue, struct config_files *files);

/* The file of the plugin that this round loaded as number `index`; NULL: past the last. Borrowed
 * until the next round. */
const char *catalogue_file(const struct plugin_catalogue *catalogue, size_t index);

/* For config_check. Borrowed until catalogue_destroy; its entries are valid until their plugin is
 * unloaded: see catalogue_tidy. */
const struct catalogue *catalogue_get(const struct plugin_catalogue *catalogue);

/* Sets `entry->image`, which another process can open, as long as the plugin is loaded. As
 * loader_keep_image. */
int catalogue_keep_image(struct plugin_catalogue *catalogue, const struct catalogue_entry *entry,
                         struct problem *problem);

#endif
