/* SPDX-License-Identifier: MIT */
/*
 * base/lock.h - a lock of core, libweir or the host: a mutex with a rank.
 *
 * A thread acquires locks in the order of their ranks (lock_rank.h). It holds none while it waits,
 * or while it calls a function of a plugin or of the program. Builds with WEIR_CHECKS check both
 * (lock_order.h); in others a lock is the mutex alone.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/lock_order.h"
#include "base/lock_rank.h"

#ifdef WEIR_CHECKS
#define LOCK_CHECK(call) call
#else
#define LOCK_CHECK(call) ((void)0)
#endif

struct lock {
    pthread_mutex_t mutex;
#ifdef WEIR_CHECKS
    struct lock_order order;
#endif
};

/* A lock of several that are nested: of those with the same rank a thread acquires the one with the
 * lower depth first. */
static inline void lock_init_nested(struct lock *lock, enum lock_rank rank, uint32_t depth)
{
    (void)pthread_mutex_init(&lock->mutex, NULL);
    LOCK_CHECK((lock->order = (struct lock_order){ .rank = rank, .depth = depth }));
    (void)rank;
    (void)depth;
}

/* No thread holds two of this rank. */
static inline void lock_init(struct lock *lock, enum lock_rank rank)
{
    lock_init_nested(lock, rank, 0);
}

/* No thread holds it. */
static inline void lock_finish(struct lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

/* The functions whose names end in `_at` are called by the macros below. */

static inline void lock_acquire_at(struct lock *lock, struct lock_site site)
{
    LOCK_CHECK(lock_order_check(&lock->order, site));
    (void)pthread_mutex_lock(&lock->mutex);
    LOCK_CHECK(lock_order_push(&lock->order, site));
    (void)site;
}

static inline void lock_acquire_beside_at(struct lock *lock, struct lock *parent,
                                          struct lock_site site)
{
    LOCK_CHECK(lock_order_check_beside(&lock->order, &parent->order, site));
    (void)pthread_mutex_lock(&lock->mutex);
    LOCK_CHECK(lock_order_push(&lock->order, site));
    (void)parent;
    (void)site;
}

static inline bool lock_try_at(struct lock *lock, struct lock_site site)
{
    bool acquired = pthread_mutex_trylock(&lock->mutex) == 0;

    if (acquired)
        LOCK_CHECK(lock_order_push(&lock->order, site));
    (void)site;
    return acquired;
}

static inline void lock_release(struct lock *lock)
{
    LOCK_CHECK(lock_order_pop(&lock->order));
    (void)pthread_mutex_unlock(&lock->mutex);
}

static inline void lock_wait_at(struct lock *lock, pthread_cond_t *condition, struct lock_site site)
{
    LOCK_CHECK(lock_order_check_only(&lock->order, site));
    LOCK_CHECK(lock_order_pop(&lock->order)); /* meanwhile other threads have the lock */
    (void)pthread_cond_wait(condition, &lock->mutex);
    LOCK_CHECK(lock_order_push(&lock->order, site));
    (void)site;
}

static inline bool lock_wait_until_at(struct lock *lock, pthread_cond_t *condition,
                                      const struct timespec *until, struct lock_site site)
{
    bool in_time;

    LOCK_CHECK(lock_order_check_only(&lock->order, site));
    LOCK_CHECK(lock_order_pop(&lock->order)); /* meanwhile other threads have the lock */
    in_time = pthread_cond_timedwait(condition, &lock->mutex, until) != ETIMEDOUT;
    LOCK_CHECK(lock_order_push(&lock->order, site));
    (void)site;
    return in_time;
}

#define LOCK_HERE ((struct lock_site){ __FILE__, __LINE__ })

#define lock_acquire(lock) lock_acquire_at((lock), LOCK_HERE)
/* One of several with the same rank and depth, all at the same time: under the lock of `parent`,
 * without which no thread acquires a second one. */
#define lock_acquire_beside(lock, parent) lock_acquire_beside_at((lock), (parent), LOCK_HERE)
/* False: another thread holds it. In any order, since the thread does not wait. */
#define lock_try(lock) lock_try_at((lock), LOCK_HERE)
/* Releases the lock until the condition is signalled; may return at any time. */
#define lock_wait(lock, condition) lock_wait_at((lock), (condition), LOCK_HERE)
/* As lock_wait; false: `until` has passed. */
#define lock_wait_until(lock, condition, until)                                                    \
    lock_wait_until_at((lock), (condition), (until), LOCK_HERE)

/* The thread is about to wait, or to call a function of a plugin. */
#define lock_expect_none()                                                                         \
    LOCK_CHECK(lock_order_check_none((enum lock_rank)0, LOCK_LAST, LOCK_HERE))
/* It is about to call a function of the program, which may hold locks of its own. */
#define lock_expect_none_of_core()                                                                 \
    LOCK_CHECK(lock_order_check_none(LOCK_CORE_FIRST, LOCK_CORE_LAST, LOCK_HERE))

#endif
