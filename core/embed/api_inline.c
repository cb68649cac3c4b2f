/* SPDX-License-Identifier: MIT */
/*
 * The inline functions of the headers as functions of libweir, for languages that cannot compile
 * them. The linker's map shows them.
 */
#define WEIR_INLINE __attribute__((visibility("default")))

/* Their only declaration is the definition in the header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <weir/runtime.h>
