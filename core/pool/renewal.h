/*
 * pool/renewal.h - the workers of a pool are restarted in their places, and nothing is lost.
 *
 * A worker that is asked takes nothing new, settles what it keeps, and begins another incarnation:
 * its mailbox, outbox, retries and counters stay, what it has stashed is given to the next
 * incarnation first. One that keeps messages for too long may be told to go on as it is.
 *
 *      NONE --- ask ---> ASKED --- nothing kept ---> BEGUN --- open = 0 ---> NONE
 *                          \--- take back ---> NONE    \--- open < 0 ---> FAILED (as BEGUN)
 *
 * The state is in the worker's place, under its pool's lock. Parents lock before children.
 */
#ifndef POOL_RENEWAL_H
#define POOL_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

struct actor;
struct executor;
struct place;
struct pool;

enum renewal {
    RENEWAL_NONE,
    RENEWAL_ASKED,
    RENEWAL_BEGUN,
    RENEWAL_FAILED, /* its open; tried again as after any failure */
};

/* How many workers are in which state. */
struct renewal_counts {
    uint32_t asked, begun, failed;
};

/* Asks each worker of a pool and of those below it. Returns how many. Any thread, in a read
 * section. */
uint32_t renewal_ask(struct pool *pool, struct executor *executor);

/* Adds the workers of a pool and of those below it. Any thread. */
void renewal_count(struct pool *pool, struct renewal_counts *sum);

/* Those that have not begun go on as they are. Returns how many. Any thread, in a read section. */
uint32_t renewal_take_back(struct pool *pool, struct executor *executor);

/* It was asked, or that was taken back. In its own turn. */
void renewal_obey(struct actor *actor);

/* Takes a worker that was asked one step on. False: it keeps messages. In its own turn. */
bool renewal_step(struct actor *actor);

/* Its worker has opened, or could not. The pool's lock is held. */
void renewal_opened_locked(struct place *place);
void renewal_broken_locked(struct place *place);

#endif
