/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - a running Weir inside core: the part that actors use, and the face that makes it.
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "actor/runtime.h"
#include "weir_core.h"

#endif
