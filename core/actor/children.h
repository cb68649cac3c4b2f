/* SPDX-License-Identifier: MIT */
/*
 * actor/children.h - the children of an actor, which live no longer than its incarnation. child.h
 * makes them.
 *
 * The parent waits for their end without blocking a thread: between two incarnations the actor does
 * not open, and at its end it keeps its slot and its place, until the last child has sent
 * SIGNAL_CHILD. So a child may use the parts of its parent's place: wiring, dead letters, misuses.
 *
 *      parent drains -> they drain -> its close -> its end
 *      parent fails, stops, is stopped -> its close -> they are stopped now -> next open, or end
 *
 * The list changes in the parent's turns and in each child's last one; other threads read it to add
 * up figures. All under its lock. Locks nest from the parent's to the child's. Owner's turn of the
 * parent, except children_add_ledger, children_wait_for_room and children_add_progress.
 */
#ifndef ACTOR_CHILDREN_H
#define ACTOR_CHILDREN_H

#include <stdalign.h>

#include "actor/progress.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/table.h"
#include "stats/ledger.h"

struct children {
    struct lock lock;
    struct list list;                   /* lock */
    struct table by_pid;                /* lock: the same */
    uint32_t count;                     /* lock */
    struct ledger_reading gone;         /* lock: of ended children, and theirs */
    struct progress_sum ended_progress; /* lock: of ended children: progress and emitted messages */
    uint32_t next_index;                /* owner: numbers its children */
    uint32_t depth;                     /* const: of the children; the first ones have 1 */
    struct children *root;              /* const: the ancestor with the common budget */
    struct actor *parent;               /* const */
    weir_pid parent_pid;                /* const */
    /* Of the root: counts all descendants. Each of them writes it when it is spawned and when it
     * ends. */
    alignas(64) _Atomic uint32_t used;
};

struct child {
    struct owner owner;     /* of the actor */
    struct list link;       /* lock of `of` */
    struct table_node node; /* likewise */
    struct children *of;
    struct actor *actor; /* const */
    weir_pid pid;        /* const */
};

/* The children of an actor, made at the first call; NULL when memory is out. */
struct children *children_get(struct actor *actor);

/* Adds a child, which has not begun. */
void children_add(struct children *children, struct child *child);
/* Removes a child that has ended, and adds its figures to those of the ended children. The parent,
 * and the list with it, may be freed during the call. Last turn of the child. */
void children_remove(struct child *child, const struct ledger_reading *reading,
                     const struct progress_sum *progress);

/* As weir_stop and weir_stop_now. */
int children_end_one(struct actor *actor, weir_pid pid, bool now);

/* As weir_parent. */
weir_pid children_parent(const struct actor *actor);

/* Signals the children, too, that files may have been renamed. */
void children_reopen(struct actor *actor);

/* The targets of the outputs have changed, also for the children: waiting children try again.
 * Any thread for which the place lives. NULL is allowed. */
void children_look_again(struct place *place, struct executor *executor);

/* The incarnation ends: stops the children now. */
void children_stop(struct actor *actor);

/* The actor drains: so do its children. True: some are left. */
bool children_drain(struct actor *actor);

/* True while a child lives. */
bool children_are_alive(const struct actor *actor);

uint32_t children_count(const struct actor *actor);

/* Adds the ledgers of the children, including ended ones. Any thread for which the place lives. */
void children_add_ledger(struct place *place, struct ledger_reading *sum);

/* True when the actor of a place, or one of its children, waits at its first output for room of the
 * receiver, not for a token alone. Any thread for which the place lives. */
bool children_wait_for_room(struct place *place);

/* True when a child, or one of its children, is in use: it has messages, or waits (place_engage).
 * Any thread for which the place lives. */
bool children_are_used(struct place *place);

/* Adds the progress and emitted messages of the actor of a place and of its children. Any thread
 * for which the place lives. */
void children_add_progress(struct place *place, struct progress_sum *sum);

/* Frees the list of a place that is to be freed: the children have ended, or no thread runs any
 * more. NULL is allowed. */
void children_destroy(struct place *place);

#endif
