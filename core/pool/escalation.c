#include "pool/escalation.h"

#include "actor/restart.h"
#include "actor/runtime.h"
#include "pool/pool.h"

#define NS_PER_MS 1000000u

void escalation_usual(struct restart *out)
{
    *out = (struct restart){
        .max = 5,
        .within_ms = 10000,
        .backoff_ms_min = 100,
        .backoff_ms_max = 10000,
        .then = WEIR_RESTART_ESCALATE,
    };
}

/* --- beginning anew ------------------------------------------------------------------------- */

static void tell_place_locked(struct place *place, uint64_t pause_ms, struct executor *executor)
{
    place->begins_anew = true;
    place->pause_ms = pause_ms;
    (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                       SIGNAL_ANEW);
}

/* Which of them: all, or those that have been given up. */
static void tell_places_locked(struct pool *pool, bool all, uint64_t pause_ms,
                               struct executor *executor)
{
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (all || actor_state(place->actor) == ACTOR_STOPPED)
            tell_place_locked(place, pause_ms, executor);
    }
}

/* Depth is bounded by the configuration; parents lock before children, always. */
static void begin_anew(struct pool *pool, bool all, uint64_t pause_ms, struct executor *executor)
{
    pthread_mutex_lock(&pool->lock);
    pool->escalation.backoff = (struct backoff){ 0 };
    tell_places_locked(pool, all, pause_ms, executor);
    for (uint32_t i = 0; i < pool->child_count; i++)
        begin_anew(pool->children[i], all, pause_ms, executor);
    pthread_mutex_unlock(&pool->lock);
}

void escalation_obey(struct actor *actor)
{
    struct place *place = actor->place;
    struct pool *pool = pool_of_place(place);
    uint64_t pause_ms;
    bool begins;

    pthread_mutex_lock(&pool->lock);
    begins = place->begins_anew && !place->leaving;
    place->begins_anew = false;
    pause_ms = place->pause_ms;
    pthread_mutex_unlock(&pool->lock);
    if (begins)
        restart_anew(actor, pause_ms);
}

/* --- deciding ------------------------------------------------------------------------------- */

enum decision {
    DECISION_NONE,  /* it has been decided already */
    DECISION_ANEW,  /* opened anew */
    DECISION_LATER, /* after a pause */
    DECISION_STOP,
    DECISION_ASK, /* the pool above */
};

enum appeal escalation_appeal(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool has_above = pool->parent != NULL;
    bool on_trial;

    pthread_mutex_lock(&pool->lock);
    on_trial = place->prepared || place->leaving;
    pthread_mutex_unlock(&pool->lock);
    /* Acquire pairs with the release in pool_end_trial. */
    for (; pool && !on_trial; pool = pool->parent)
        on_trial = atomic_load_explicit(&pool->on_trial, memory_order_acquire);
    if (on_trial)
        return APPEAL_NOBODY;
    return has_above ? APPEAL_ABOVE : APPEAL_PROGRAM;
}

/* The lock of a pool above its own is held, or its own: nobody tells it so meanwhile. */
static bool begins_anew(const struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool begins;

    pthread_mutex_lock(&pool->lock);
    begins = place->begins_anew;
    pthread_mutex_unlock(&pool->lock);
    return begins;
}

/* The pause before its member begins again. The members' opening is not waited for: the pool lives
 * well from the end of the pause on. */
static uint64_t next_pause_ms_locked(struct pool *pool, uint64_t now_ns)
{
    struct escalation *escalation = &pool->escalation;
    uint64_t pause_ms = backoff_next_ms(&escalation->backoff, &escalation->restart);

    backoff_open(&escalation->backoff, now_ns + pause_ms * NS_PER_MS);
    return pause_ms;
}

static enum decision decide_locked(struct pool *pool, struct pool *member, struct actor *actor)
{
    struct escalation *escalation = &pool->escalation;
    struct executor *executor = actor->executor;
    uint64_t now_ns = executor_look_at_clock(executor);

    if (begins_anew(actor->place))
        return DECISION_NONE;
    if (!backoff_fail(&escalation->backoff, &escalation->restart, now_ns)) {
        begin_anew(member, true, 0, executor);
        pool->escalation.reopened++;
        return DECISION_ANEW;
    }
    switch (pool->escalation.restart.then) {
    case WEIR_RESTART_ESCALATE:
        return DECISION_ASK;
    case WEIR_RESTART_STOP:
        return DECISION_STOP;
    default:
        begin_anew(member, true, next_pause_ms_locked(pool, now_ns), executor);
        pool->escalation.reopened++;
        return DECISION_LATER;
    }
}

static void log_decision(struct pool *pool, const struct pool *member, uint32_t failures,
                         enum decision decision)
{
    static const char *const effects[] = {
        [DECISION_ANEW] = "opened anew",
        [DECISION_LATER] = "opened anew after a pause",
        [DECISION_STOP] = "stopped until a reload or `weir restart`",
        [DECISION_ASK] = "the pool above is asked",
    };
    const char *effect = decision == DECISION_ASK && !pool->parent ? "the program is to end"
                                                                   : effects[decision];

    if (decision != DECISION_NONE)
        log_event(&pool->runtime->options.log,
                  decision == DECISION_ANEW ? WEIR_LOG_WARNING : WEIR_LOG_ERROR, pool->path,
                  decision == DECISION_ANEW ? "member failed" : "member fails too often",
                  weir_str("member", member->path), weir_uint("failures", failures),
                  weir_str("effect", effect));
}

/* True: the one above shall decide. */
static bool asks_above(struct pool *pool, struct pool *member, struct actor *actor)
{
    enum decision decision;
    uint32_t failures;

    pthread_mutex_lock(&pool->lock);
    decision = decide_locked(pool, member, actor);
    failures = pool->escalation.backoff.failures;
    pthread_mutex_unlock(&pool->lock);
    log_decision(pool, member, failures, decision);
    return decision == DECISION_ASK;
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

static bool is_same(const struct restart *a, const struct restart *b)
{
    return a->max == b->max && a->within_ms == b->within_ms && a->then == b->then &&
           a->backoff_ms_min == b->backoff_ms_min && a->backoff_ms_max == b->backoff_ms_max;
}

void escalation_set_locked(struct pool *pool, const struct restart *restart,
                           struct executor *executor)
{
    if (is_same(&pool->escalation.restart, restart))
        return;
    pool->escalation.restart = *restart;
    pool->escalation.backoff = (struct backoff){ 0 };
    for (uint32_t i = 0; i < pool->child_count; i++)
        begin_anew(pool->children[i], false, 0, executor);
}
