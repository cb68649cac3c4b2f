/*
 * dispatch/share.h - references to one object that a thread holds in advance.
 *
 * An object whose references many threads take and give has its count on a line that all of them
 * write. A thread takes SHARE_BATCH references at once instead, and gives its own ones back to its
 * share; so it writes the count once for so many. It returns a share that was not used since its
 * last look, and all of them before it sleeps: the last reference is then given back at most two
 * looks later than without shares.
 *
 *            | take give look return
 *   all      |          X               X = one thread at a time; of the object: any threads
 */
#ifndef DISPATCH_SHARE_H
#define DISPATCH_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHARE_BATCH 64u
#define SHARES 4u /* of a thread; further objects are counted without one */

/* Part of an object that many threads refer to. */
struct refcount {
    _Atomic uint32_t references;
    void (*release)(struct refcount *object); /* const: after the last reference */
};

struct share {
    struct refcount *object; /* NULL: none */
    uint32_t spare;          /* references that the thread holds, and nothing uses */
    bool used;               /* since the last look */
};

struct shares {
    struct share shares[SHARES];
};

/* One more reference, for a caller that has one already. */
void refcount_take(struct refcount *object);
void refcount_give(struct refcount *object);

/* The same from the thread's share. */
void shares_take(struct shares *shares, struct refcount *object);
void shares_give(struct shares *shares, struct refcount *object);

/* Between two turns, now and then: returns the shares that were not used since the last call. */
void shares_look(struct shares *shares);
void shares_return(struct shares *shares);

#endif
