/*
 * actor/replay.h - sends dead letters again, the way of any message.
 *
 * A letter that is accepted again leaves the store and is a new message: counted as accepted anew,
 * attempt 1, from its first sender. A request comes back as an ordinary message, since its
 * requester has been told. What finds no room, or nobody there, stays dead, in its old place.
 * Letters of the host's own (ends of other actors) and those without payload cannot be sent again.
 */
#ifndef ACTOR_REPLAY_H
#define ACTOR_REPLAY_H

#include "actor/wiring.h"
#include "stats/dead_letters.h"

struct runtime;
struct executor;

struct replay_result {
    uint32_t replayed;
    uint32_t left;   /* stay dead */
    uint32_t unable; /* of these, the ones that can never be sent again */
    int status;      /* of the last refusal among the others; 0 = none */
};

/*
 * Sends each letter once, oldest first. `target` gets those that came to the pool itself; those
 * that came from an output go where `wiring` leads now, or, when their worker knew other outputs,
 * where that led. Any thread, in a read section. Letters that die meanwhile are not among them.
 */
void replay(struct runtime *runtime, struct executor *executor, struct dead_letters *letters,
            struct wiring_slot *wiring, weir_pid target, struct replay_result *out);

#endif
