/* SPDX-License-Identifier: MIT */
#include "dispatch/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"

void futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u),
                                .tv_nsec = (long)(timeout_ns % 1000000000u) };

    lock_expect_none();
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected,
                  timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}

void futex_wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void futex_wake_all(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
