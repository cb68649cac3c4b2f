/* SPDX-License-Identifier: MIT */
/*
 * factor.h - the messages of the behaviours of `factor`.
 */
#ifndef FACTOR_H
#define FACTOR_H

#include <weir/message.h>

/* A request for the prime factors of a number. */
#define FACTOR_QUESTION_TAG "factor.question/1"

struct factor_question {
    uint64_t number;
};

/* The answer: as many primes as fit into the size, the smallest first. */
#define FACTOR_ANSWER_TAG "factor.answer/1"

#define FACTOR_PRIMES_MAX 64u /* the largest number for 64 bits */

struct factor_answer {
    uint32_t count;
    uint32_t reserved;
    uint64_t primes[FACTOR_PRIMES_MAX];
};

#endif
