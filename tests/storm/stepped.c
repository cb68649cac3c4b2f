/* SPDX-License-Identifier: MIT */
/*
 * The functions that a compiler calls at each atomic operation when it prepares code for a race
 * detector. There is no detector here; instead other fibers may run first. The operation itself is
 * one sequentially consistent step, whatever its order: this finds mistakes between operations, not
 * those of a weaker memory model.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storm/fibers.h"

#define ORDER __ATOMIC_SEQ_CST

#define READ_MODIFY_WRITE(bits, type, name, builtin)                                               \
    type __tsan_atomic##bits##_##name(type *at, type value, int order);                            \
    type __tsan_atomic##bits##_##name(type *at, type value, int order)                             \
    {                                                                                              \
        (void)order;                                                                               \
        fibers_may_yield_at_step();                                                                \
        return builtin(at, value, ORDER);                                                          \
    }

#define COMPARE_EXCHANGE(bits, type, name)                                                         \
    bool __tsan_atomic##bits##_##name(type *at, type *expected, type value, int order, int other); \
    bool __tsan_atomic##bits##_##name(type *at, type *expected, type value, int order, int other)  \
    {                                                                                              \
        (void)order;                                                                               \
        (void)other;                                                                               \
        fibers_may_yield_at_step();                                                                \
        return __atomic_compare_exchange_n(at, expected, value, false, ORDER, ORDER);              \
    }

#define ATOMICS(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const type *at, int order);                                    \
    type __tsan_atomic##bits##_load(const type *at, int order)                                     \
    {                                                                                              \
        (void)order;                                                                               \
        fibers_may_yield_at_step();                                                                \
        return __atomic_load_n(at, ORDER);                                                         \
    }                                                                                              \
    void __tsan_atomic##bits##_store(type *at, type value, int order);                             \
    void __tsan_atomic##bits##_store(type *at, type value, int order)                              \
    {                                                                                              \
        (void)order;                                                                               \
        fibers_may_yield_at_step();                                                                \
        __atomic_store_n(at, value, ORDER);                                                        \
    }                                                                                              \
    READ_MODIFY_WRITE(bits, type, exchange, __atomic_exchange_n)                                   \
    READ_MODIFY_WRITE(bits, type, fetch_add, __atomic_fetch_add)                                   \
    READ_MODIFY_WRITE(bits, type, fetch_sub, __atomic_fetch_sub)                                   \
    READ_MODIFY_WRITE(bits, type, fetch_and, __atomic_fetch_and)                                   \
    READ_MODIFY_WRITE(bits, type, fetch_or, __atomic_fetch_or)                                     \
    READ_MODIFY_WRITE(bits, type, fetch_xor, __atomic_fetch_xor)                                   \
    COMPARE_EXCHANGE(bits, type, compare_exchange_strong)                                          \
    COMPARE_EXCHANGE(bits, type, compare_exchange_weak)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* --- plain memory: of no interest ------------------------------------------------------------ */

#define PLAIN(name)                                                                                \
    void __tsan_##name(const void *at);                                                            \
    void __tsan_##name(const void *at)                                                             \
    {                                                                                              \
        (void)at;                                                                                  \
    }

#define PLAIN_RANGE(name)                                                                          \
    void __tsan_##name(const void *at, size_t size);                                               \
    void __tsan_##name(const void *at, size_t size)                                                \
    {                                                                                              \
        (void)at;                                                                                  \
        (void)size;                                                                                \
    }

PLAIN(read1)
PLAIN(read2)
PLAIN(read4)
PLAIN(read8)
PLAIN(read16)
PLAIN(write1)
PLAIN(write2)
PLAIN(write4)
PLAIN(write8)
PLAIN(write16)
PLAIN(unaligned_read2)
PLAIN(unaligned_read4)
PLAIN(unaligned_read8)
PLAIN(unaligned_read16)
PLAIN(unaligned_write2)
PLAIN(unaligned_write4)
PLAIN(unaligned_write8)
PLAIN(unaligned_write16)
PLAIN(func_entry)
PLAIN_RANGE(read_range)
PLAIN_RANGE(write_range)

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
