/* SPDX-License-Identifier: MIT */
#include "pool/escalation.h"

#include "actor/runtime.h"
#include "pool/pool.h"
#include "pool/renewal.h"

#define NS_PER_MS 1000000u

/* --- deciding ------------------------------------------------------------------------------- */

enum appeal escalation_appeal(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool has_above = pool->parent != NULL;
    bool on_trial;

    lock_acquire(&pool->lock);
    on_trial = place->standing != PLACE_MEMBER;
    lock_release(&pool->lock);
    /* Acquire pairs with the release in pool_end_trial. */
    for (; pool && !on_trial; pool = pool->parent)
        on_trial = atomic_load_explicit(&pool->on_trial, memory_order_acquire);
    if (on_trial)
        return APPEAL_NOBODY;
    return has_above ? APPEAL_ABOVE : APPEAL_PROGRAM;
}

/* The member's worker has failed too often: counts the failure, and restarts the member if the
 * bound allows it. False: the failure was counted before, and the worker has an order to restart.
 * */
static bool decide_locked(struct pool *pool, struct pool *member, struct actor *actor,
                          struct backoff_decision *out)
{
    struct escalation *escalation = &pool->escalation;
    uint64_t now_ns = executor_look_at_clock(actor->executor);

    if (renewal_is_ordered(actor->place))
        return false;
    *out = backoff_decide(&escalation->backoff, &pool->settings.restart, true, now_ns);
    if (out->answer == BACKOFF_STOP || out->answer == BACKOFF_ESCALATE)
        return true;
    /* The pool gets no notice when the members are open, so they count as open from the end of the
     * pause. */
    if (out->answer == BACKOFF_PAUSE)
        backoff_open(&escalation->backoff, now_ns + out->pause_ms * NS_PER_MS);
    renewal_order(member, false, out->pause_ms, actor->executor);
    escalation->reopened++;
    return true;
}

static void log_decision(struct pool *pool, const struct pool *member, uint32_t failures,
                         enum backoff_answer answer)
{
    static const char *const effects[] = {
        [BACKOFF_AT_ONCE] = "opened again",
        [BACKOFF_PAUSE] = "opened again after a pause",
        [BACKOFF_STOP] = "stopped until a reload or `weir restart`",
        [BACKOFF_ESCALATE] = "the pool above decides",
    };
    const char *effect = answer == BACKOFF_ESCALATE && !pool->parent ? "the program is to end"
                                                                     : effects[answer];

    log_event(&pool->runtime->options.log,
              answer == BACKOFF_AT_ONCE ? WEIR_LOG_WARNING : WEIR_LOG_ERROR, pool->path,
              answer == BACKOFF_AT_ONCE ? "member failed" : "member fails too often",
              weir_str("member", member->path), weir_uint("failures", failures),
              weir_str("effect", effect));
}

/* True: the pool above decides. */
static bool asks_above(struct pool *pool, struct pool *member, struct actor *actor)
{
    struct backoff_decision decision;
    uint32_t failures;
    bool is_new;

    lock_acquire(&pool->lock);
    is_new = decide_locked(pool, member, actor, &decision);
    failures = pool->escalation.backoff.failures;
    lock_release(&pool->lock);
    if (!is_new)
        return false;
    log_decision(pool, member, failures, decision.answer);
    return decision.answer == BACKOFF_ESCALATE;
}

void escalation_raise(struct place *place)
{
    struct pool *member = pool_of_place(place);
    struct pool *pool;

    for (pool = member->parent; pool; member = pool, pool = pool->parent)
        if (!asks_above(pool, member, place->actor))
            return;
    runtime_escalate(place->actor->runtime);
}

/* --- settings ------------------------------------------------------------------------------- */

void escalation_complete(struct restart *restart)
{
    if (restart->within_ms == 0)
        *restart = restart_usual(WEIR_RESTART_ESCALATE);
}

static bool is_same(const struct restart *a, const struct restart *b)
{
    return a->max == b->max && a->within_ms == b->within_ms && a->then == b->then &&
           a->backoff_ms_min == b->backoff_ms_min && a->backoff_ms_max == b->backoff_ms_max;
}

void escalation_set_locked(struct pool *pool, const struct restart *restart,
                           struct executor *executor)
{
    if (is_same(&pool->settings.restart, restart))
        return;
    pool->settings.restart = *restart;
    pool->escalation.backoff = (struct backoff){ 0 };
    for (uint32_t i = 0; i < pool->child_count; i++)
        renewal_order(pool->children[i], true, 0, executor);
}
