/*
 * actor/replay.h - sends dead letters again as messages.
 *
 * A dead letter that is accepted again leaves the store and is a new message: counted as accepted
 * again, attempt 1, with its first sender. A request becomes an ordinary message, since its
 * requester has got its answer. Without room or receiver it stays a dead letter, in its old place.
 * Messages of the host itself (ends of other actors) and dead letters without payload cannot be
 * sent again.
 */
#ifndef ACTOR_REPLAY_H
#define ACTOR_REPLAY_H

#include "actor/wiring.h"
#include "face/letters.h"
#include "stats/dead_letters.h"

struct runtime;
struct executor;

/*
 * Sends each dead letter once, oldest first. `target` gets those of the pool itself; those of an
 * output go to its present target in `wiring`, or, when their worker had other outputs, to the
 * target of that time. Any thread, in a read section. Excludes messages that die meanwhile.
 */
void replay(struct runtime *runtime, struct executor *executor, struct dead_letters *letters,
            struct wiring_slot *wiring, weir_pid target, struct replay_result *out);

#endif
