/*
 * actor/find.h - finds the actor of a PID. Any thread; see slots.h.
 */
#ifndef ACTOR_FIND_H
#define ACTOR_FIND_H

#include "actor/actor.h"

/* The actor in the slot of a PID; NULL: WEIR_EUNKNOWN. The slot may hold another actor now: compare
 * the serial. */
struct actor *actor_find(struct runtime *runtime, weir_pid pid);
/* The actor of a PID, alive at this instant: in a read section its slot is not used again.
 * WEIR_EUNKNOWN: no actor of this runtime ever had the PID; WEIR_ETERMINATED: its actor has ended.
 * */
int actor_find_alive(struct runtime *runtime, weir_pid pid, struct actor **out);

/* The routing of the pool with this PID; NULL: it has ended, or is no pool. Any thread, in a read
 * section; valid to its end, also if the pool ends meanwhile. */
struct router *actor_find_router(struct runtime *runtime, weir_pid pid);

#endif
