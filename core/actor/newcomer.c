/* SPDX-License-Identifier: MIT */
#include "actor/newcomer.h"

#include "actor/actor_ext.h"
#include "actor/runtime.h"

#define CHECK_NS_MIN 1000000u  /* between two checks: an eighth of the time so far */
#define CHECK_NS_MAX 16000000u /* within these bounds */

void newcomer_hold(struct place *place, struct handover *handover)
{
    /* Release pairs with the acquire in newcomer_waits. A place is new once. */
    atomic_store_explicit(&place->handover, handover_ref(handover), memory_order_release);
}

/* Whether the giver has settled what it had at the mark. Messages given again come after others in
 * any case; it is not done while they wait. */
static bool is_done(const struct giver *giver, bool in_order)
{
    struct mailbox *mailbox = &giver->actor->mailbox;
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_acquire);
    int32_t past = (int32_t)((uint32_t)mailbox_taken(mailbox) - giver->mark);
    struct ledger_reading reading;

    if (mailbox_serial(word) != giver->serial)
        return true; /* it has ended */
    if (past < 0)
        return false;
    ledger_read(&giver->actor->ledger, mailbox, &reading);
    if (reading.held > 0)
        return false;
    return reading.in_hand == 0 || (in_order && reading.in_hand <= (uint32_t)past);
}

/* Whether all are done; those that were are not looked at again. */
static bool all_are_done(struct actor *actor, const struct handover *handover)
{
    struct place *place = actor->place;

    if (!atomic_load_explicit(&handover->marked, memory_order_acquire))
        return false;
    while (place->giver < handover->count &&
           is_done(&handover->givers[place->giver], handover->in_order))
        place->giver++;
    return place->giver == handover->count;
}

static void end(struct actor *actor, struct handover *handover)
{
    atomic_store_explicit(&actor->place->handover, NULL, memory_order_relaxed);
    handover_unref(handover);
}

static void log_late(const struct actor *actor)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_WARNING, place_subject(actor),
              "a new worker begins although an old one is not done",
              weir_uint("worker", actor->place->index),
              weir_str("effect", "messages of one key may be handled out of order"));
}

uint64_t newcomer_time(struct actor *actor, uint64_t now_ns)
{
    struct handover *handover = newcomer_waits(actor) ? actor->place->handover : NULL;
    uint64_t pause;

    if (!handover)
        return TIMER_NEVER;
    if (all_are_done(actor, handover)) {
        end(actor, handover);
        return TIMER_NEVER;
    }
    if (now_ns >= handover->due_ns) {
        log_late(actor);
        end(actor, handover);
        return TIMER_NEVER;
    }
    pause = (now_ns - handover->begun_ns) / 8;
    pause = pause < CHECK_NS_MIN ? CHECK_NS_MIN : pause > CHECK_NS_MAX ? CHECK_NS_MAX : pause;
    return now_ns + pause;
}

void newcomer_begin(struct actor *actor)
{
    uint64_t next;

    if (!newcomer_waits(actor))
        return;
    actor_disturb(actor);
    if (!actor_ext_get(actor)) { /* without memory for a timer, it begins at once */
        end(actor, actor->place->handover);
        return;
    }
    next = newcomer_time(actor, executor_look_at_clock(actor->executor));
    if (next != TIMER_NEVER)
        actor_ext_arm(actor, next);
}
