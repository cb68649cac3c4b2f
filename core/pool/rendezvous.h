/* SPDX-License-Identifier: MIT */
/*
 * pool/rendezvous.h - finds the owner of a key: rendezvous hashing, evaluated in O(log n).
 *
 * Rendezvous hashing gives each pair of a key and a member's number a random time; the member with
 * the earliest time owns the key. So the shares are equal, and when a member joins or leaves, only
 * its own keys move. The plain algorithm computes the time of every member. This one draws the same
 * kind of times from the top of a tree down:
 *
 *                     [8..16)          blocks of numbers: {0}, {1}, [2..4), [4..8), [8..16), ...
 *                   /         \
 *              [8..12)      [12..16)   one draw gives the earliest time in a block, and the number
 *              /    \       /      \   that has it; one more draw, later than the first, gives the
 *            ...    ...   ...      ... same of the other half: exponential times have no memory
 *
 * Without gaps in the numbers the earliest number of each block is a member: one draw for each
 * block, O(log n) in all. Where a number has no member, the search continues in the halves that do
 * not contain it. The answer is always that of computing the time of every member. A new block
 * above the others does not change their draws.
 */
#ifndef POOL_RENDEZVOUS_H
#define POOL_RENDEZVOUS_H

#include "pool/members.h"

/* Sorts members that are not published yet by their numbers. */
void rendezvous_sort(struct members *members);

/* The index of the key's owner in the array, of at least one member. */
uint32_t rendezvous_owner(const struct members *members, uint64_t key);

/* The time that a number draws for a key. rendezvous_owner returns the member with the earliest
 * time; of several, the one with the lowest number. For tests. */
uint64_t rendezvous_time(uint64_t key, uint32_t number);

#endif
