/* SPDX-License-Identifier: MIT */
/*
 * consumer.h - the state of amqp.consume, and its parts: settling at the server, and receiving.
 *
 * A function that returns false has found the connection lost; its caller reports that to the
 * session.
 */
#ifndef CONSUMER_H
#define CONSUMER_H

#include "acks.h"
#include "confirms.h"
#include "deliveries.h"
#include "queue.h"
#include "session.h"

#define QUEUES_MAX 9u  /* `queue`, and 8 before it */
#define TAGS_MAX 1000u /* distinct tags of pieces: the host keeps each of them */

struct source_queue {
    const char *name; /* borrowed from the settings */
    struct delivery_line waiting;
    uint32_t length;
    uint64_t retry_ready[QUEUE_RETRY_STEPS]; /* when the queue of a step may be used; 0 = unknown */
    /* The largest piece that LINK_PUTS has taken, and 1; 0 = none. Rights are of an exchange: one
     * figure for that of the dead letters, and one for the default exchange. */
    uint64_t proven_dead, proven_default;
};

/* The queue for retries that is being declared on LINK_PUTS. Nothing else is sent there
 * meanwhile, so the server can refuse nothing else. */
struct declaration {
    bool is_open;
    uint32_t queue;
    uint32_t step;
};

/* The delivery that is being received. */
struct incoming {
    bool is_begun;
    uint64_t number;
    uint32_t queue;
    uint32_t index; /* DELIVERY_NONE: the header has not come */
    size_t received;
};

struct consumer {
    const struct amqp_settings *settings; /* borrowed until close */
    struct session session;
    struct confirms confirms; /* of pieces that are put into other queues */
    struct deliveries deliveries;
    struct acks acks;
    struct delivery_line puts; /* DELIVERY_PUT_SOON, in their order */
    struct declaration declaration;
    bool is_returned;      /* no queue takes the piece that is not confirmed, the only one */
    uint32_t put_failures; /* since a queue took a piece */
    struct source_queue queues[QUEUES_MAX]; /* in the order in which their pieces go */
    uint32_t queue_count;
    uint32_t asked; /* index of the queue whose length was requested last */
    struct incoming incoming;
    const struct weir_tag *tags[TAGS_MAX]; /* of the pieces so far */
    uint32_t tag_count;
    uint32_t cancels; /* queues whose server has not yet stopped to deliver, when the source ends */
    bool acks_later;  /* a timer runs until the acknowledgements are written */
    bool puts_later;  /* a timer runs until PUT_LATER is tried again */
    bool looks_again; /* a timer runs until memory is asked for again */
    uint64_t rests_until; /* 0 = it does not rest */
    uint32_t rests;       /* in a row */
    char host[64];

    uint64_t received;
    uint64_t redelivered;
    uint64_t acknowledged;
    uint64_t retried;
    uint64_t buried;
    uint64_t orphans; /* settled after their connection was lost */
};

/* --- settling.c ------------------------------------------------------------------------------- */

/* The server has taken the bytes of a call, whose status this is. */
bool consumer_is_written(struct consumer *state, int status);
/* Handled: the server forgets it. It learns so with others, soon. */
bool consumer_acknowledge(struct weir_self *self, struct consumer *state, uint32_t index);
/* Writes the acknowledgements that wait. */
bool consumer_write_acks(struct consumer *state);
/* Another consumer, or this one, gets it as the next attempt. */
bool consumer_give_back(struct consumer *state, uint32_t index);
/* No worker has had it: another consumer, or this one, gets it as the same attempt, at the end of
 * its queue. When the queue is full, the attempt counts. */
bool consumer_return(struct weir_self *self, struct consumer *state, uint32_t index);
/* Puts it into the queue of dead letters. Borrows the texts. */
bool consumer_bury(struct weir_self *self, struct consumer *state, uint32_t index,
                   const char *reason, const char *detail);
/* Puts it into a queue from which it comes back after the delay of the outcome. */
bool consumer_put_off(struct weir_self *self, struct consumer *state, uint32_t index,
                      const struct weir_outcome *outcome);
/* Handles the confirm of a piece that was put: acknowledges the piece, or puts it again later. */
bool consumer_on_confirm(struct weir_self *self, struct consumer *state, uint64_t number,
                         bool multiple, bool is_taken);
/* No queue takes a piece that was put; its confirm follows. */
bool consumer_on_return(struct weir_self *self, struct consumer *state,
                        const amqp_basic_return_t *returned);
/* The queue for retries of `declaration` is there. */
void consumer_on_declared(struct weir_self *self, struct consumer *state);
/* For struct session_calls: the server has refused a piece that was put, or `declaration`. */
void consumer_on_refused(struct weir_self *self, void *user);
/* Puts those whose turn it is, and sees to those that wait for the timer. */
void consumer_watch_puts(struct weir_self *self, struct consumer *state);
/* A new channel for puts: nothing is on its way, and nothing is proven. */
void consumer_reset_puts(struct consumer *state);
/* A piece is being put, or waits for its turn. */
bool consumer_is_putting(const struct consumer *state);

/* --- receiving.c ------------------------------------------------------------------------------ */

/* The tag of a piece. NULL: memory is out, or TAGS_MAX others have come. */
const struct weir_tag *consumer_tag(struct weir_self *self, struct consumer *state,
                                    const char *name);
/* For struct session_calls. */
bool consumer_take(struct weir_self *self, void *user, const amqp_frame_t *frame);

#endif
