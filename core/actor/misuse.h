/* SPDX-License-Identifier: MIT */
/*
 * actor/misuse.h - counts a behaviour's breaches of its contract for its pool, and logs each once.
 *
 * It does not change the result of a call, which <weir/plugin.h> and <weir/host.h> specify. A
 * misuse of one kind is logged when a generation of a plugin commits it for the first time in a
 * pool; after that it is only counted, so that a plugin that is wrong for each message does not
 * flood the log.
 */
#ifndef ACTOR_MISUSE_H
#define ACTOR_MISUSE_H

#include <stdatomic.h>
#include <stdint.h>

struct actor;

/* The misuse, and its consequence. */
#define MISUSE_LIST(X)                                                                             \
    X(VERDICT, "handle returned an unknown verdict", "counts as a failure")                        \
    X(PRODUCED, "produce returned an unknown number", "counts as a failure")                       \
    X(IDLE, "produce waits, and nothing will wake it",                                             \
      "it produces nothing more; ask for a timer, a descriptor or an outcome first")               \
    X(OPENED, "open returned a positive number", "counts as a failed open")                        \
    X(OUTPUT, "emitted on an output that its behaviour does not declare",                          \
      "refused, the message is still the worker's")                                                \
    X(GIVEN, "sent or freed a message that is not its own any more",                               \
      "refused, the message stays where it is")                                                    \
    X(SETTLED, "settled a message that it does not keep", "refused, nothing is settled twice")     \
    X(UNSETTLED, "settled a kept message with a verdict that settles nothing",                     \
      "refused, it is still kept")                                                                 \
    X(PUT_BACK, "put back a message that it does not have", "refused, nothing comes twice")        \
    X(FORGOTTEN, "ended before it settled a kept message", "dead letter")

enum misuse {
#define MISUSE_ENUM(name, event, effect) MISUSE_##name,
    MISUSE_LIST(MISUSE_ENUM)
#undef MISUSE_ENUM
        MISUSES,
};

/* The misuses of one pool, or one source. Zeros at first. Relaxed throughout: figures that order
 * nothing. */
struct misuses {
    _Atomic uint64_t counts[MISUSES]; /* any worker's turn adds */
    _Atomic uint64_t
        logged[MISUSES]; /* the newest generation that was logged, plus one; 0 = none */
};

/*
 * Counts a misuse, and logs the first of its kind. `value` is the wrong result or argument. Owner's
 * turn.
 */
void misuse_report(struct actor *actor, enum misuse misuse, int64_t value);

/* The sum of all kinds. Any thread. */
uint64_t misuses_total(struct misuses *misuses);

/* Adds the counts of `gone`, which no longer change. */
void misuses_absorb(struct misuses *misuses, struct misuses *gone);

#endif
