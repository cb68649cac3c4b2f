/* SPDX-License-Identifier: MIT */
/*
 * rig.h - a runtime under test: one dispatcher, a clock that stands still until the test moves it.
 *
 * Life: init, pools..., finish. All calls come from the thread of the test, which is an outside
 * thread. A handler uses its own `self`.
 */
#ifndef TESTS_UNIT_SUPPORT_RIG_H
#define TESTS_UNIT_SUPPORT_RIG_H

#include "pool/figures.h"
#include "pool/pool.h"
#include "pool/resize.h"
#include "runtime.h"
#include "unit/support/probe.h"

struct rig {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    _Atomic uint64_t now_ns;
};

/* A dispatcher of `threads` threads; budget 0 = the usual one. Ends the program without memory. */
void rig_init(struct rig *rig, uint32_t threads, uint32_t budget);

/* As rig_init, but starts no thread: only rig_step takes turns. */
void rig_init_still(struct rig *rig, uint32_t threads, uint32_t budget);

/* Takes turns, on the thread of the test, until a condition holds; false: not after `steps`. */
bool rig_step(struct rig *rig, bool (*done)(void *context), void *context, uint32_t steps);

/* After all pools have been ended: stops, and frees everything. */
void rig_finish(struct rig *rig);

/* Moves the clock, and has the timekeeper look at it. */
void rig_advance(struct rig *rig, uint64_t ms);

/* Waits for a condition, looking at it again and again. */
bool rig_wait(struct rig *rig, bool (*done)(void *context), void *context);

/* Waits until a probe has taken a note `times` times. */
bool rig_noted(struct rig *rig, struct probe *probe, uint64_t note, uint32_t times);

/*
 * A spec of the probe's behaviour, owned by the caller, who may change its fields before the first
 * pool.
 */
struct spec *rig_spec(struct probe *probe);

/* Makes a pool; dispatcher and, if NULL, path are filled in. NULL when it was refused. */
struct pool *rig_pool(struct rig *rig, const struct pool_options *options);

/* A pool named `path` of `size` workers of the probe, all of them open. */
struct pool *rig_workers(struct rig *rig, struct probe *probe, const char *path, uint32_t size,
                         uint32_t limit);

/* Waits until as many workers as wanted are open, and none leaves. */
bool rig_settled(struct rig *rig, struct pool *pool);

/* Sends an order from outside; on refusal it is freed. Answers as weir_send. */
int rig_send(struct rig *rig, weir_pid to, struct order order);
/* As rig_send to the pool, whose route chooses the worker number `index`. */
int rig_send_routed(struct rig *rig, struct pool *pool, uint32_t index, struct order order);
int rig_send_lane(struct rig *rig, weir_pid to, enum weir_lane lane, struct order order);
/* As rig_send with a key. */
int rig_send_key(struct rig *rig, weir_pid to, uint64_t key, struct order order);

/* From outside. */
int rig_resize(struct rig *rig, struct pool *pool, uint32_t target, struct weir_resized *out);
void rig_close(struct rig *rig, struct pool *pool);

struct ledger_reading rig_ledger(struct pool *pool);
struct weir_pool_stats rig_stats(struct pool *pool);
uint64_t rig_dead(struct pool *pool, enum dead_reason reason);

/* Waits until nothing is queued, in hand or held in the pool. */
bool rig_drained(struct rig *rig, struct pool *pool);

/* Closes a pool if it is not closed, waits for its end, frees it; false: it did not end, or its
 * ledger does not balance. The last reading is left in `out`, which may be NULL. */
bool rig_end(struct rig *rig, struct pool *pool, struct ledger_reading *out);

/* The PID of the pool's worker number `index`. */
weir_pid rig_worker(struct pool *pool, uint32_t index);

#endif
