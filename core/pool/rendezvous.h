/*
 * pool/rendezvous.h - whose a key is: by rendezvous, without asking every member.
 *
 * Each number that a member may have draws a time for the key, all independently and evenly; the
 * member with the earliest owns the key. So equal shares, and when a member comes or goes only its
 * own keys move. These times are not drawn number by number, but from the top of a tree down:
 *
 *                     [8..16)          blocks of numbers: {0}, {1}, [2..4), [4..8), [8..16), ...
 *                   /         \
 *              [8..12)      [12..16)   the earliest of a block is one draw, and half of the time it
 *              /    \       /      \   lies in the left half; the earliest of the other half is a
 *            ...    ...   ...      ... further draw later than that, for waiting has no memory
 *
 * Where all numbers up to the highest are there, the earliest of each block is a member: one draw
 * for each block, O(log n). Where there are gaps those are walked around; whatever the members are,
 * the answer is as if all of them had been asked. A block more above does not change those below.
 */
#ifndef POOL_RENDEZVOUS_H
#define POOL_RENDEZVOUS_H

#include "pool/members.h"

/* Puts members that are not published yet into the order of their numbers. */
void rendezvous_sort(struct members *members);

/* Where in the array, of at least one member, the owner of the key stands. */
uint32_t rendezvous_owner(const struct members *members, uint64_t key);

/* The time that a number draws for a key; the member with the earliest, and of several of these the
 * one with the lowest number, is what rendezvous_owner answers. For tests. */
uint64_t rendezvous_time(uint64_t key, uint32_t number);

#endif
