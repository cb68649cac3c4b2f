#include "actor/lease.h"

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/callback.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/output.h"
#include "actor/request.h"
#include "actor/restart.h"
#include "actor/runtime.h"
#include "actor/settle.h"

#define NS_PER_MS 1000000u

bool lease_lets_pull(const struct actor *actor)
{
    if (!leases_are_given(actor->place->owner->leases))
        return !lease_of(actor);
    return !lease_of(actor) && actor->kept.count == 0 && actor->place->retries.count == 0;
}

bool lease_refuses(const struct actor *actor, const struct message *message)
{
    const struct lease *lease = lease_of(actor);

    if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        return false;
    if (!(message->public.reserved & MESSAGE_LEASED))
        return lease != NULL;
    return !lease || message->status != (int32_t)(uint32_t)lease->token;
}

/* --- beginning -------------------------------------------------------------------------------- */

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

/* Calls `taken` or `returned`. False: the worker is broken. */
static bool call(struct actor *actor, int (*callback)(struct weir_self *self, void *state))
{
    int status;

    if (!callback)
        return true;
    actor_ext_clear_detail(actor);
    callback_begin(actor);
    status = callback(&actor->self, actor->memory);
    callback_end(actor);
    return status == 0;
}

/* The member is free. Returns the TAKE, owned. */
static struct message *release(struct actor *actor, struct lease *lease)
{
    struct message *take = lease->take;

    lease->take = NULL;
    lease->is_over = false;
    if (lease->monitor)
        (void)link_demonitor(actor, lease->monitor);
    lease->monitor = 0;
    return take;
}

static void end(struct actor *actor, struct lease *lease)
{
    settle_done(actor, release(actor, lease));
}

static int answer(struct actor *actor, struct lease *lease)
{
    uint64_t due_ns;
    struct message *reply = message_create(&actor->executor->cache, NULL,
                                           sizeof(struct weir_lease));
    int status;

    if (!reply)
        return WEIR_ENOMEM;
    due_ns = leases_open(lease, lease->take->public.from, lease->begun_ns, reply->public.data);
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
    weir_pid holder = lease->take->public.from;
    int status = actor_ext_get(actor) ? 0 : WEIR_ENOMEM;

    if (status == 0 && holder)
        status = link_monitor(actor, holder, &lease->monitor);
    return status == 0 ? answer(actor, lease) : status;
}

/* The lease could not begin, or its taker has given up. */
static void give_back(struct actor *actor, struct lease *lease, int status)
{
    struct message *take = release(actor, lease);

    if (take->public.reserved & MESSAGE_ANSWERED)
        settle_done(actor, take);
    else
        settle_dead(actor, take, DEAD_REJECTED, status);
    if (!call(actor, actor->spec->behaviour->returned))
        restart_after_failure(actor, WEIR_END_CRASH);
}

void lease_grant(struct actor *actor, struct message *take)
{
    const struct owner *owner = place_member_of(actor);
    struct lease *lease;
    int status;

    if (!owner || !leases_are_given(owner->leases)) {
        settle_dead(actor, take, DEAD_REJECTED, WEIR_EUNSUPPORTED);
        return;
    }
    lease = make(actor);
    if (!lease) {
        settle_dead(actor, take, DEAD_REJECTED, WEIR_ENOMEM);
        return;
    }
    if (!call(actor, actor->spec->behaviour->taken)) {
        owner->ops->put_back(actor->place, take);
        settle_moved(actor);
        restart_after_failure(actor, WEIR_END_CRASH);
        return;
    }
    lease->take = take;
    lease->begun_ns = executor_look_at_clock(actor->executor);
    status = begin(actor, lease);
    if (status != 0)
        give_back(actor, lease, status);
}

/* --- ending ----------------------------------------------------------------------------------- */

static void log_revoked(const struct actor *actor, const struct lease *lease, enum lease_end why)
{
    static const char *const reasons[LEASE_ENDS] = {
        [LEASE_FAILED] = "returned as failed",
        [LEASE_EXPIRED] = "its time-out has passed",
        [LEASE_HOLDER_FAILED] = "its holder failed",
        [LEASE_REMOVED] = "the worker has to leave",
    };

    log_event(&actor->runtime->options.log, why == LEASE_FAILED ? WEIR_LOG_INFO : WEIR_LOG_WARNING,
              place_subject(actor), "lease is revoked", weir_str("reason", reasons[why]),
              weir_uint("holder", lease->take->public.from),
              weir_uint("age_ms",
                        (executor_look_at_clock(actor->executor) - lease->begun_ns) / NS_PER_MS),
              weir_uint("worker", actor->place->index),
              weir_str("effect", "the worker is closed and opened again"));
}

/* The worker is not punished for its holder: this is no failure that counts. */
static void revoke(struct actor *actor, struct lease *lease, enum lease_end why)
{
    log_revoked(actor, lease, why);
    end(actor, lease);
    restart_at_once(actor, WEIR_END_CRASH);
}

static bool keeps_worker(enum lease_end end)
{
    return end == LEASE_DONE || end == LEASE_HOLDER_ENDED;
}

uint64_t lease_time(struct actor *actor, uint64_t now_ns)
{
    struct lease *lease = lease_of(actor);
    enum lease_end how;
    uint64_t due_ns;

    if (!lease || lease->is_over)
        return TIMER_NEVER;
    if (!leases_look(lease, now_ns, &how, &due_ns))
        return due_ns;
    if (keeps_worker(how))
        lease->is_over = true;
    else
        revoke(actor, lease, how);
    return TIMER_NEVER;
}

bool lease_holder_ended(struct actor *actor, const struct message *down)
{
    struct lease *lease = lease_of(actor);
    const struct weir_end *ended = down->public.data;
    bool failed = ended->reason == WEIR_END_CRASH || ended->reason == WEIR_END_KILL;
    enum lease_end how;

    if (!lease || down->reference != lease->monitor)
        return false;
    lease->monitor = 0;
    how = leases_close(lease, failed ? LEASE_HOLDER_FAILED : LEASE_HOLDER_ENDED);
    if (keeps_worker(how))
        lease->is_over = true;
    else
        revoke(actor, lease, how);
    return true;
}

bool lease_step(struct actor *actor)
{
    struct lease *lease = lease_of(actor);

    if (!lease || !lease->is_over || actor_state(actor) != ACTOR_OPEN || actor->kept.count > 0 ||
        !backlog_is_empty(actor) || output_is_waiting(actor))
        return false;
    end(actor, lease);
    if (!call(actor, actor->spec->behaviour->returned))
        restart_after_failure(actor, WEIR_END_CRASH);
    return true;
}

void lease_remove(struct actor *actor)
{
    struct lease *lease = lease_of(actor);

    if (lease && !keeps_worker(leases_close(lease, LEASE_REMOVED)))
        revoke(actor, lease, LEASE_REMOVED);
}

void lease_drop(struct actor *actor)
{
    struct lease *lease = lease_of(actor);

    if (!lease)
        return;
    (void)leases_close(lease, LEASE_MEMBER_FAILED);
    end(actor, lease);
}
