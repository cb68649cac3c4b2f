/*
 * pool/fullness.h - a pool that is known to be full refuses without looking at its members again.
 *
 * Whoever has looked at all members and was refused by each looks a second time whether all are
 * *surely* full: full by count, and of an owner who announces what it frees. Then the word says
 * FULL, and a refusal costs one look. The first place that comes free below, or anything else that
 * makes room, says OPEN again, in the pool and in all above.
 *
 *                   refused             surely full
 *          OPEN -------------> LOOKING -------------> FULL      each OPEN has a new version
 *           ^                     |                     |
 *           +---------------------+---------------------+
 *                 a place came free, or something has changed
 *
 * No false FULL: the owner of a mailbox first frees the place and then looks at the words of its
 * pools; who looks for fullness first says LOOKING and then looks at the mailboxes. So one of them
 * sees the other, and a word that was LOOKING when a place came free is of an older version when it
 * is to say FULL. A place is free, for others, when its owner has looked, before it handles what it
 * took.
 *
 * An owner announces once its pool, with all that it is nested in, has more than FULLNESS_FEW
 * workers; below that looking at all of them is as good. Only where one member is as good as
 * another is there anything to know: not with hash, whose key has one owner, not with broadcast,
 * which remembers who refused last (broadcast.c), nor above such pools. Messages at or above the
 * smallest `bytes_limit` below are looked at each time: they are INVALID, not FULL.
 */
#ifndef POOL_FULLNESS_H
#define POOL_FULLNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct actor;
struct message;
struct pool;

#define FULLNESS_FEW 16u

struct fullness {
    /* any thread: size below which messages are refused, version, state */
    _Atomic uint64_t word;
    _Atomic uint32_t workers; /* of the topmost pool: of all below it; written under their locks */
    uint32_t counted;         /* lock of the pool: what it has added to that */
    struct pool *top;         /* const: the topmost pool, maybe itself */
};

/* With the parent set. */
void fullness_init(struct pool *pool);

/* The number of its workers has changed; pool->lock is held. */
void fullness_count_locked(struct pool *pool, uint32_t workers);

/* True when a message of that size would be refused with FULL for sure. Any thread. */
bool fullness_refuses(struct pool *pool, size_t size);

/* All members have refused a message. Any thread, in a read section. */
void fullness_note(struct pool *pool);

/* Something other than a freed place has made room in the pool. Any thread. */
void fullness_forget(struct pool *pool);

/* --- the members' turns ---------------------------------------------------------------------- */

/* At the beginning of a turn of a pool's worker. */
void fullness_attend(struct actor *actor);

/* As mailbox_pop, and those are told who know the pool to be full. */
struct message *fullness_pop(struct actor *actor);

/* A place came free in the queue of a pool that routes by pull. */
void fullness_tell(struct pool *pool);

#endif
