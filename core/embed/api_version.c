/* SPDX-License-Identifier: MIT */
/* See weir/runtime.h. */
#include <weir/runtime.h>

#ifndef WEIR_VERSION
#error "the build gives WEIR_VERSION, from the project's version"
#endif

const char *weir_runtime_version(void)
{
    return WEIR_VERSION;
}
