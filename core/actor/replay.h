/* SPDX-License-Identifier: MIT */
/*
 * actor/replay.h - sends dead letters again as messages.
 *
 * A dead letter that is accepted leaves the store and becomes a new message, with attempt 1 and its
 * first sender; the receiver's ledger counts it as accepted. A request becomes an ordinary message,
 * since its requester has got its answer. Without room it stays a dead letter, in its old place.
 * Dead letters without payload cannot be sent again, nor messages of the host itself (ends of other
 * actors), nor a message for one worker alone when that worker is gone or was leased.
 */
#ifndef ACTOR_REPLAY_H
#define ACTOR_REPLAY_H

#include "actor/wiring.h"
#include "face/dead_letters.h"
#include "stats/dead_letters.h"

struct runtime;
struct executor;

/*
 * Sends each dead letter once, oldest first. `target` gets those of the pool itself; those of an
 * output go to its present target in `wiring`, or, when the table of outputs has changed since, to
 * its former target. Messages that become dead letters during the call are not sent. Any thread, in
 * a read section.
 */
void replay(struct runtime *runtime, struct executor *executor, struct dead_letters *letters,
            struct wiring_slot *wiring, weir_pid target, struct replay_result *out);

#endif
