/*
 * run/crash.h - says whose code it was when a signal ends the host.
 *
 * A fault in a plugin is a fault of the whole process. The handler writes, with write(2) alone,
 * which signal, pool, plugin, generation, worker and message it was, then lets the signal end the
 * process as it would have. It never tries to go on. A fault in the host's own code is told with
 * the last callback of the thread, which may have overwritten what the host stumbled over.
 *
 * One per process: signal handlers have no other place to find it.
 */
#ifndef HOST_RUN_CRASH_H
#define HOST_RUN_CRASH_H

#include <stdbool.h>
#include <stdint.h>

/* Who runs on this thread, or ran there last. Its strings must stay readable. */
struct crash_note {
    const char *pool;  /* any string may be NULL */
    const char *label; /* `plugin=NAME/VERSION generation=N behaviour=NAME` */
    const char *tag;
    uint32_t worker;
    bool inside; /* the callback runs */
};

struct line;

/* ` pool=... plugin=... worker=... message=...`, safe in a signal handler. */
void crash_describe(struct line *line, const struct crash_note *note);

/*
 * Installs the handler for SEGV, BUS, ILL, FPE and ABRT. `current` answers, in a signal handler,
 * who runs or ran on the calling thread (borrowed), or NULL for the host itself; it may be NULL.
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
