/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_shares.h - how many bytes of a file of dead letters each owner has.
 *
 * An owner is what a path begins with, up to its first `/`: a source, or a pool with all pools
 * nested in it. Each owner may have as many bytes as are free: alone it gets half of the file, the
 * next one half of the rest, and so on. Dead letters that no position awaits get half of that:
 * strangers who fill it leave room for positions of the same pool.
 *
 * Zeroed memory has no owner. Not synchronised.
 */
#ifndef HOST_DEAD_DEAD_SHARES_H
#define HOST_DEAD_DEAD_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dead_share {
    char *owner; /* owned */
    uint64_t bytes;
};

struct dead_shares {
    struct dead_share *list; /* owned */
    size_t count;
};

void dead_shares_finish(struct dead_shares *shares);

/* The bytes of `path` that are its owner. */
size_t dead_shares_owner_size(const char *path);
bool dead_shares_owns(const char *owner, const char *path);

/* Adds bytes to the owner of `path`. WEIR_ENOMEM. */
int dead_shares_add(struct dead_shares *shares, const char *path, uint64_t bytes);
/* What the owner of `path` has. */
uint64_t dead_shares_of(const struct dead_shares *shares, const char *path);

/* Whether an owner that has `has` bytes may add `size` bytes to a file of `total`, which has at
 * most `total_max`; 0: no bound. */
bool dead_shares_allow(uint64_t has, uint64_t size, uint64_t total, uint64_t total_max,
                       bool is_awaited);

#endif
