/* SPDX-License-Identifier: MIT */
/*
 * A program built for ThreadSanitizer yields at some of its atomic operations, so that threads meet
 * where the scheduler alone would hardly ever interrupt them. The linker redirects the calls that
 * the compiler made of atomic operations to this file: see weir_shake in tests/CMakeLists.txt.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define ONE_IN 1024u /* more yields leave little progress on a busy machine */

static void may_give_way(void)
{
    static _Thread_local uint64_t state;

    if (state == 0)
        state = (uint64_t)(uintptr_t)&state | 1; /* another one for each thread */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (state % ONE_IN == 0)
        (void)sched_yield();
}

#define READ_MODIFY_WRITE(bits, type, name)                                                        \
    type __real___tsan_atomic##bits##_##name(type *at, type value, int order);                     \
    type __wrap___tsan_atomic##bits##_##name(type *at, type value, int order);                     \
    type __wrap___tsan_atomic##bits##_##name(type *at, type value, int order)                      \
    {                                                                                              \
        may_give_way();                                                                            \
        return __real___tsan_atomic##bits##_##name(at, value, order);                              \
    }

#define COMPARE_EXCHANGE(bits, type, name)                                                         \
    bool __real___tsan_atomic##bits##_##name(type *at, type *expected, type value, int order,      \
                                             int other);                                           \
    bool __wrap___tsan_atomic##bits##_##name(type *at, type *expected, type value, int order,      \
                                             int other);                                           \
    bool __wrap___tsan_atomic##bits##_##name(type *at, type *expected, type value, int order,      \
                                             int other)                                            \
    {                                                                                              \
        may_give_way();                                                                            \
        return __real___tsan_atomic##bits##_##name(at, expected, value, order, other);             \
    }

#define ATOMICS(bits, type)                                                                        \
    type __real___tsan_atomic##bits##_load(const type *at, int order);                             \
    type __wrap___tsan_atomic##bits##_load(const type *at, int order);                             \
    type __wrap___tsan_atomic##bits##_load(const type *at, int order)                              \
    {                                                                                              \
        may_give_way();                                                                            \
        return __real___tsan_atomic##bits##_load(at, order);                                       \
    }                                                                                              \
    void __real___tsan_atomic##bits##_store(type *at, type value, int order);                      \
    void __wrap___tsan_atomic##bits##_store(type *at, type value, int order);                      \
    void __wrap___tsan_atomic##bits##_store(type *at, type value, int order)                       \
    {                                                                                              \
        may_give_way();                                                                            \
        __real___tsan_atomic##bits##_store(at, value, order);                                      \
    }                                                                                              \
    READ_MODIFY_WRITE(bits, type, exchange)                                                        \
    READ_MODIFY_WRITE(bits, type, fetch_add)                                                       \
    READ_MODIFY_WRITE(bits, type, fetch_sub)                                                       \
    READ_MODIFY_WRITE(bits, type, fetch_and)                                                       \
    READ_MODIFY_WRITE(bits, type, fetch_or)                                                        \
    COMPARE_EXCHANGE(bits, type, compare_exchange_strong)                                          \
    COMPARE_EXCHANGE(bits, type, compare_exchange_weak)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
