/*
 * base/lock.h - a lock of core: a mutex that all threads of the runtime may acquire.
 *
 * No thread waits for anything else, or runs plugin code, while it holds one.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct lock {
    pthread_mutex_t mutex;
};

static inline void lock_init(struct lock *lock)
{
    (void)pthread_mutex_init(&lock->mutex, NULL);
}

/* No thread holds it. */
static inline void lock_finish(struct lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

static inline void lock_acquire(struct lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

/* False: another thread holds it. */
static inline bool lock_try(struct lock *lock)
{
    return pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void lock_release(struct lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

#endif
