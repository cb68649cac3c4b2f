/*
 * dispatch/poller.h - who waits for descriptors on behalf of the runtime, which has no I/O of its
 * own: the program around it gives one in the options of the runtime, or none.
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
     * blocks. `token` comes back in runtime_ready, maybe before this returns. WEIR_EINVALID,
     * WEIR_EUNSUPPORTED, WEIR_EEXISTS, WEIR_ENOMEM: it does not wait.
     */
    int (*begin)(void *context, int descriptor, uint32_t events, uint64_t token);
    /*
     * Waits no more; the descriptor may be closed from its return on, and may be closed already.
     * Nothing happens when it has told `token`; it may tell it while this runs. Never blocks.
     */
    void (*end)(void *context, int descriptor, uint64_t token);
};

#endif
