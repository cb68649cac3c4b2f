/* SPDX-License-Identifier: MIT */
#include "storm/fiber_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dispatch/executor.h"
#include "storm/fibers.h"

#define STEPS_MAX 20000000u /* more means an endless loop */
#define NS_PER_S 1000000000u

struct thread {
    void *(*main)(void *argument);
    void *argument;
};

/* Global: the functions of the C library have no context. By the number of the fiber. */
static struct thread threads[FIBERS_MAX];

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *argument), void *argument);
int __real_pthread_join(pthread_t thread, void **out_result);
int __real_pthread_setname_np(pthread_t thread, const char *name);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __real_pthread_cond_signal(pthread_cond_t *condition);
int __real_pthread_cond_broadcast(pthread_cond_t *condition);
int __real_clock_gettime(clockid_t clock, struct timespec *out);
struct executor *__real_executor_of_this_thread(void);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *argument), void *argument);
int __wrap_pthread_join(pthread_t thread, void **out_result);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
void __wrap_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void __wrap_futex_wake(_Atomic uint32_t *word);
void __wrap_futex_wake_all(_Atomic uint32_t *word);
struct executor *__wrap_executor_of_this_thread(void);

static bool in_fiber(void)
{
    uint32_t number;

    return fibers_in_one(&number);
}

/* --- threads --------------------------------------------------------------------------------- */

static void run_thread(void *context)
{
    struct thread *thread = context;
    uint32_t number;

    (void)fibers_in_one(&number);
    threads[number] = *thread;
    free(thread);
    (void)threads[number].main(threads[number].argument);
    threads[number] = (struct thread){ NULL, NULL };
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *argument), void *argument)
{
    struct thread *started;

    if (!in_fiber())
        return __real_pthread_create(thread, attributes, main, argument);
    started = malloc(sizeof *started);
    if (!started)
        return EAGAIN;
    *started = (struct thread){ main, argument };
    *thread = (pthread_t)fibers_add_here(run_thread, started) + 1;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **out_result)
{
    if (!in_fiber())
        return __real_pthread_join(thread, out_result);
    fibers_join((uint32_t)thread - 1);
    return 0;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    return in_fiber() ? 0 : __real_pthread_setname_np(thread, name);
}

/* It is kept in a variable of the thread, of which all fibers have one. */
struct executor *__wrap_executor_of_this_thread(void)
{
    uint32_t number;

    if (!fibers_in_one(&number))
        return __real_executor_of_this_thread();
    return threads[number].main == executor_main ? threads[number].argument : NULL;
}

/* --- waiting --------------------------------------------------------------------------------- */

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    bool woken;

    if (!in_fiber())
        return __real_pthread_cond_timedwait(condition, mutex, until);
    fibers_unlock(mutex);
    woken = fibers_sleep(condition, (uint64_t)until->tv_sec * NS_PER_S + (uint64_t)until->tv_nsec);
    (void)pthread_mutex_lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!in_fiber())
        return __real_pthread_cond_wait(condition, mutex);
    fibers_unlock(mutex);
    (void)fibers_sleep(condition, UINT64_MAX);
    return pthread_mutex_lock(mutex);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (!in_fiber())
        return __real_pthread_cond_signal(condition);
    fibers_wake(condition, 1);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!in_fiber())
        return __real_pthread_cond_broadcast(condition);
    fibers_wake(condition, UINT32_MAX);
    return 0;
}

void __wrap_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    uint64_t now;

    if (!in_fiber()) /* the runtime lives in fibers alone */
        abort();
    lock_expect_none();
    now = fibers_now_ns();
    if (atomic_load(word) == expected)
        (void)fibers_sleep(word, timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns);
}

void __wrap_futex_wake(_Atomic uint32_t *word)
{
    fibers_wake(word, 1);
}

void __wrap_futex_wake_all(_Atomic uint32_t *word)
{
    fibers_wake(word, UINT32_MAX);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!in_fiber() || clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, out);
    out->tv_sec = (time_t)(fibers_now_ns() / NS_PER_S);
    out->tv_nsec = (long)(fibers_now_ns() % NS_PER_S);
    return 0;
}

/* --- running --------------------------------------------------------------------------------- */

struct program {
    void (*body)(void *context);
    void *context;
};

static void run_program(void *context)
{
    struct program *program = context;

    program->body(program->context);
}

bool fiber_threads_run(uint64_t seed, void (*body)(void *context), void *context)
{
    static const uint32_t preempts[] = { 0, 200, 40, 10, 3 };
    static const uint32_t steps_between[] = { 1000, 200, 50, 10 };
    static const uint64_t steps_ns[] = { 1, 2000, 20000 };
    struct program program = { body, context };
    struct fibers *fibers = fibers_create(seed, preempts[seed % 5]);
    bool ended;

    fibers_preempt_steps(fibers, steps_between[seed % 4]);
    fibers_set_step_ns(fibers, steps_ns[seed % 3]);
    (void)fibers_add(fibers, run_program, &program, 1);
    ended = fibers_run(fibers, STEPS_MAX);
    if (ended) {
        fibers_destroy(fibers);
        return true;
    }
    (void)fprintf(stderr, "wrong: nothing can go on, or there is no end\n");
    fibers_print(fibers);
    return false;
}
