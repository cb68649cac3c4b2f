/* SPDX-License-Identifier: MIT */
/*
 * weir/inline.h - how the functions of these headers are defined.
 *
 * Part of <weir/plugin.h> and <weir/runtime.h>: include one of them. A C or C++ program compiles
 * the functions itself. libweir has a copy of each under its name, for other languages.
 */
#ifndef WEIR_INLINE_H
#define WEIR_INLINE_H

#ifndef WEIR_INLINE
#define WEIR_INLINE static inline
#endif

#endif
