/*
 * runtime.h - a running Weir inside core: what actors use of it, and the face that makes it.
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "actor/runtime.h"
#include "weir_core.h"

#endif
