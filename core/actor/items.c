/* SPDX-License-Identifier: MIT */
#include "actor/items.h"

#include <stdio.h>

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/children.h"
#include "actor/demand.h"
#include "actor/inspection.h"
#include "actor/kept.h"
#include "actor/lease.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/place.h"
#include "actor/stash.h"

static const char *kind_of(const struct actor *actor)
{
    if (actor->kind == ACTOR_POOL)
        return "pool";
    if (actor->kind == ACTOR_SOURCE)
        return "source";
    return place_member_of(actor) ? "worker" : "actor";
}

static const char *state_of(const struct actor *actor)
{
    enum actor_state state = actor_state(actor);

    if (state == ACTOR_STOPPED)
        return "stopped";
    if (state == ACTOR_CLOSED)
        return "closed"; /* its outbox is left */
    if (!actor->spec)
        return actor->leaving ? "leaving" : "open"; /* the built-in manager */
    if (state == ACTOR_WAITING)
        return "waiting"; /* to be opened again */
    if (state == ACTOR_STARTING)
        return actor->incarnation ? "restarting" : "starting";
    return actor->leaving ? "leaving" : "open";
}

static void add_identity(struct inspection *out, const struct actor *actor)
{
    const struct spec *spec = actor->spec;
    char behaviour[WEIR_INSPECT_VALUE_MAX];

    inspection_text(out, "path", place_path(actor));
    inspection_number(out, "pid", actor_pid(actor));
    inspection_text(out, "kind", kind_of(actor));
    inspection_text(out, "state", state_of(actor));
    if (!spec)
        return; /* the built-in manager */
    (void)snprintf(behaviour, sizeof behaviour, "%s%s%s", spec->plugin, spec->plugin[0] ? "." : "",
                   spec->behaviour->name ? spec->behaviour->name : "");
    inspection_text(out, "behaviour", behaviour);
    if (spec->version)
        inspection_text(out, "version", spec->version);
    inspection_number(out, "generation", spec->generation);
    inspection_number(out, "index", actor->place->index);
    inspection_number(out, "incarnation", actor->incarnation);
    inspection_number(out, "restarts",
                      atomic_load_explicit(&actor->place->restarts, memory_order_relaxed));
    inspection_number(out, "failures", actor->place->backoff.failures);
}

/* The ledger of a pool's manager is that of its pool. */
static void add_ledger(struct inspection *out, struct actor *actor)
{
    struct ledger_reading reading;

    ledger_read(&actor->ledger, &actor->mailbox, &reading);
    lease_add_ledger(actor->place, &reading);
    inspection_number(out, "accepted", reading.accepted);
    inspection_number(out, "done", reading.done);
    inspection_number(out, "dead", reading.dead);
    inspection_number(out, "moved", reading.moved);
    inspection_number(out, "queued", reading.queued);
    inspection_number(out, "in_hand", reading.in_hand);
    inspection_number(out, "held", reading.held);
}

static void add_mailbox(struct inspection *out, struct actor *actor)
{
    struct mailbox *mailbox = &actor->mailbox;

    /* Relaxed: figures. */
    inspection_capacity(out, "mailbox",
                        atomic_load_explicit(&mailbox->limit, memory_order_relaxed));
    inspection_number(out, "mailbox_bytes",
                      atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed));
    inspection_number(out, "queued_bytes",
                      atomic_load_explicit(&mailbox->bytes, memory_order_relaxed));
}

/* Counts the messages in other lanes, and the kept, stashed and retried messages. */
static void add_waiting(struct inspection *out, const struct actor *actor)
{
    const struct place *place = actor->place;
    const struct message *kept = kept_first(actor);

    inspection_number(out, "high", message_queue_count(&actor->high));
    inspection_number(out, "urgent", message_queue_count(&actor->urgent));
    inspection_number(out, "kept", actor->kept.count);
    inspection_number(out, "attempt", kept ? kept->public.attempt : 0);
    inspection_number(out, "stashed", stash_count(actor));
    inspection_number(out, "retries", backlog_retries(actor));
    inspection_number(out, "outbox", place_unsent(place));
    inspection_number(out, "throttled", place_throttled(place));
    if (!actor->spec)
        return; /* the built-in manager */
    inspection_number(out, "in_hand_max", actor->spec->in_hand_max);
    inspection_number(out, "demand", demand_of(actor));
}

static uint32_t count_timers(const struct actor_ext *ext)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ext->alarm_count; i++)
        count += ext->alarms[i].id != 0;
    return count;
}

static uint32_t count_requests(const struct actor_ext *ext)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ext->pending_count; i++)
        count += ext->pending[i].reference != 0;
    return count;
}

static void add_relations(struct inspection *out, const struct actor *actor)
{
    const struct actor_ext *ext = actor->ext;

    inspection_number(out, "links", link_count(actor, MESSAGE_LINK));
    inspection_number(out, "watchers", link_count(actor, MESSAGE_MONITOR));
    inspection_number(out, "monitors", ext ? table_count(&ext->monitors) : 0);
    inspection_number(out, "traps_exits", (actor->flags & ACTOR_TRAPS_EXITS) != 0);
    inspection_number(out, "timers", ext ? count_timers(ext) : 0);
    inspection_number(out, "requests", ext ? count_requests(ext) : 0);
    inspection_number(out, "origins", ext ? ext->origins_open : 0);
    inspection_number(out, "port", ext && ext->port);
    inspection_number(out, "children", children_count(actor));
    inspection_number(out, "parent", children_parent(actor));
}

void items_of_actor(struct inspection *inspection, struct actor *actor)
{
    if (!place_get(actor))
        return;
    add_identity(inspection, actor);
    if (actor->kind != ACTOR_POOL) {
        add_ledger(inspection, actor);
        add_mailbox(inspection, actor);
    }
    add_waiting(inspection, actor);
    add_relations(inspection, actor);
}
