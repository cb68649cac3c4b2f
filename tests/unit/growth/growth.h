/* SPDX-License-Identifier: MIT */
/*
 * growth.h - checks that the cost of something grows evenly with its size: by counted blocks of the
 * calling thread (unit/support/work.h) or bytes (unit/support/bytes.h), not by a clock.
 */
#ifndef TESTS_UNIT_GROWTH_GROWTH_H
#define TESTS_UNIT_GROWTH_GROWTH_H

#include <stdio.h>

#include <CUnit/CUnit.h>

#include "unit/support/work.h"

#define FEW 1000u
#define TIMES 4u
/* Tolerates a table that has just grown and a heap that is one step deeper; a walk over all for
 * each takes sixteen times as much. */
#define GROWTH_MAX (TIMES + 3)

/* Returns the total cost of `count` parts; work that is not counted is done outside. */
typedef uint64_t cost_of(uint32_t count);

static inline void expect_even_growth(cost_of *cost)
{
    uint64_t few = cost(FEW), many = cost(FEW * TIMES);

    CU_ASSERT_TRUE(few >= FEW); /* it was counted */
    CU_ASSERT_TRUE(many < few * GROWTH_MAX);
    if (many >= few * GROWTH_MAX)
        (void)printf("\n    %llu for %u, %llu for %u", (unsigned long long)few, FEW,
                     (unsigned long long)many, FEW * TIMES);
}

#endif
