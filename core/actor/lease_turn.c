/* SPDX-License-Identifier: MIT */
#include "actor/lease_turn.h"

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/callback.h"
#include "actor/end.h"
#include "actor/lease.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/output.h"
#include "actor/request.h"
#include "actor/restart.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/stash.h"
#include "actor/wanted.h"

/* --- beginning -------------------------------------------------------------------------------- */

/* NULL when memory is out. */
static struct lease *make(struct actor *actor)
{
    /* Relaxed: written in turns of this actor only. */
    struct lease *lease = atomic_load_explicit(&actor->place->lease, memory_order_relaxed);

    if (lease)
        return lease;
    lease = leases_join(actor->place->owner->leases, actor);
    /* Release pairs with the acquire in place_lease: the fields are complete. */
    atomic_store_explicit(&actor->place->lease, lease, memory_order_release);
    return lease;
}

bool lease_may_be_lent(struct actor *actor)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;

    return leases_are_given(actor->place->owner->leases) && !behaviour->taken &&
           !behaviour->returned && !behaviour->flush && actor_ext_get(actor) && make(actor);
}

/* Calls `taken` or `returned`. False: the worker is broken. */
static bool call(struct actor *actor, int (*callback)(struct weir_self *self, void *state))
{
    int status;

    if (!callback)
        return true;
    actor_ext_clear_detail(actor);
    callback_begin(actor, NOTE_LEASE);
    status = callback(&actor->self, actor->memory);
    callback_end(actor);
    return status == 0;
}

static int answer(struct actor *actor, struct lease *lease)
{
    uint64_t due_ns;
    struct message *reply = message_create(&actor->executor->cache, NULL,
                                           sizeof(struct weir_lease));
    int status;

    if (!reply)
        return WEIR_ENOMEM;
    due_ns = leases_open(lease, lease_holder_of(lease->take),
                         executor_look_at_clock(actor->executor), reply->public.data);
    reply->public.reserved |= MESSAGE_TAKE;
    status = request_reply(actor, lease->take, reply);
    if (status != 0) { /* the taker has given up */
        (void)leases_close(lease, LEASE_DONE);
        message_destroy(&actor->executor->cache, reply);
    } else if (due_ns != TIMER_NEVER) {
        actor_ext_arm(actor, due_ns);
    }
    return status;
}

static int begin(struct actor *actor, struct lease *lease)
{
    const struct message *take = lease->take;
    int status = actor_ext_get(actor) ? 0 : WEIR_ENOMEM;

    if (status == 0 && take->public.size > 0) {
        const struct lease_taker *taker = take->public.data;

        status = link_monitor_life(actor, taker->holder.pid, taker->holder.life, &lease->monitor);
    }
    return status == 0 ? answer(actor, lease) : status;
}

/* A worker may end itself here, such as one of a certain age: as by an order to restart, so this is
 * no failure. */
static void call_returned(struct actor *actor)
{
    if (call(actor, actor->spec->behaviour->returned))
        return;
    lease_log_retired(actor);
    restart_at_once(actor, WEIR_END_SHUTDOWN);
}

/* After `taken` without a lease. `returned` may take long: the worker counts as one on its way. */
static void come_unleased(struct actor *actor)
{
    struct place *place = actor->place;

    place_awake(place);
    if (!mailbox_is_closed(&actor->mailbox))
        place->owner->ops->comes(place, true, executor_look_at_clock(actor->executor));
    call_returned(actor);
}

/* The lease could not begin, or its taker has given up. */
static void give_back(struct actor *actor, struct lease *lease, int status)
{
    struct message *take = lease_release(actor, lease);

    if (take->public.reserved & MESSAGE_ANSWERED)
        settle_done(actor, take);
    else
        lease_refuse_take(actor, take, status);
    come_unleased(actor);
}

/* Calls `taken`. `take` is NULL afterwards if it went to another member meanwhile. False: the
 * worker is broken. */
static bool check(struct actor *actor, struct lease *lease, struct message **take)
{
    struct executor *executor = actor->executor;
    bool is_sound;

    if (!actor->spec->behaviour->taken)
        return true;
    lease->offered = *take;
    lease->offered_ns = executor_look_at_clock(executor);
    /* Relaxed, both: a hint, until the thread is held. */
    atomic_store_explicit(&executor->offers_ns, lease->offered_ns | 1, memory_order_relaxed);
    is_sound = call(actor, actor->spec->behaviour->taken);
    atomic_store_explicit(&executor->offers_ns, 0, memory_order_relaxed);
    *take = lease->offered;
    lease->offered = NULL;
    return is_sound;
}

struct message *lease_take_offer(struct place *place, uint64_t now_ns)
{
    struct lease *lease = atomic_load_explicit(&place->lease, memory_order_acquire);
    struct message *take = lease ? lease->offered : NULL;

    if (!take || now_ns < lease->offered_ns + WANTED_BEAT_NS)
        return NULL;
    lease->offered = NULL;
    return take;
}

/* The worker is broken. */
static void fail(struct actor *actor, struct owner *owner, struct message *take)
{
    if (take)
        owner->ops->put_back(actor->place, take);
    settle_moved(actor);
    owner->ops->pass_on(owner, actor->executor); /* a try does not wait for the restart */
    restart_after_failure(actor, WEIR_END_CRASH);
}

/* The TAKE went to another member: the next one, if it is wanted; NULL: none is first in the
 * queue. */
static struct message *take_another(struct actor *actor, struct owner *owner)
{
    struct message *next;
    int unwanted;

    settle_moved(actor);
    next = owner->ops->take(actor);
    if (!next)
        return NULL;
    if (!(next->public.reserved & MESSAGE_TAKE)) {
        owner->ops->put_back(actor->place, next);
        settle_moved(actor);
        return NULL;
    }
    unwanted = wanted_begin(actor, next);
    if (unwanted == 0)
        return next;
    lease_refuse_take(actor, next, unwanted);
    return NULL;
}

void lease_grant(struct actor *actor, struct message *take)
{
    struct owner *owner = place_member_of(actor);
    struct lease *lease;
    int status;

    if (!owner || !leases_are_given(owner->leases)) {
        lease_refuse_take(actor, take, WEIR_EUNSUPPORTED);
        return;
    }
    lease = make(actor);
    if (!lease) {
        lease_refuse_take(actor, take, WEIR_ENOMEM);
        return;
    }
    if (!check(actor, lease, &take)) {
        fail(actor, owner, take);
        return;
    }
    if (!take)
        take = take_another(actor, owner);
    if (!take) {
        come_unleased(actor);
        return;
    }
    lease->take = take;
    actor_disturb(actor);
    status = begin(actor, lease);
    if (status != 0)
        give_back(actor, lease, status);
}

/* --- ending ----------------------------------------------------------------------------------- */

/* A worker that leaves, or is to restart, is not given to another holder. */
static bool waits_for_stash(struct actor *actor)
{
    return stash_has_leased(actor) && !actor->leaving && !restart_is_ordered(actor);
}

/* Everything that came under the lease is settled. */
static bool has_finished(struct actor *actor)
{
    return actor->kept.count == 0 && backlog_is_empty(actor) && !output_is_waiting(actor) &&
           !waits_for_stash(actor);
}

/* The lease is over. Returns the time of the next look. A worker that is replaced for its holder,
 * or since it does not come back, has no failure that counts. */
static uint64_t come_back(struct actor *actor, enum lease_end how, uint64_t now_ns, uint64_t due_ns)
{
    struct lease *lease = lease_of(actor);

    if (lease_keeps_worker(how) && (due_ns > now_ns || has_finished(actor))) {
        lease->is_over = true;
        return due_ns > now_ns ? due_ns : TIMER_NEVER;
    }
    if (lease_keeps_worker(how))
        lease_log_lost(actor);
    else
        lease_log_revoked(actor, how);
    restart_at_once(actor, WEIR_END_CRASH);
    return TIMER_NEVER;
}

uint64_t lease_time(struct actor *actor, uint64_t now_ns)
{
    struct lease *lease = lease_of(actor);
    enum lease_end how;
    uint64_t due_ns;

    if (!lease)
        return TIMER_NEVER;
    if (!leases_look(lease, now_ns, &how, &due_ns))
        return due_ns;
    return come_back(actor, how, now_ns, due_ns);
}

uint64_t lease_unsent_time(struct actor *actor, uint64_t now_ns)
{
    uint64_t due_ns = actor->place ? actor->place->unsent_due_ns : 0;

    if (due_ns == 0 || !output_is_waiting(actor))
        return TIMER_NEVER;
    if (due_ns > now_ns)
        return due_ns;
    actor->place->unsent_due_ns = 0;
    end_drop_outbox(actor, DEAD_OUTPUT_FULL, WEIR_EFULL);
    return TIMER_NEVER;
}

void lease_leave_time(struct actor *actor, uint64_t now_ns)
{
    uint64_t due_ns = actor->place ? actor->place->leave_due_ns : 0;

    if (!actor->leaving || due_ns == 0 || due_ns > now_ns || !lease_remove(actor))
        return;
    /* Now, since the pool may still recall the member. Otherwise it leaves before it opens. */
    restart_at_once(actor, WEIR_END_CRASH);
}

bool lease_holder_ended(struct actor *actor, const struct message *down)
{
    struct lease *lease = lease_of(actor);
    const struct weir_end *ended = down->public.data;
    bool failed = ended->reason == WEIR_END_CRASH || ended->reason == WEIR_END_KILL;
    uint64_t due_ns;

    if (!lease || down->reference != lease->monitor)
        return false;
    lease->monitor = 0;
    (void)leases_close(lease, failed ? LEASE_HOLDER_FAILED : LEASE_HOLDER_ENDED);
    due_ns = lease_time(actor, executor_look_at_clock(actor->executor));
    if (due_ns != TIMER_NEVER)
        actor_ext_arm(actor, due_ns);
    return true;
}

bool lease_step(struct actor *actor)
{
    struct lease *lease = lease_of(actor);

    if (!lease || !lease->is_over || actor_state(actor) != ACTOR_OPEN || !has_finished(actor))
        return false;
    lease_settle(actor, lease);
    call_returned(actor);
    return true;
}
