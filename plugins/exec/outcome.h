/* SPDX-License-Identifier: MIT */
/*
 * outcome.h - which ends of a command mean that its message is done, and which that it is tried
 * again.
 *
 * An end is an exit code, `signal` or `timeout`. Every other end rejects the message.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/option.h>

/* A set of ends. */
struct outcome {
    bool codes[256];
    bool by_signal;
    bool by_timeout;
};

/* Reads the words of an option. Returns NULL, or the word that is no end. Borrows. */
const char *outcome_read(struct outcome *outcome, const struct weir_list *words);

/* True when both sets have one end. */
bool outcome_meets(const struct outcome *outcome, const struct outcome *other);

#endif
