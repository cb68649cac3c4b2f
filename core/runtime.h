/*
 * runtime.h - one running Weir: its dispatchers, actors, pools and names. No globals: several live
 * in one process.
 *
 * Life: create, add dispatchers, create pools and sources, start; ... stop, destroy. Threads are
 * those of the dispatchers and one more, the timekeeper, which sleeps while they do; the runtime
 * installs no signal handler and writes nowhere but to the callbacks of its options.
 *
 * What its actors use of it, and outside threads, stands in actor/runtime.h.
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "actor/runtime.h"

/* WEIR_ENOMEM. Returns owned. */
int runtime_create(const struct runtime_options *options, struct runtime **out);

/*
 * Adds a dispatcher of `threads` threads; budget 0 = the default. Before or after start; it is
 * started with the runtime, or at once. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS.
 */
int runtime_add_dispatcher(struct runtime *runtime, const char *name, uint32_t threads,
                           uint32_t budget, struct dispatcher **out);
/*
 * Takes a dispatcher away again: its threads leave. False, and nothing happens, while actors run
 * on it. Nobody makes any there meanwhile.
 */
bool runtime_retire_dispatcher(struct dispatcher *dispatcher);
/* NULL: no such dispatcher. */
struct dispatcher *runtime_find_dispatcher(struct runtime *runtime, const char *name);

/* Starts the threads. WEIR_ENOMEM. */
int runtime_start(struct runtime *runtime);

/*
 * Stops the threads after their present turns and waits for them; what is queued stays queued.
 * Not on a dispatcher thread: WEIR_EDEADLK.
 */
int runtime_stop(struct runtime *runtime);

/* After stop: frees everything, also what was never handled. NULL is allowed. */
void runtime_destroy(struct runtime *runtime);

/*
 * From the poller: the descriptor of `token` is ready for `readiness`, or WEIR_EINVALID it was
 * closed. Any thread outside. WEIR_ENOMEM: nobody was told, ask again; what nobody waits for any
 * more is 0.
 */
int runtime_ready(struct runtime *runtime, uint64_t token, int readiness);

/*
 * Asks to be told, by options.stir, when a thread of a dispatcher wakes; once or more, on that
 * thread, before it does anything. True when all of them sleep, so that nothing moves until then;
 * false: one is awake, and it may not be told. Any one thread at a time.
 */
bool runtime_rest(struct runtime *runtime);

#endif
