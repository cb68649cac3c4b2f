/* SPDX-License-Identifier: MIT */
/*
 * actor/inspect.h - sends inspect requests to an actor, and answers them.
 *
 * An inspect is a request that travels as control: no limit, before every lane. Its receiver
 * answers in a turn, in each of its states. Inspects for the same items that have arrived by then
 * get the same answer.
 */
#ifndef ACTOR_INSPECT_H
#define ACTOR_INSPECT_H

#include "actor/actor.h"

struct cache;

/*
 * Makes the message of an inspect for these items (NULL: all). request_send or
 * external_request_send sends it, with `inspects`. Owned by the caller. WEIR_EINVALID: too many;
 * WEIR_ENOMEM.
 */
int inspect_make(struct cache *cache, const char *const *items, struct message **out);

/* An inspect from outside. */
struct inspect_options {
    weir_pid to;
    const char *const *items; /* ends with NULL; NULL: all */
    uint64_t timeout_ms;
    void (*on_answer)(void *context); /* as in external_request.h; may be NULL */
    void *on_answer_context;
};

/*
 * Sends an inspect from outside, in a read section; on 0 the caller then calls either
 * external_requests_await or external_requests_cancel. WEIR_EUNKNOWN, WEIR_ETERMINATED, and as
 * above.
 */
int inspect_ask(struct runtime *runtime, struct executor *executor,
                const struct inspect_options *options, uint64_t *out_reference);

/* Owner's turn: answers a MESSAGE_INSPECT. Takes it. */
void inspect_arrived(struct actor *actor, struct message *message);

#endif
