#include "actor/hand_back.h"

#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/place.h"
#include "actor/settle.h"
#include "actor/wait_queue.h"

struct hand_back {
    struct actor *actor;         /* const */
    struct message_list waiting; /* for room, in order; held */
    struct waiter waiter;
};

static struct hand_back *hand_back_of(const struct actor *actor)
{
    return actor->ext ? actor->ext->hand_back : NULL;
}

uint32_t hand_back_count(const struct actor *actor)
{
    const struct hand_back *hand_back = hand_back_of(actor);

    return hand_back ? hand_back->waiting.count : 0;
}

static void wake(struct waiter *waiter, struct executor *executor)
{
    struct actor *actor = LIST_ENTRY(waiter, struct hand_back, waiter)->actor;

    (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_ROOM);
}

/* NULL when memory is out. */
static struct hand_back *make(struct actor *actor)
{
    struct actor_ext *ext = actor_ext_get(actor);
    struct hand_back *made = ext ? ext->hand_back : NULL;

    if (!ext || made)
        return made;
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->actor = actor;
    waiter_init(&made->waiter, wake);
    ext->hand_back = made;
    return made;
}

void hand_back_destroy(struct hand_back *hand_back, struct executor *executor)
{
    struct message *message;

    if (!hand_back)
        return;
    /* Only an actor that is abandoned with its pool has some. */
    while ((message = message_list_take(&hand_back->waiting)))
        message_destroy(&executor->cache, message);
    free(hand_back);
}

static bool may_go(const struct actor *actor, const struct message *message)
{
    return place_member_of(actor) && !message_is_for_one(message) &&
           !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER) &&
           (actor->leaving == LEAVING_FINISHES || actor->leaving == LEAVING_REROUTES);
}

int hand_back_pass(struct actor *actor, struct message *message)
{
    struct place *place = actor->place;
    int status;

    if (!may_go(actor, message))
        return WEIR_EUNSUPPORTED;
    status = place->owner->ops->hand_back(place, message, actor->leaving == LEAVING_FINISHES);
    if (status == 0)
        settle_moved(actor);
    return status;
}

/* --- waiting ---------------------------------------------------------------------------------- */

struct message *hand_back_take(struct actor *actor)
{
    struct hand_back *hand_back = hand_back_of(actor);
    struct message *message = hand_back ? message_list_take(&hand_back->waiting) : NULL;

    if (message && hand_back->waiting.count == 0)
        wait_queue_leave(&hand_back->waiter, actor->executor);
    return message;
}

void hand_back_cancel(struct actor *actor)
{
    struct message_queue all = { 0 };
    struct message *message;

    while ((message = hand_back_take(actor)))
        message_queue_append(&all, message);
    while ((message = message_queue_take(&actor->front)))
        message_queue_append(&all, message);
    actor->front = all;
    actor_disturb(actor);
}

/* Passes the waiting messages on, until one is refused. */
static int pass_waiting(struct actor *actor, struct hand_back *hand_back)
{
    struct message *message;

    while ((message = message_list_take(&hand_back->waiting))) {
        int status;

        settle_unhold(actor);
        status = hand_back_pass(actor, message);
        if (status != 0) {
            settle_hold(actor);
            message_list_prepend(&hand_back->waiting, message);
            return status;
        }
        wait_queue_use(&hand_back->waiter, 1);
    }
    wait_queue_leave(&hand_back->waiter, actor->executor);
    return 0;
}

void hand_back_again(struct actor *actor)
{
    struct hand_back *hand_back = hand_back_of(actor);
    struct place *place = actor->place;
    int status;

    if (hand_back_count(actor) == 0)
        return;
    status = pass_waiting(actor, hand_back);
    if (status == WEIR_EFULL) {
        wait_queue_join(place->owner->ops->room(place), &hand_back->waiter,
                        hand_back->waiting.count, actor->executor);
        /* The second check: see wait_queue.h. */
        status = pass_waiting(actor, hand_back);
    }
    if (status != 0 && status != WEIR_EFULL)
        hand_back_cancel(actor);
}

/* The message waits behind the others. False: memory is out. */
static bool keep_waiting(struct actor *actor, struct message *message)
{
    struct hand_back *hand_back = make(actor);

    if (!hand_back)
        return false;
    settle_hold(actor);
    message_list_append(&hand_back->waiting, message);
    return true;
}

bool hand_back_try(struct actor *actor, struct message *message)
{
    bool waits = hand_back_count(actor) > 0 && may_go(actor, message);
    int status = waits ? WEIR_EFULL : hand_back_pass(actor, message);

    if (status == 0)
        return true;
    if (status != WEIR_EFULL || actor->leaving == LEAVING_FINISHES || !keep_waiting(actor, message))
        return false;
    hand_back_again(actor);
    return true;
}
