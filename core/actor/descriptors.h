/* SPDX-License-Identifier: MIT */
/*
 * actor/descriptors.h - the shares of the process's descriptors that actors have asked for.
 *
 * Shares of one pool count together. Up to WEIR_DESCRIPTORS_FLOOR all are granted, and an eighth of
 * the limit (at least the floor) is left to them. So one pool does not take what the first work of
 * another needs. Any thread: all is under the lock.
 */
#ifndef ACTOR_DESCRIPTORS_H
#define ACTOR_DESCRIPTORS_H

#include <stdint.h>

#include "base/lock.h"

struct descriptors_user;

struct descriptors {
    struct lock lock;
    uint32_t limit;                 /* const: of all shares; UINT32_MAX: there is none */
    uint32_t taken;                 /* lock */
    struct descriptors_user *users; /* lock; owned: those with a share */
    uint32_t count, room;           /* lock: of `users` */
};

/* `limit` 0: none. */
void descriptors_init(struct descriptors *descriptors, uint32_t limit);
void descriptors_finish(struct descriptors *descriptors);

/* Replaces a share of `before` by one of `count`. `who` is an address alone: the pool that it
 * counts for, or the actor. WEIR_EFULL, WEIR_ENOMEM: it is as before; never for a smaller share. */
int descriptors_set(struct descriptors *descriptors, const void *who, uint32_t before,
                    uint32_t count);
/* The sum of all shares. */
uint32_t descriptors_taken(struct descriptors *descriptors);

#endif
