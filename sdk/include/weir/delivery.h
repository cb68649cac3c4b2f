/*
 * weir/delivery.h - what becomes of a message after it was sent: origins.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too.
 */
#ifndef WEIR_DELIVERY_H
#define WEIR_DELIVERY_H

#include "host.h"

/* What became of a message. */
enum weir_result {
    WEIR_OUTCOME_DONE = 0,  /* handled */
    WEIR_OUTCOME_RETRY = 1, /* the worker wants it again: give it again after `delay_ms` */
    WEIR_OUTCOME_DEAD = 2,  /* it could not be handled, and `reason` says why */
};

/* What `settled` is told. Borrowed until it returns. Made by the host: it may grow. */
struct weir_outcome {
    uint64_t token;     /* as given to weir_set_origin */
    uint32_t result;    /* enum weir_result */
    uint32_t attempt;   /* the one that ended so; 1 = the first */
    uint64_t delay_ms;  /* of a retry: what the worker gave to weir_retry_after */
    const char *reason; /* of a dead one: a word such as "rejected" or "crashed"; else "" */
    const char *detail; /* what the worker said of it, as far as the payload had room; may be "" */
};

/*
 * Makes this incarnation the origin of a message that it owns and will send, emit or send later:
 * the behaviour's `settled` is told once what became of it, with `token`. The origin goes along
 * when the message is forwarded; what a worker emits of its own does not inherit it. A worker that
 * answers WEIR_RETRY sends it back instead of keeping it: the origin gives it again, as a new
 * message with `attempt` set one higher. Asked to end, the origin is waited for until all its
 * messages are settled. WEIR_EINVALID: the behaviour has no `settled`. WEIR_ENOMEM. A message with
 * an origin cannot become a request or a reply.
 */
static inline int weir_set_origin(struct weir_self *self, struct weir_message *message,
                                  uint64_t token)
{
    return self->host->set_origin(self, message, token);
}

#endif
