/* SPDX-License-Identifier: MIT */
/*
 * kit_tag.h - the tags of all kits of the program: equal names give the same pointer, as for all
 * workers of one host.
 *
 * A tag lives until the program ends. Any thread.
 */
#ifndef SDK_TESTKIT_KIT_TAG_H
#define SDK_TESTKIT_KIT_TAG_H

#include <weir/plugin.h>

/* The tag of a name. Borrows the name. NULL: it is NULL, empty, or longer than 128 bytes. Aborts
 * the program when memory is out. */
const struct weir_tag *kit_tag_find(const char *name);

#endif
