/* SPDX-License-Identifier: MIT */
#include "actor/lease.h"

#include <inttypes.h>
#include <stdio.h>

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/front.h"
#include "actor/link.h"
#include "actor/output.h"
#include "actor/own.h"
#include "actor/runtime.h"
#include "actor/settle.h"

#define NS_PER_MS 1000000u

bool lease_lets_pull(const struct actor *actor)
{
    if (!leases_are_given(actor->place->owner->leases))
        return !lease_of(actor);
    return !lease_of(actor) && actor->kept.count == 0 && backlog_retries(actor) == 0;
}

bool lease_refuses(const struct actor *actor, const struct message *message)
{
    const struct lease *lease = lease_of(actor);

    if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        return false;
    if (!(message->public.reserved & MESSAGE_LEASED))
        return lease && !own_is(actor, message);
    return !lease || message->lease != lease->token;
}

/* The most events that wait: as many as the mailbox takes. */
static uint32_t events_max(const struct actor *actor)
{
    /* Relaxed: a changed limit counts from one of the next events on. */
    const uint32_t limit = atomic_load_explicit(&actor->mailbox.limit, memory_order_relaxed);

    return limit == 0 || limit == WEIR_UNBUFFERED ? UINT32_MAX : limit;
}

bool lease_defers(struct actor *actor, struct message *message)
{
    struct actor_ext *ext = actor->ext;

    if (message->public.kind != WEIR_EVENT || !message_is_for_one(message) || !lease_of(actor) ||
        ext->events.count >= events_max(actor))
        return false;
    settle_hold(actor);
    message_list_append(&ext->events, message);
    return true;
}

/* The events that have waited precede what the mailbox has. */
static void deliver_events(struct actor *actor)
{
    struct message *message;

    while (actor->ext && (message = message_list_take(&actor->ext->events)))
        front_append(actor, message);
    actor_disturb(actor);
}

void lease_pass_on(struct actor *actor, struct message *message)
{
    const struct owner_ops *ops = actor->place->owner->ops;

    if (ops->reroute(actor->place, message) != 0) /* no member has room, or the pool closes */
        ops->put_back(actor->place, message);
    settle_moved(actor);
}

void lease_adopt_locked(struct actor *actor)
{
    struct lease *lease = atomic_load_explicit(&actor->place->lease, memory_order_relaxed);

    lease->is_adopted = true;
    ledger_count(&actor->ledger.pulled);
    actor_disturb(actor);
}

void lease_add_ledger(const struct place *place, struct ledger_reading *reading)
{
    /* Acquire pairs with the release in make. */
    const struct lease *lease = atomic_load_explicit(&place->lease, memory_order_acquire);
    /* Relaxed, both: see the header. */
    uint64_t loans = lease ? atomic_load_explicit(&lease->loans, memory_order_relaxed) : 0;
    bool is_lent = atomic_load_explicit(&place->noted, memory_order_relaxed) == PLACE_LENT;

    reading->accepted += loans + is_lent;
    reading->done += loans;
    reading->in_hand += is_lent;
}

struct message *lease_release(struct actor *actor, struct lease *lease)
{
    struct message *take = lease->take;

    lease->take = NULL;
    lease->is_adopted = false;
    lease->is_over = false;
    deliver_events(actor);
    if (lease->monitor)
        (void)link_demonitor(actor, lease->monitor);
    lease->monitor = 0;
    return take;
}

void lease_settle(struct actor *actor, struct lease *lease)
{
    struct message *take = lease_release(actor, lease);

    if (take)
        settle_done(actor, take);
    else
        ledger_count(&actor->ledger.done);
}

struct message *lease_make_take(struct executor *executor, struct lease_holder holder,
                                const char *path)
{
    const size_t size = strlen(path) + sizeof "";
    struct message *take = message_create(&executor->cache, NULL,
                                          sizeof(struct lease_taker) + size);
    struct lease_taker *taker;

    if (!take)
        return NULL;
    taker = take->public.data;
    taker->holder = holder;
    memcpy(taker->path, path, size);
    return take;
}

/* The path of the holder, for people: that of its TAKE, since the holder may have ended. */
static void name_holder(const struct lease *lease, char name[PLACE_PATH_MAX])
{
    const struct message *take = lease->take;
    const struct lease_taker *taker = take && take->public.size ? take->public.data : NULL;
    weir_pid pid = take ? lease_holder_of(take) : 0;

    if (taker && taker->path[0])
        (void)snprintf(name, PLACE_PATH_MAX, "%s", taker->path);
    else if (pid != 0)
        (void)snprintf(name, PLACE_PATH_MAX, "pid %" PRIu64, pid);
    else
        (void)snprintf(name, PLACE_PATH_MAX, "outside");
}

static uint64_t age_ms(const struct actor *actor)
{
    return (executor_look_at_clock(actor->executor) - lease_of(actor)->begun_ns) / NS_PER_MS;
}

void lease_log_revoked(const struct actor *actor, enum lease_end why)
{
    static const char *const reasons[LEASE_ENDS] = {
        [LEASE_FAILED] = "returned as failed",
        [LEASE_EXPIRED] = "its time-out has passed",
        [LEASE_HOLDER_FAILED] = "its holder failed",
        [LEASE_REMOVED] = "the worker has to leave",
    };
    char holder[PLACE_PATH_MAX];

    name_holder(lease_of(actor), holder);
    log_event(&actor->runtime->options.log, why == LEASE_FAILED ? WEIR_LOG_INFO : WEIR_LOG_WARNING,
              place_subject(actor), "lease is revoked", weir_str("reason", reasons[why]),
              weir_str("holder", holder), weir_uint("age_ms", age_ms(actor)),
              weir_uint("worker", actor->place->index),
              weir_str("effect", why == LEASE_REMOVED ? "the worker is closed"
                                                      : "the worker is closed and opened again"));
}

void lease_log_lost(struct actor *actor)
{
    char holder[PLACE_PATH_MAX];

    name_holder(lease_of(actor), holder);
    log_event(&actor->runtime->options.log, WEIR_LOG_WARNING, place_subject(actor),
              "returned worker does not become free",
              weir_str("reason", output_is_waiting(actor) ? "its output has no room"
                                 : actor->kept.count > 0  ? "it keeps messages of the lease"
                                 : backlog_retries(actor) > 0
                                     ? "messages of the lease wait for a retry"
                                     : "messages of the lease wait"),
              weir_str("holder", holder), weir_uint("age_ms", age_ms(actor)),
              weir_uint("worker", actor->place->index),
              weir_str("effect", "the worker is closed and opened again"));
}

void lease_log_retired(const struct actor *actor)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_INFO, place_subject(actor),
              "worker ends after its lease", weir_str("reason", actor_ext_detail(actor)),
              weir_uint("incarnation", actor->incarnation),
              weir_uint("worker", actor->place->index),
              weir_str("effect", "it is closed and opened again"));
}

void lease_refuse_take(struct actor *actor, struct message *take, int status)
{
    const struct owner *owner = place_member_of(actor);

    if (owner && owner->leases)
        leases_count_unserved(owner->leases, status);
    settle_take(actor, take, status);
}

bool lease_remove(struct actor *actor)
{
    struct lease *lease = lease_of(actor);

    if (!lease || lease_keeps_worker(leases_close(lease, LEASE_REMOVED)))
        return false;
    lease_log_revoked(actor, LEASE_REMOVED);
    return true;
}

/* What was emitted under the lease waits for room no longer than the way back may take. */
static void bound_outbox(struct actor *actor, struct lease *lease)
{
    enum lease_end how;
    uint64_t due_ns;

    (void)leases_look(lease, executor_look_at_clock(actor->executor), &how, &due_ns);
    actor->place->unsent_due_ns = due_ns;
    if (due_ns != TIMER_NEVER && actor_ext_get(actor))
        actor_ext_arm(actor, due_ns);
}

void lease_drop(struct actor *actor, bool failed)
{
    const struct owner *owner = place_member_of(actor);
    struct lease *lease = lease_of(actor);

    if (failed && owner && (lease || leases_are_given(owner->leases)))
        leases_count_failure(owner->leases, lease != NULL);
    if (!lease)
        return;
    (void)leases_close(lease, LEASE_MEMBER_FAILED);
    bound_outbox(actor, lease);
    backlog_hurry(actor, MESSAGE_LEASED); /* the next incarnation refuses them */
    lease_settle(actor, lease);
}
