/*
 * actor/children.h - the children of an actor, which live no longer than its incarnation.
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
 * parent, except children_add_ledger and children_add_progress.
 */
#ifndef ACTOR_CHILDREN_H
#define ACTOR_CHILDREN_H

#include <pthread.h>

#include "actor/actor.h"

struct children;
struct child;
struct place;
struct ledger_reading;
struct progress_sum;

/* As weir_spawn. */
int children_spawn(struct actor *actor, const struct weir_spawn_options *options, weir_pid *out);

/* As weir_stop and weir_stop_now. */
int children_end_one(struct actor *actor, weir_pid pid, bool now);

/* As weir_parent. */
weir_pid children_parent(const struct actor *actor);

/* Signals the children, too, that files may have been renamed. */
void children_reopen(struct actor *actor);

/* The targets of the outputs have changed, also for the children: those that wait for room retry.
 * Any thread for which the place lives. NULL is allowed. */
void children_look_again(struct place *place, struct executor *executor);

/* The incarnation ends: stops the children now. */
void children_stop(struct actor *actor);

/* The actor drains: so do its children. True: some are left. */
bool children_drain(struct actor *actor);

/* True while a child lives. */
bool children_are_alive(const struct actor *actor);

uint32_t children_count(const struct actor *actor);

/* Adds the ledgers of the children, including those that have ended. Any thread for which the place
 * lives. */
void children_add_ledger(struct place *place, struct ledger_reading *sum);

/* As children_add_ledger, for progress and emitted messages. */
void children_add_progress(struct place *place, struct progress_sum *sum);

/* Frees the list with its place: the children have ended, or no thread runs any more. NULL is
 * allowed. */
void children_destroy(struct children *children);

#endif
