/*
 * run/crash.h - says whose code it was when a signal ends the host.
 *
 * A fault in a plugin is a fault of the whole process. The handler writes, with write(2) alone,
 * which signal, pool, plugin, generation, worker and message it was, then lets the signal end the
 * process as it would have. It never tries to go on.
 *
 * One per process: signal handlers have no other place to find it.
 */
#ifndef HOST_RUN_CRASH_H
#define HOST_RUN_CRASH_H

#include <stdint.h>

/* Who runs on this thread. Its strings must stay readable while it is current. */
struct crash_note {
    const char *path; /* of the worker, such as `pool#3`; any string may be NULL */
    const char *pool;
    const char *plugin;
    const char *version;
    uint32_t generation;
    uint32_t worker;
    const char *behaviour;
    const char *tag;
};

/*
 * Installs the handler for SEGV, BUS, ILL, FPE and ABRT. `current` answers, in a signal handler,
 * who runs on the calling thread (borrowed), or NULL for the host itself; it may be NULL.
 * `descriptor` is where the words go. 0, or WEIR_EINVALID when the system refuses.
 */
int crash_install(const struct crash_note *(*current)(void), int descriptor);
/* Puts back what was there before. */
void crash_uninstall(void);

/* The stack of one thread's handler. Owned by the thread; zeros = none. */
struct crash_stack {
    void *memory;
};

/*
 * Gives the calling thread a stack of its own for the handler, so that a stack overflow is told,
 * too; leaves one that it has (a sanitizer's) as it is. A thread without one is told of as well,
 * unless its stack is what broke. WEIR_ENOMEM.
 */
int crash_thread_begin(struct crash_stack *out_stack);
/* Takes it away, on the same thread. */
void crash_thread_end(struct crash_stack *stack);

#endif
