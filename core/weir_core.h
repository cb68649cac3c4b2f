/* SPDX-License-Identifier: MIT */
/*
 * weir_core.h - the face of core: what the host and libweir make, change, close, wait for and read.
 *
 * They include this header and nothing below it; its headers are in core/face. The folders of core
 * include the headers that they offer.
 *
 * A runtime has dispatchers, which are sets of threads, and parts: pools, sources and stand-alone
 * actors. No globals: several runtimes live in one process. A runtime installs no signal handler
 * and writes nowhere but to the callbacks of its options. Its threads are those of its dispatchers
 * and the timekeeper.
 *
 * Life: runtime_create, runtime_add_dispatcher, runtime_start; then parts are made, changed,
 * closed, waited for and destroyed; runtime_stop, then the parts that are left are destroyed, and
 * runtime_destroy.
 *
 * An outside thread works through a `struct executor *`, which it gets with runtime_enter and gives
 * back with runtime_leave. Between the two it is inside a read section and must not wait. A call
 * with an executor is made in such a section, or in a turn with the executor of that turn.
 */
#ifndef WEIR_CORE_H
#define WEIR_CORE_H

#include "face/closing.h"
#include "face/dead_letters.h"
#include "face/dead_store.h"
#include "face/figures.h"
#include "face/groups.h"
#include "face/histogram.h"
#include "face/lease_figures.h"
#include "face/leases.h"
#include "face/messages.h"
#include "face/part_ref.h"
#include "face/parts.h"
#include "face/pool.h"
#include "face/pool_change.h"
#include "face/runtime.h"
#include "face/source.h"
#include "face/standalone.h"
#include "face/turns.h"

#endif
