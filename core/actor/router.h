/* SPDX-License-Identifier: MIT */
/*
 * actor/router.h - the operations of an actor that routes its messages to others: the actor of a
 * pool.
 *
 * A message to its normal lane never enters its own mailbox: the sender's thread routes it to
 * another actor, by this table. The other lanes are the actor's own, and its manager handles them.
 * The owner of the routing fills in the table; core/actor knows nothing else about a pool.
 */
#ifndef ACTOR_ROUTER_H
#define ACTOR_ROUTER_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/message.h>

struct actor;
struct askers;
struct executor;
struct fan_out;
struct inspection;
struct leases;
struct message;
struct message_list;
struct router;
struct wait_queue;

struct router_ops {
    /* For senders: any thread, in a read section, in which alone the router may be used. */

    /* Takes the message on 0; as weir_send. `left` as for send_leaving. */
    int (*route)(struct router *router, struct executor *executor, struct message *message,
                 struct message_list *left);
    /* Gives a copy to each worker below, of all levels. */
    void (*fan_out)(struct router *router, struct fan_out *fan_out);
    /* Finds the PID of the worker in a seat, for a copy that waits (fan_out.h). WEIR_EFULL: there
     * are no workers now; WEIR_ETERMINATED: no worker has that seat; WEIR_ECLOSED. */
    int (*worker_in)(struct router *router, uint32_t seat, weir_pid *out_pid);
    /* Returns how many it took, from the front, or the status why it took none; as weir_send. */
    int (*route_chain)(struct router *router, struct executor *executor,
                       struct message *const *messages, uint32_t count);
    /* The number of messages that it would take now: a hint. An unlimited mailbox counts as 64. */
    uint32_t (*room)(struct router *router, struct executor *executor);
    /* How many messages fit in one chain to one actor; 0: they are spread over members. */
    uint32_t (*chain_room)(struct router *router);
    /* As route, for a TAKE: it may have the room of takers that have given up. */
    int (*take)(struct router *router, struct executor *executor, struct message *take);
    /* Grants a free member to a thread outside, without a turn of the member. False: there is none,
     * or it needs a turn; the thread sends a TAKE then. */
    bool (*lend)(struct router *router, struct executor *executor, struct weir_lease *out);
    /* True once it accepts no more messages. */
    bool (*is_closing)(struct router *router);
    /* Ends it, and all actors below: drained, or with the reason KILL after their present
     * message. */
    void (*close)(struct router *router, enum weir_end_reason reason, struct executor *executor);

    /* In the actor's own turn. */

    /* After SIGNAL_TIME, of its own timer or another one. */
    void (*time)(struct router *router, struct executor *executor);
    /* Carries out a message for a pool without a manager behaviour; does not take it.
     * WEIR_EUNSUPPORTED: an unknown message; otherwise the status of its failure. */
    int (*manage)(struct router *router, struct message *message);
    /* Adds its figures to an answer. */
    void (*inspect)(struct router *router, struct inspection *out);
};

struct router {
    const struct router_ops *ops; /* const */
    struct wait_queue *waiters;   /* const: senders that wait for room in it */
    struct leases *leases;        /* const: of its members: leases.h */
    struct askers *askers;        /* const: of the parts that have asked it: askers.h */
};

#endif
