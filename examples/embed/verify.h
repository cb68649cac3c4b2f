/* SPDX-License-Identifier: MIT */
/*
 * verify.h - workers that unpack each written file, and give it its final name when it is right.
 */
#ifndef PACK_VERIFY_H
#define PACK_VERIFY_H

#include <weir/plugin.h>

/* Takes a struct job of compress, emits it at output 0 when the packed file is right. */
extern const struct weir_behaviour verify_behaviour;

#endif
