/* SPDX-License-Identifier: MIT */
#include "actor/turn.h"

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/children.h"
#include "actor/control.h"
#include "actor/credit.h"
#include "actor/demand.h"
#include "actor/doze.h"
#include "actor/end.h"
#include "actor/front.h"
#include "actor/group.h"
#include "actor/hand_back.h"
#include "actor/handling.h"
#include "actor/lease.h"
#include "actor/lease_turn.h"
#include "actor/leave.h"
#include "actor/lifecycle.h"
#include "actor/newcomer.h"
#include "actor/open.h"
#include "actor/output.h"
#include "actor/producing.h"
#include "actor/restart.h"
#include "actor/router.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/spawn.h"
#include "actor/unpack.h"
#include "actor/unwelcome.h"
#include "actor/verdict.h"
#include "actor/wanted.h"

#define GATHER_MAX 1024u     /* messages between two calls of `flush`, whatever the budget */
#define TURN_NS_MAX 1000000u /* a turn past 1 ms yields (architecture: a hog) */
#define CLOCK_LOOK_FIRST 2u
#define CLOCK_LOOK_LAST 16u
#define CLOCK_LOOK_NEVER UINT32_MAX
#define TURN_SPENT UINT32_MAX /* not below any budget */
/* An actor is quick if less than this has passed between two reads of the clock. */
#define QUICK_NS (TURN_NS_MAX / CLOCK_LOOK_LAST)

/* The state of one turn. */
struct turn_context {
    uint32_t handled;   /* messages, and other steps; TURN_SPENT: the turn has taken too long */
    uint32_t look;      /* read the clock after so many messages */
    uint64_t began_ns;  /* at most one beat before the turn */
    uint64_t looked_ns; /* the last reading of the clock in this turn; handlers read it, too */
    struct credit credit;
    bool moves;   /* the actor continues on the dispatcher where it opens */
    bool rests;   /* the worker is plain, and its mailbox is empty */
    bool dozes;   /* it takes no message now */
    bool gathers; /* `handle` was called since the last `flush` of a behaviour that has one */
};

/* --- choosing ------------------------------------------------------------------------------- */

static struct message *take_lane(struct actor *actor, struct message_queue *lane, uint32_t index)
{
    struct message *message = message_queue_take(lane);

    if (message) {
        atomic_fetch_sub_explicit(&actor->mailbox.lanes[index], 1, memory_order_relaxed);
        actor->high_streak++;
    }
    return message;
}

static struct message *take_normal(struct actor *actor, struct turn_context *context)
{
    struct message *message = front_take(actor);

    actor->high_streak = 0;
    if (message) {
        settle_unhold(actor);
        return message;
    }
    message = unpack(actor->executor, mailbox_pop(&actor->mailbox));
    if (message) {
        context->credit.places++;
        return message;
    }
    if (!place_shares_queue(actor) || !lease_lets_pull(actor))
        return NULL;
    message = actor->place->owner->ops->take(actor);
    /* An unbuffered queue, and one of takers, has room while a worker is noted as idle. */
    if (message || mailbox_is_unbuffered(&actor->mailbox) ||
        leases_are_given(actor->place->owner->leases))
        context->credit.pulled++;
    return message;
}

/* The next message: urgent, high, normal; after a streak of the first two, normal first. */
static struct message *take_message(struct actor *actor, struct turn_context *context)
{
    struct message *message = NULL;

    if (actor->high_streak >= ACTOR_HIGH_STREAK_MAX)
        message = take_normal(actor, context);
    if (!message)
        message = take_lane(actor, &actor->urgent, WEIR_URGENT - WEIR_HIGH);
    if (!message)
        message = take_lane(actor, &actor->high, 0);
    return message ? message : take_normal(actor, context);
}

/* While the messages of the pool in the normal lane wait for room in others. */
static struct message *take_own(struct actor *actor)
{
    struct message *message = take_lane(actor, &actor->urgent, WEIR_URGENT - WEIR_HIGH);

    if (!message)
        message = take_lane(actor, &actor->high, 0);
    return message ? message : backlog_take_own(actor);
}

/* Handles a message for a pool without a manager behaviour. */
static void manage(struct actor *actor, struct message *message)
{
    int status = actor->router->ops->manage(actor->router, message);

    if (status == WEIR_EUNSUPPORTED)
        verdict_unhandled(actor, message);
    else
        settle_outside_ledger(actor, message, status, DEAD_REJECTED);
}

/* When to read the clock: after messages 2, 4, 8 and 16; only after 16 if the actor was quick. */
static uint32_t first_look(const struct actor *actor)
{
    return actor->flags & ACTOR_QUICK ? CLOCK_LOOK_LAST : CLOCK_LOOK_FIRST;
}

static uint32_t next_look(uint32_t look, bool is_quick)
{
    if (look >= CLOCK_LOOK_LAST)
        return CLOCK_LOOK_NEVER;
    return is_quick ? CLOCK_LOOK_LAST : 2 * look;
}

/* Out of line, so that the caller saves no registers for it for each message. */
__attribute__((noinline)) static void look_at_clock(struct actor *actor,
                                                    struct turn_context *context)
{
    uint64_t now = executor_look_at_clock(actor->executor);

    if (now - context->began_ns > TURN_NS_MAX) {
        actor->executor->handled += context->handled;
        context->handled = TURN_SPENT;
    }
    actor->flags &= (uint8_t)~ACTOR_QUICK;
    if (now - context->looked_ns < QUICK_NS)
        actor->flags |= ACTOR_QUICK;
    context->looked_ns = now;
    context->look = next_look(context->look, actor->flags & ACTOR_QUICK);
}

/* The second beat during a turn, which has lasted for a millisecond, is a reason to look, too. */
static inline void watch_clock(struct actor *actor, struct turn_context *context)
{
    if (context->handled >= context->look || executor_beats(actor->executor) > 1)
        look_at_clock(actor, context);
}

/* Called before a handler. A group must not end later than its last message, so it learns of what
 * has ended before a message that is not its own. With an actor that is not known to be quick, its
 * figures do not wait for the handler's end. */
static inline void publish(struct actor *actor, const struct message *message)
{
    const struct executor *executor = actor->executor;
    bool is_quick = actor->flags & ACTOR_QUICK;

    if (executor->ended_count && (!is_quick || group_of(message) != executor->ended_of))
        group_add_ended(actor->executor);
}

__attribute__((noinline)) static void give(struct actor *actor, struct message *message,
                                           struct turn_context *context)
{
    int unwanted = wanted_begin(actor, message);

    context->handled++; /* many messages that are dropped end the turn, too */
    if (unwanted != 0) {
        unwelcome_drop(actor, message, unwanted);
        return;
    }
    if (!actor->spec) {
        manage(actor, message);
        return;
    }
    place_awake_any(actor); /* any of these handlers may take long; it may be lent by now */
    if (lease_refuses(actor, message)) {
        unwelcome_refuse(actor, message);
        return;
    }
    context->gathers = actor->spec->behaviour->flush != NULL;
    /* A handler that may block must not delay these messages until its end. */
    if (!(actor->spec->behaviour->flags & WEIR_BLOCKING)) {
        publish(actor, message);
        if (actor->place)
            credit_unmark(&context->credit, actor);
    } else if (!context->gathers) {
        credit_return_now(&context->credit, actor, actor->executor);
    }
    if (message->public.reserved & MESSAGE_TAKE)
        lease_grant(actor, message);
    else
        handling_run(actor, message);
    watch_clock(actor, context);
}

/* Before it sleeps, closes, or goes back from a lease. True: a step. */
static bool flush(struct actor *actor, struct turn_context *context)
{
    context->gathers = false;
    if (actor_state(actor) != ACTOR_OPEN || (actor->flags & ACTOR_FAILS))
        return true;
    group_flush(actor->executor); /* it may take long */
    credit_return_now(&context->credit, actor, actor->executor);
    handling_flush(actor);
    watch_clock(actor, context);
    return true;
}

/* A leaving actor passes on what another member may get. */
static void take_or_pass(struct actor *actor, struct message *message, struct turn_context *context)
{
    if (actor->leaving && hand_back_try(actor, message))
        context->handled++;
    else
        give(actor, message, context);
}

/* True when the worker may take a message. With too many retries it may not: so they stay few, and
 * its senders get FULL. */
static bool may_begin(struct actor *actor)
{
    if (!actor->spec)
        return true; /* the built-in manager */
    return actor_state(actor) == ACTOR_OPEN && !(actor->flags & ACTOR_PRINTS) &&
           actor->leaving != LEAVING_CLOSES && !newcomer_waits(actor) &&
           (!restart_is_ordered(actor) || lease_of(actor)) &&
           actor->kept.count < demand_of(actor) && !output_is_waiting(actor) &&
           !backlog_is_at_retries_max(actor);
}

/* As may_begin, for any message: not only for one that was sent to the worker itself. */
static bool may_take(struct actor *actor)
{
    return may_begin(actor) && !hand_back_awaits_room(actor);
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Sends the outbox. When that is empty, settles the last message, and ends a closed actor. */
static bool flush_step(struct actor *actor)
{
    if (!output_flush(actor))
        return false;
    end_settle_input(actor);
    if (actor_state(actor) == ACTOR_CLOSED)
        end_actor(actor, (enum weir_end_reason)actor->end_reason, END_FLUSHED);
    return true;
}

/* Ends the actor when its last child has ended. */
static bool closed_step(struct actor *actor)
{
    if (children_are_alive(actor))
        return false;
    end_actor(actor, (enum weir_end_reason)actor->end_reason, END_FLUSHED);
    return true;
}

/* False: the built-in manager, or the manager of a pool that a reload made and undid. */
static bool is_to_open(const struct actor *actor)
{
    if (!actor->router)
        return true;
    return actor->spec && !(actor->place->opener && actor->router->ops->is_closing(actor->router));
}

/* An open counts as a message: if it fails and memory for a pause is out, it is repeated in the
 * next turn. After an open on an opener's threads, the actor continues on its own dispatcher. */
static bool open_step(struct actor *actor, struct turn_context *context)
{
    if (actor_runs_on(actor) != actor->executor->dispatcher) {
        context->moves = true;
        return false;
    }
    if (actor_runs_on(actor) != actor->dispatcher)
        executor_give_way(actor->executor);
    context->handled++;
    context->look++; /* counts messages */
    open_actor(actor);
    return true;
}

static bool life_step(struct actor *actor, struct turn_context *context)
{
    if (actor_state(actor) == ACTOR_CLOSED)
        return closed_step(actor);
    if (actor->leaving) {
        context->handled++; /* it calls `close`, or opens once more */
        if (leave_opens_again(actor)) {
            open_actor(actor);
            return true;
        }
        return leave_step(actor);
    }
    if (actor_state(actor) != ACTOR_STARTING || children_are_alive(actor))
        return false;
    return is_to_open(actor) && open_step(actor, context);
}

static bool pool_step(struct actor *actor, struct turn_context *context)
{
    struct message *message = NULL;

    if (may_take(actor))
        message = take_lane(actor, &actor->urgent, WEIR_URGENT - WEIR_HIGH);
    if (!message && may_take(actor))
        message = take_lane(actor, &actor->high, 0);
    if (!message)
        return life_step(actor, context);
    give(actor, message, context);
    return true;
}

/* False: nothing can be done now. Out of line: the usual case saves no registers for it. */
__attribute__((noinline)) static bool step(struct actor *actor, struct turn_context *context)
{
    struct message *message;

    place_awake_any(actor);
    group_flush(actor->executor); /* a step may take long */
    if (actor_is_called(actor) || mailbox_has_other(&actor->mailbox)) {
        if (context->gathers)
            (void)flush(actor, context); /* what follows may end what it keeps */
        context->handled += control_take(actor);
    }
    if (actor_state(actor) == ACTOR_ENDED)
        return false;
    if (actor->flags & ACTOR_FAILS) {
        context->handled++; /* it calls `close` */
        restart_after_failure(actor, WEIR_END_CRASH);
        return true;
    }
    message = message_queue_take(&actor->control);
    if (message) {
        bool is_notice = message->public.kind == WEIR_EXIT || message->public.kind == WEIR_DOWN;

        control_handle(actor, message);
        context->gathers = actor->kind != ACTOR_POOL && actor->spec->behaviour->flush != NULL;
        context->handled++; /* many replies end the turn, too */
        return !is_notice || !context->gathers || flush(actor, context); /* `handle` had it */
    }
    if (actor->kind == ACTOR_POOL)
        return pool_step(actor, context);
    if (!context->gathers && restart_is_ordered(actor) && restart_obey(actor)) {
        context->handled++; /* it calls `close` */
        return true;
    }
    if (actor->leaving)
        leave_shed(actor);
    if (output_is_waiting(actor))
        return flush_step(actor);
    if (may_begin(actor)) {
        message = hand_back_awaits_room(actor) ? take_own(actor) : take_message(actor, context);
        if (message) {
            take_or_pass(actor, message, context);
            return true;
        }
        if (actor->kind == ACTOR_SOURCE && producing_step(actor)) {
            context->handled++;
            watch_clock(actor, context);
            return true;
        }
    } else if (actor->kind == ACTOR_SOURCE)
        producing_yield(actor);
    if (context->gathers)
        return flush(actor, context);
    if (lease_step(actor)) {
        context->handled++; /* it calls `returned` */
        return true;
    }
    return life_step(actor, context);
}

/* --- the usual case -------------------------------------------------------------------------- */

static bool is_place_undisturbed(const struct actor *actor)
{
    return !output_is_waiting(actor) && !backlog_is_at_retries_max(actor) && !lease_of(actor);
}

/* True when only the normal lane has messages for the worker. Each condition changes with a call of
 * actor_disturb; so does an order to restart, by its signal. */
static bool is_undisturbed(const struct actor *actor)
{
    return actor->kind == ACTOR_WORKER && actor_state(actor) == ACTOR_OPEN && !actor->leaving &&
           message_queue_is_empty(&actor->control) && message_queue_is_empty(&actor->urgent) &&
           message_queue_is_empty(&actor->high) && front_is_empty(actor) &&
           actor->kept.count == 0 && actor->spec->behaviour->handle && !actor->spec->poison &&
           !actor->spec->behaviour->flush && !(actor->spec->behaviour->flags & WEIR_BLOCKING) &&
           (!actor->place || is_place_undisturbed(actor));
}

/* True when the worker can take the next message of the normal lane without further checks. */
static inline bool is_plain(const struct actor *actor)
{
    bool plain = (actor->flags & ~(unsigned)ACTOR_QUICK) == ACTOR_PLAIN && !actor_is_called(actor);

#ifdef WEIR_CHECKS
    assert(!plain || is_undisturbed(actor)); /* else a call of actor_disturb is missing */
#endif
    return plain;
}

/* As is_plain, at the beginning of a turn and after each step. */
static inline bool becomes_plain(struct actor *actor)
{
    if (mailbox_has_other(&actor->mailbox) || place_shares_queue(actor))
        return false;
    if (!(actor->flags & ACTOR_PLAIN)) {
        if (!is_undisturbed(actor) || restart_is_ordered(actor) || newcomer_waits(actor))
            return false;
        actor->flags |= ACTOR_PLAIN;
        actor_set_busy(actor, ACTOR_FREE);
    }
    return is_plain(actor);
}

/* Flags of messages that only `give` handles; flags that are checked before a handler. */
#define OF_GIVE (MESSAGE_LEASED | MESSAGE_TAKE | MESSAGE_OUTSIDE_LEDGER)
#define SPECIAL (MESSAGE_EXPIRES | MESSAGE_ORIGIN | MESSAGE_PACKED | OF_GIVE)

/* Takes a message with a flag of SPECIAL, and returns it if it is handled as any other. NULL: it is
 * not wanted any more, or belongs to a lease. */
__attribute__((noinline)) static struct message *take_usual(struct actor *actor,
                                                            struct message *message,
                                                            struct turn_context *context)
{
    message = unpack(actor->executor, message);
    if (!(message->public.reserved & OF_GIVE) && wanted_begin(actor, message) == 0)
        return message;
    give(actor, message, context);
    return NULL;
}

/*
 * Handles messages of the normal lane while the worker is plain. False: the lane is empty.
 * Returns places in batches, so that senders and the owner seldom share a line; one by one if the
 * worker is not known to be quick, since a place must not stay taken until the end of a long
 * handler. A full mark ends with each return: any handler may take long.
 */
static inline bool run_plain(struct actor *actor, struct turn_context *context)
{
    struct executor *executor = actor->executor;
    const uint32_t batch = mailbox_batch(&actor->mailbox);
    struct message *taken;
    uint32_t owed = 0;

    actor->high_streak = 0;
    do {
        struct message *message = taken = mailbox_take(&actor->mailbox);

        if (!message)
            break;
        context->credit.places++;
        if (++owed == batch || !(actor->flags & ACTOR_QUICK)) {
            mailbox_return(&actor->mailbox);
            owed = 0;
            if (actor->place)
                credit_unmark(&context->credit, actor);
        }
        if (message->public.reserved & SPECIAL) {
            message = take_usual(actor, message, context);
            if (!message)
                continue;
        }
        context->handled++;
        publish(actor, message);
        handling_run_plain(actor, message);
        watch_clock(actor, context);
    } while (context->handled < executor->budget && is_plain(actor));
    if (owed)
        mailbox_return(&actor->mailbox);
    context->rests = taken == NULL;
    return taken != NULL;
}

/* --- the end of a turn ---------------------------------------------------------------------- */

/* True when a message in the shared queue, if there is one, would wake the actor. */
static bool is_noted_idle(const struct actor *actor)
{
    /* Relaxed: its own note. To remove it, or to make the actor share a queue, is a signal. */
    return !place_shares_queue(actor) || !lease_lets_pull(actor) ||
           atomic_load_explicit(&actor->place->noted, memory_order_relaxed);
}

/* True when only the mailbox could give it more work, also after a turn without budget left. */
static bool is_at_rest(struct actor *actor)
{
    return actor->kind != ACTOR_SOURCE && may_take(actor) &&
           message_queue_is_empty(&actor->control) && message_queue_is_empty(&actor->urgent) &&
           message_queue_is_empty(&actor->high) && front_is_empty(actor) && !actor->leaving &&
           !(actor->flags & ACTOR_FAILS) && !lease_is_over(actor) && is_noted_idle(actor);
}

/* Puts the actor to sleep. False: a message or signal has arrived since. An unbuffered mailbox
 * has room from now on, if the actor may take a message. */
static bool sleep_now(struct actor *actor, struct turn_context *context)
{
    if (!context->rests) {
        context->dozes = !may_take(actor);
        if (context->dozes)
            return doze(actor);
        actor_set_busy(actor, ACTOR_FREE);
    }
    if (mailbox_is_unbuffered(&actor->mailbox))
        context->credit.places = 1;
    return mailbox_try_idle(&actor->mailbox);
}

/* Queues the actor again: on this thread, or on the dispatcher to which it moves. */
static enum turn go_on(struct actor *actor, struct executor *executor)
{
    struct dispatcher *next = actor_runs_on(actor);

    if (next == executor->dispatcher)
        return TURN_AGAIN;
    executor_submit(executor, next, &actor->schedulable);
    return TURN_IDLE; /* another thread may run it already */
}

static inline enum turn end_turn(struct actor *actor, struct turn_context *context, bool more)
{
    struct owner *owner = place_member_of(actor);
    struct executor *executor = actor->executor;
    struct runtime *runtime = actor->runtime;
    enum turn turn = TURN_AGAIN;

    group_flush(executor);
    if (!context->rests && actor_state(actor) == ACTOR_ENDED)
        return TURN_IDLE;
    if (!context->moves && (!more || is_at_rest(actor)) && sleep_now(actor, context))
        turn = TURN_IDLE;
    else if (context->credit.places)
        /* The read-modify-write that wait_queue.h requires, unless the actor fell asleep by one. */
        (void)atomic_fetch_or_explicit(&actor->mailbox.word, 0, memory_order_seq_cst);
    /* The owner outlives this turn, also when the actor's slot has been reused. */
    if (credit_any(&context->credit) && credit_is_claimed(actor, owner))
        credit_return(&context->credit, actor, owner, executor);
    if (owner && owner_may_give(owner))
        owner->ops->pass_on(owner, executor);
    if (turn == TURN_IDLE && owner && !context->dozes && owner_is_backed_up(owner))
        owner->ops->fetch(owner, executor);
    group_flush(executor); /* falling asleep, too, ends what nobody waits for */
    /* seq_cst: falling asleep comes before it; see runtime_wait_idle. */
    if (turn == TURN_IDLE && atomic_load_explicit(&runtime->idle_waits, memory_order_seq_cst))
        runtime_notice(runtime);
    return turn == TURN_AGAIN ? go_on(actor, executor) : turn;
}

/* A turn without a message counts as one. A turn that has taken too long was counted then. */
static inline void count_handled(struct executor *executor, const struct turn_context *context)
{
    if (context->handled != TURN_SPENT)
        executor->handled += context->handled + (context->handled == 0);
}

/* A worker that gathers messages takes those that wait, also where callbacks may block. */
static inline bool has_budget(const struct executor *executor, const struct turn_context *context)
{
    if (context->handled < executor->budget)
        return true;
    return __builtin_expect(context->gathers, false) && executor->budget > 0 &&
           context->handled < GATHER_MAX;
}

enum turn actor_turn(struct schedulable *schedulable, struct executor *executor)
{
    struct actor *actor = actor_of_schedulable(schedulable);
    struct turn_context context = { .look = first_look(actor),
                                    .began_ns = executor->now_ns,
                                    .looked_ns = executor->now_ns };
    bool more = true;

    actor->executor = executor;
    executor->noted = NULL;
    place_awake_any(actor);
    while (more && has_budget(executor, &context))
        more = becomes_plain(actor) ? run_plain(actor, &context) : step(actor, &context);
    if (context.gathers)
        more = flush(actor, &context); /* its state may be another one now */
    count_handled(executor, &context);
    return end_turn(actor, &context, more);
}
