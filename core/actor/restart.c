#include "actor/restart.h"

#include "actor/backlog.h"
#include "actor/extra.h"
#include "actor/incarnation.h"
#include "actor/place.h"
#include "actor/room.h"
#include "actor/runtime.h"

#define NS_PER_MS 1000000u

static void keep_out(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    if (owner && owner->ops->failed)
        owner->ops->failed(actor->place);
    else
        mailbox_close(&actor->mailbox);
}

static uint64_t next_backoff_ms(struct actor *actor)
{
    uint64_t backoff = backoff_next_ms(&actor->place->backoff, &actor->spec->restart);

    /* Up to a fifth less, so that workers which failed together do not return together. */
    return backoff - backoff / 5 * (executor_random(actor->executor) % 256) / 256;
}

/* The backlog goes to the siblings meanwhile. */
static void wait_to_open(struct actor *actor, uint64_t pause_ms)
{
    struct place *place = actor->place;

    /* Who sees that it waits knows that its time has been set. */
    place->reopen_ns = executor_look_at_clock(actor->executor) + pause_ms * NS_PER_MS;
    lifecycle_apply(actor, LIFE_PAUSED);
    keep_out(actor);
    /* Without memory for the timer it tries again at its next turn. */
    if (extra_get(actor))
        extra_arm(actor, place->reopen_ns);
    else
        lifecycle_apply(actor, LIFE_DUE);
    backlog_reroute(actor);
}

uint64_t restart_time(struct actor *actor, uint64_t now_ns)
{
    if (actor_state(actor) != ACTOR_WAITING)
        return TIMER_NEVER;
    if (actor->place->reopen_ns > now_ns)
        return actor->place->reopen_ns;
    lifecycle_apply(actor, LIFE_DUE);
    return TIMER_NEVER;
}

static bool restarts_too_often(struct actor *actor)
{
    return backoff_fail(&actor->place->backoff, &actor->spec->restart,
                        executor_look_at_clock(actor->executor));
}

/* Who decides when it escalates. */
static enum appeal appeal_of(const struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    return owner && owner->ops->appeal ? owner->ops->appeal(actor->place) : APPEAL_PROGRAM;
}

static void escalate(struct actor *actor, enum appeal appeal)
{
    if (appeal == APPEAL_ABOVE)
        actor->place->owner->ops->escalate(actor->place);
    else if (appeal == APPEAL_PROGRAM)
        runtime_escalate(actor->runtime);
}

/* Its backlog goes where there is room, else it is dead; nobody waits for it in vain. */
static void stay_closed(struct actor *actor)
{
    static const char *const effects[] = {
        [APPEAL_NOBODY] = "stopped until a reload or `weir restart`",
        [APPEAL_ABOVE] = "stopped, and the pool above is asked",
        [APPEAL_PROGRAM] = "stopped, and the program is to end",
    };
    bool escalates = actor->spec->restart.then == WEIR_RESTART_ESCALATE;
    enum appeal appeal = escalates ? appeal_of(actor) : APPEAL_NOBODY;

    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, actor_path(actor),
              "worker fails too often", weir_uint("failures", actor->place->backoff.failures),
              weir_str("effect", effects[appeal]));
    lifecycle_apply(actor, LIFE_GIVEN_UP);
    keep_out(actor);
    room_wake(actor, UINT32_MAX, actor->executor);
    backlog_reroute(actor);
    backlog_discard_all(actor, DEAD_CRASHED, WEIR_ECRASHED);
    escalate(actor, appeal);
}

/* What a reload may yet take back does not ask those above: the reload is refused. */
static bool gives_up(struct actor *actor)
{
    switch (actor->spec->restart.then) {
    case WEIR_RESTART_STOP:
        return true;
    case WEIR_RESTART_ESCALATE:
        return appeal_of(actor) != APPEAL_NOBODY;
    default:
        return false;
    }
}

bool restart_is_over(struct actor *actor)
{
    return gives_up(actor) && backoff_is_last(&actor->place->backoff, &actor->spec->restart,
                                              executor_look_at_clock(actor->executor));
}

void restart_after_failure(struct actor *actor)
{
    if (!restarts_too_often(actor))
        return;
    if (gives_up(actor))
        stay_closed(actor);
    else
        wait_to_open(actor, next_backoff_ms(actor));
}

void restart_after_failed_open(struct actor *actor)
{
    if (restarts_too_often(actor) && gives_up(actor))
        stay_closed(actor);
    else
        wait_to_open(actor, next_backoff_ms(actor));
}

static void forget_failures(struct place *place)
{
    place->backoff = (struct backoff){ 0 };
}

void restart_renew(struct actor *actor)
{
    forget_failures(actor->place);
    incarnation_replace(actor, WEIR_END_SHUTDOWN);
}

void restart_anew(struct actor *actor, uint64_t pause_ms)
{
    bool was_open = actor_state(actor) == ACTOR_OPEN;

    forget_failures(actor->place);
    if (was_open || pause_ms == 0)
        incarnation_replace(actor, WEIR_END_SHUTDOWN);
    else
        wait_to_open(actor, pause_ms);
}
