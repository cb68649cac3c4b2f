/* SPDX-License-Identifier: MIT */
/*
 * pool/resize.h - changes the number of workers, while messages flow.
 *
 * All functions return at once. The new target is visible before they return, and a leaving worker
 * gets no new message; it finishes its accepted ones, as the pool's remove mode says.
 */
#ifndef POOL_RESIZE_H
#define POOL_RESIZE_H

#include "pool/pool.h"

/* --- for ending.c, creation.c and change.c; pool->lock is held ------------------------------- */

/* Makes `count` places with actors that are not started, numbered from the lowest free number on,
 * and appends them to `out_places`. All or none: WEIR_ENOMEM. */
int resize_make_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                       uint32_t count, struct list *out_places);

/* As resize_make_locked, one place with this number, in no list. */
int resize_make_one_locked(struct pool *pool, struct executor *executor, struct spec *spec,
                           uint32_t index, struct place **out);

/* Frees places whose actors are not started. */
void resize_unmake_locked(struct list *places, struct executor *executor);

/* Starts the actors of places. They open on the threads of `opener`; NULL: on their own. */
void resize_begin_locked(struct list *places, struct dispatcher *opener, struct executor *executor);

/* Fills `next`, which has room for all, with the places that stay, and publishes it. */
void resize_publish_locked(struct pool *pool, struct members *next, struct executor *executor);

/* Moves `count` places, broken and idle ones first, to `out_leaving`, without a signal. With route
 * hash the highest numbers leave first, so that the numbers stay without gaps. */
void resize_choose_locked(struct pool *pool, uint32_t count, struct list *out_leaving);

/* Recalls up to `count` removed workers that have not finished; returns their number. */
uint32_t resize_recall_locked(struct pool *pool, uint32_t count, struct executor *executor);

/* The number of places that stay. */
uint32_t resize_count_locked(struct pool *pool);

/* When a worker whose end is ordered now must have ended; 0 = no such time. Every leaving worker
 * has this time-out, also when the whole pool closes. */
uint64_t resize_leave_due_ns(const struct pool *pool, struct executor *executor);

/* Called after members without these workers are published: closes the leaving workers and signals
 * them. */
void resize_dismiss_locked(struct pool *pool, struct list *leaving, struct executor *executor);

/* Sets the target as pool_resize does, for every cause of a resize. */
int resize_set_locked(struct pool *pool, struct executor *executor, int64_t wanted,
                      struct weir_resized *out);

/* Counts a change of the number of workers. No lock is needed. */
void resize_count(struct pool *pool, enum resize_by by);

#endif
