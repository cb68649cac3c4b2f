/* SPDX-License-Identifier: MIT */
/*
 * isolation/settings_image.h - the settings of a behaviour as bytes, for a process that has loaded
 * the same plugin.
 *
 * The bytes are the struct itself, then what its texts, lists and maps refer to. So the process
 * parses no option and reads no file.
 */
#ifndef HOST_ISOLATION_SETTINGS_IMAGE_H
#define HOST_ISOLATION_SETTINGS_IMAGE_H

#include <weir/plugin.h>

#include "host/isolation/parcel.h"

/* Failures are those of the parcel. */
void settings_image_pack(const struct weir_behaviour *behaviour, const void *settings,
                         struct parcel *out);
/* Returns owned; it is never freed in parts. NULL: memory is out, or the bytes are wrong. */
void *settings_image_unpack(const struct weir_behaviour *behaviour, struct unparcel *from);

#endif
