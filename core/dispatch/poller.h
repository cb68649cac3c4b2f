/*
 * dispatch/poller.h - waits for descriptors for the runtime, which has no I/O of its own. The
 * program may pass a poller in the options of the runtime.
 *
 *              | begin                    end
 *  begin, end  | any thread, at the same time; the poller synchronises
 *
 * The poller calls runtime_ready on a thread that is not in a turn, at most once for each begin
 * that answered 0, and never holds a lock meanwhile that begin or end take.
 */
#ifndef DISPATCH_POLLER_H
#define DISPATCH_POLLER_H

#include <stdint.h>

struct poller {
    void *context;
    /*
     * Waits until `descriptor` is ready for one of `events`, bits of enum weir_readiness. Never
     * blocks. Passes `token` to runtime_ready, maybe before this returns. WEIR_EINVALID,
     * WEIR_EUNSUPPORTED, WEIR_EEXISTS, WEIR_ENOMEM: it does not wait.
     */
    int (*begin)(void *context, int descriptor, uint32_t events, uint64_t token);
    /*
     * Ends the wait; the descriptor may be closed after its return, and may be closed already. Does
     * nothing when `token` was reported; the report may be under way. Never blocks.
     */
    void (*end)(void *context, int descriptor, uint64_t token);
};

#endif
