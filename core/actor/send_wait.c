/* SPDX-License-Identifier: MIT */
#include "actor/send_wait.h"

#include "actor/find.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "dispatch/futex.h"

/* One waiting thread; on its stack. */
struct sleeper {
    struct waiter waiter;
    _Atomic uint32_t woken; /* futex: set by a wake-up, cleared by the sleeper before it checks */
};

static void wake(struct waiter *waiter, struct executor *executor)
{
    struct sleeper *sleeper = LIST_ENTRY(waiter, struct sleeper, waiter);

    (void)executor;
    atomic_store_explicit(&sleeper->woken, 1, memory_order_seq_cst);
    futex_wake(&sleeper->woken);
}

/* Sends, and uses up a granted place, if any; a refused grant passes on when the waiter leaves. */
static int try_to_send(struct runtime *runtime, struct executor *executor, struct sleeper *sleeper,
                       weir_pid to, struct message *message)
{
    uint32_t granted = wait_queue_granted(&sleeper->waiter);
    int status = send_message(runtime, executor, to, WEIR_NORMAL, message);

    if (status == 0 && granted > 0)
        wait_queue_use(&sleeper->waiter, 1);
    return status;
}

/* One attempt, in a read section. WEIR_EFULL: the thread is in line now. */
static int try_or_join(struct runtime *runtime, struct executor *executor, struct sleeper *sleeper,
                       weir_pid to, struct message *message)
{
    int status = try_to_send(runtime, executor, sleeper, to, message);
    struct wait_queue *queue;

    if (status != WEIR_EFULL)
        return status;
    queue = room_queue_of(actor_find(runtime, to));
    if (!queue)
        return WEIR_ENOMEM;
    wait_queue_join(queue, &sleeper->waiter, 1, executor);
    /* The second check: see wait_queue.h. */
    return try_to_send(runtime, executor, sleeper, to, message);
}

/* False: the time is over. */
static bool sleep_until_woken(struct sleeper *sleeper, const struct clock *clock,
                              uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = clock_now_ns(clock);

        if (atomic_load_explicit(&sleeper->woken, memory_order_seq_cst))
            return true;
        if (now >= deadline_ns)
            return false;
        futex_wait(&sleeper->woken, 0, deadline_ns == UINT64_MAX ? UINT64_MAX : deadline_ns - now);
    }
}

int send_wait(struct runtime *runtime, weir_pid to, struct message *message, uint64_t timeout_ms)
{
    struct clock clock = clock_monotonic();
    uint64_t deadline_ns = clock_after_ms(&clock, timeout_ms);
    struct executor *executor;
    struct sleeper sleeper;
    bool in_time;
    int status;

    if (runtime_is_own_thread(runtime))
        return WEIR_EDEADLK;
    executor = runtime_enter(runtime);
    if (!executor)
        return WEIR_ENOMEM;
    waiter_init(&sleeper.waiter, wake);
    for (;;) {
        atomic_store_explicit(&sleeper.woken, 0, memory_order_seq_cst);
        status = try_or_join(runtime, executor, &sleeper, to, message);
        if (status != WEIR_EFULL)
            break;
        runtime_pause(executor);
        in_time = sleep_until_woken(&sleeper, &clock, deadline_ns);
        runtime_resume(executor);
        if (runtime_is_ending(runtime)) {
            status = WEIR_ECLOSED;
            break;
        }
        if (!in_time) {
            /* No last attempt: a waiter in line is woken for every place. */
            status = WEIR_ETIMEOUT;
            break;
        }
    }
    wait_queue_leave(&sleeper.waiter, executor);
    runtime_leave(executor);
    return status;
}
