/* SPDX-License-Identifier: MIT */
/*
 * acks.h - settled pieces whose acknowledgement the server has not got yet.
 *
 * One acknowledgement may stand for all pieces up to its number. So the settled pieces below the
 * lowest number that is not settled need one together, and each of the others needs its own.
 */
#ifndef ACKS_H
#define ACKS_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is legal for acks_finish. */
struct acks {
    uint64_t *numbers; /* owned: of the server, in any order */
    uint32_t count;
    uint32_t capacity;
};

/* Room for `capacity` pieces. WEIR_ENOMEM. */
int acks_init(struct acks *acks, uint32_t capacity);
void acks_finish(struct acks *acks);
/* The connection is lost: forgets all. */
void acks_reset(struct acks *acks);

/* Call only while acks_is_full is false. */
void acks_add(struct acks *acks, uint64_t number);
bool acks_is_full(const struct acks *acks);
/* Removes the pieces below `lowest`, the lowest number that is not settled. Returns how many they
 * were, and with one or more their highest number. */
uint32_t acks_take_below(struct acks *acks, uint64_t lowest, uint64_t *out_last);
/* Removes one piece. False: there is none. */
bool acks_take(struct acks *acks, uint64_t *out_number);

#endif
