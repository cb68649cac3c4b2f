/* SPDX-License-Identifier: MIT */
#include "pool/scaler.h"

#include "actor/children.h"
#include "actor/lifecycle.h"
#include "actor/runtime.h"
#include "pool/elastic.h"
#include "pool/figures.h"
#include "pool/lease_group.h"
#include "pool/lending.h"
#include "pool/outcome.h"
#include "pool/pool.h"
#include "pool/pulling.h"
#include "pool/resize.h"
#include "pool/route_ops.h"
#include "pool/scale_law.h"
#include "pool/takers.h"
#include "pool/unwanted.h"

#define NS_PER_MS UINT64_C(1000000)
#define WAIT_SHARE 4u /* checks in each `wait`: a pool grows after 5/4 of `wait` at the latest */
#define CHECK_NS_MIN NS_PER_MS
/* On demand, a backstop: some messages come without a notice. */
#define DEMAND_CHECK_NS (100 * NS_PER_MS)
#define OPEN_USUAL_MS 10000u /* as the default of `open_timeout` in a file */

/* --- the timer ------------------------------------------------------------------------------ */

static struct pool *pool_of_timer(struct timer *timer)
{
    return (struct pool *)(void *)((char *)timer - offsetof(struct pool, scaler.timer));
}

/* Under the lock of the timers; scaler_finish disarms it before the pool is gone. */
static void fire(struct timer *timer, struct executor *executor)
{
    struct pool *pool = pool_of_timer(timer);

    (void)actor_signal(pool->actor, actor_serial_of(pool->pid), executor, SIGNAL_TIME);
}

int scaler_reserve(struct pool *pool, struct dispatcher *dispatcher)
{
    int status = timers_reserve(&dispatcher->timers);

    if (status != 0)
        return status;
    pool->scaler.timer.fire = fire;
    pool->scaler.dispatcher = dispatcher;
    return 0;
}

void scaler_finish(struct pool *pool)
{
    struct scaler *scaler = &pool->scaler;

    if (!scaler->dispatcher)
        return;
    timers_disarm(&scaler->dispatcher->timers, &scaler->timer);
    timers_release(&scaler->dispatcher->timers);
    scaler->dispatcher = NULL;
}

/* --- figures -------------------------------------------------------------------------------- */

/* The result of one check. */
struct check {
    struct scale_figures figures;
    uint64_t now_ns;
    struct place *unused; /* the place that has been unused longest; NULL: none */
    bool stuck;           /* a worker is late to open, waits to be opened again, or has stopped */
    bool fills;           /* the pool has its maximum; not logged since it was below */
    struct group_growth group;
};

/* It has messages, or waits for something, itself, by a thread or by a child. */
static bool is_used(struct place *place, const struct ledger_reading *reading)
{
    return reading->in_hand + reading->queued + reading->held > 0 || place_is_engaged(place) ||
           children_are_used(place);
}

/* How long the worker of a place has been unused: since the first check that found it so. */
static uint64_t unused_for(struct place *place, const struct ledger_reading *reading,
                           uint64_t now_ns)
{
    uint64_t settled = reading->done + reading->dead + reading->moved;

    if (is_used(place, reading) || settled != place->used || place->unused_ns == 0)
        place->unused_ns = now_ns;
    place->used = settled;
    return now_ns - place->unused_ns;
}

/* With route hash the highest number leaves, so that the numbers have no gaps. */
static void offer_unused(struct check *check, const struct pool *pool, struct place *place,
                         uint64_t unused_ns)
{
    bool has_keys = route_ops_of(pool)->has_keys;
    bool is_better = !check->unused || (has_keys ? place->index > check->unused->index
                                                 : unused_ns > check->figures.unused_ns);

    if (!is_better || (unused_ns == 0 && !has_keys))
        return;
    check->unused = place;
    check->figures.unused_ns = unused_ns;
}

/* A worker that was returned is ready from then on, until it is late. */
static void count_open_place(struct scale_figures *figures, const struct place *place,
                             const struct ledger_reading *reading, uint64_t now_ns)
{
    enum takers_coming coming = takers_coming(place, now_ns);
    bool comes = coming == TAKERS_COMES;

    figures->is_up = true;
    if (!comes && (reading->in_hand > 0 || coming == TAKERS_LATE))
        figures->busy++;
    else if (!comes && actor_is_idle(place->actor))
        figures->idle++;
    else
        figures->ready++;
}

/* A worker without an open incarnation, since `shut_ns`. */
static void count_shut_place(struct check *check, const struct scale_law *law, struct place *place,
                             uint64_t shut_ns)
{
    enum actor_state state = actor_state(place->actor);
    uint64_t age_ns = check->now_ns > shut_ns ? check->now_ns - shut_ns : 0;
    bool is_late = state == ACTOR_WAITING || state == ACTOR_STOPPED ||
                   age_ns >= scale_open_limit_ns(law);

    check->stuck |= is_late;
    check->figures.is_up |= state == ACTOR_OPEN; /* it closes */
    if (is_late)
        pulling_give_up_opening(place);
    if (state == ACTOR_STOPPED)
        return;
    check->figures.pending++;
    check->figures.opening += !is_late;
    check->figures.fresh += age_ns < law->open_ns;
}

static void count_place(struct check *check, const struct pool *pool, const struct scale_law *law,
                        struct place *place)
{
    struct scale_figures *figures = &check->figures;
    /* Relaxed: see place_shut. */
    uint64_t shut_ns = atomic_load_explicit(&place->shut_ns, memory_order_relaxed);
    struct ledger_reading reading;
    uint64_t age_ns;

    lending_read_ledger(place, &reading);
    if (shut_ns == 0)
        count_open_place(figures, place, &reading, check->now_ns);
    else
        count_shut_place(check, law, place, shut_ns);
    figures->waiting += reading.queued;
    age_ns = reading.queued > 0 ? figures_age_of_place_locked(place) : 0;
    if (age_ns > figures->oldest_ns)
        figures->oldest_ns = age_ns;
    offer_unused(check, pool, place, unused_for(place, &reading, check->now_ns));
}

static void count_queue_locked(struct check *check, struct pool *pool)
{
    uint64_t age_ns;

    check->figures.waiting += figures_look_at_queue_locked(pool, &age_ns);
    if (age_ns > check->figures.oldest_ns)
        check->figures.oldest_ns = age_ns;
}

/* Since when do senders wait for room in the pool? */
static void update_blocked_locked(struct pool *pool, uint64_t now_ns)
{
    struct scaler *scaler = &pool->scaler;
    /* Relaxed: the exchange of `asked` comes first. */
    bool refused = atomic_exchange_explicit(&scaler->refused, false, memory_order_relaxed);
    bool paused = flags_is_paused(&pool->flags);

    if (paused || (!refused && (scaler->blocked_ns == 0 || !elastic_is_waited_for(pool))))
        scaler->blocked_ns = 0;
    else if (scaler->blocked_ns == 0)
        scaler->blocked_ns = now_ns;
}

/* The messages for which senders wait for room: in the pool, and its share of those above. */
static uint64_t count_wanted(struct pool *pool)
{
    uint64_t wanted = wait_queue_wanted(&pool->waiters);
    uint64_t shares = 1;

    while ((pool = pool->parent)) {
        /* [P1] pairs with members_publish. */
        uint32_t members = atomic_load_explicit(&pool->members, memory_order_acquire)->count;

        shares *= members > 0 ? members : 1;
        wanted += (wait_queue_wanted(&pool->waiters) + shares - 1) / shares;
    }
    return wanted;
}

/* A sender that was refused, and does not wait, counts as one message. */
static void count_senders_locked(struct check *check, struct pool *pool)
{
    uint64_t since_ns, wanted;

    if (pool->scaler.blocked_ns == 0)
        return;
    since_ns = check->now_ns - pool->scaler.blocked_ns;
    wanted = count_wanted(pool);
    check->figures.waiting += wanted > 0 ? wanted : 1;
    if (since_ns > check->figures.oldest_ns)
        check->figures.oldest_ns = since_ns;
}

static uint64_t since(uint64_t now_ns, uint64_t ns)
{
    return ns == 0 ? UINT64_MAX : now_ns - ns;
}

static void check_locked(struct check *check, struct pool *pool, const struct scale_law *law)
{
    check->figures.target = pool->target;
    check->figures.grown_ns = since(check->now_ns, pool->scaler.grown_ns);
    check->figures.shrunk_ns = since(check->now_ns, pool->scaler.shrunk_ns);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        count_place(check, pool, law, LIST_ENTRY(node, struct place, link));
    count_queue_locked(check, pool);
    count_senders_locked(check, pool);
}

static struct scale_law law_of(const struct pool_settings *settings)
{
    uint64_t open_ms = settings->open_timeout_ms ? settings->open_timeout_ms : OPEN_USUAL_MS;

    return (struct scale_law){ .wait_ns = settings->scale.wait_ms * NS_PER_MS,
                               .idle_ns = settings->scale.idle_ms * NS_PER_MS,
                               .open_ns = open_ms * NS_PER_MS,
                               .min = settings->size_min,
                               .max = settings->size_max };
}

void pool_consult_law(struct pool *pool, const struct pool_settings *settings,
                      struct pool_law_answer *out)
{
    struct scale_law law = law_of(settings);
    struct scale_verdict verdict;
    struct check check = { 0 };

    lock_acquire(&pool->lock);
    /* Under the lock: the times that a check notes are never later than those of the next check. */
    check.now_ns = clock_now_ns(&pool->runtime->options.clock);
    check_locked(&check, pool, &law);
    verdict = scale_decide(&law, &check.figures);
    lock_release(&pool->lock);
    *out = (struct pool_law_answer){ check.figures.target, verdict.target,
                                     scale_cause_text(verdict.cause) };
}

/* --- acting --------------------------------------------------------------------------------- */

/* Without the lock of the pool: see log.h. */
static void log_full(struct pool *pool, const struct check *check)
{
    log_event(&pool->runtime->options.log, WEIR_LOG_WARNING, pool->path,
              "the pool has its maximum of workers, and messages still wait",
              weir_uint("size", check->figures.target),
              weir_uint("waiting", check->figures.waiting),
              weir_uint("oldest_ms", check->figures.oldest_ns / NS_PER_MS));
}

/* The worker that leaves is the last of the list: resize_choose_locked begins there. */
static void put_last_locked(struct pool *pool, struct place *place)
{
    list_remove(&place->link);
    list_append(&pool->places, &place->link);
}

static void carry_out_locked(struct pool *pool, struct executor *executor, struct check *check,
                             struct scale_verdict verdict, struct weir_resized *out)
{
    if (verdict.cause == SCALE_FULL && !pool->scaler.logged_full)
        check->fills = pool->scaler.logged_full = true;
    if (verdict.target == pool->target)
        return;
    if (verdict.cause == SCALE_UNUSED && check->unused)
        put_last_locked(pool, check->unused);
    if (resize_set_locked(pool, executor, verdict.target, out) != 0)
        return; /* without memory: the next check tries again */
    if (verdict.target > check->figures.target)
        pool->scaler.grown_ns = check->now_ns;
    else
        pool->scaler.shrunk_ns = check->now_ns;
    if (verdict.target < pool->settings.size_max)
        pool->scaler.logged_full = false;
}

static uint64_t at_least(uint64_t ns)
{
    return ns > CHECK_NS_MIN ? ns : CHECK_NS_MIN;
}

/* The time until the next check for the sake of messages; TIMER_NEVER: a sender will ask. */
static uint64_t next_for_messages_locked(const struct pool *pool, const struct check *check,
                                         bool was_asked)
{
    const struct scaler *scaler = &pool->scaler;
    bool waits = check->figures.waiting > 0 || check->group.waits;

    if (scaler->logged_full)
        return TIMER_NEVER;
    if (pool->settings.scale.wait_ms == 0)
        return waits ? DEMAND_CHECK_NS : TIMER_NEVER;
    /* One more check follows the request of a sender: no sender may ask before that check. */
    return waits || was_asked ? at_least(pool->settings.scale.wait_ms * NS_PER_MS / WAIT_SHARE)
                              : TIMER_NEVER;
}

static uint64_t next_for_workers_locked(const struct pool *pool)
{
    if (pool->target <= pool->settings.size_min)
        return TIMER_NEVER;
    return at_least(pool->settings.scale.idle_ms * NS_PER_MS / SCALE_SHARE);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void arm(struct pool *pool, uint64_t now_ns, uint64_t for_messages, uint64_t for_others)
{
    uint64_t next = earlier(for_messages, for_others);

    pool->scaler.due_ns = next == TIMER_NEVER ? TIMER_NEVER : now_ns + next;
    if (next == TIMER_NEVER)
        return;
    /* Relaxed: the next check sees the message of a sender that reads true. On demand senders still
     * ask, because each message may need a worker of its own. */
    if (for_messages != TIMER_NEVER && for_messages != DEMAND_CHECK_NS)
        atomic_store_explicit(&pool->scaler.asked, true, memory_order_relaxed);
    dispatcher_arm(pool->scaler.dispatcher, &pool->scaler.timer, pool->scaler.due_ns);
}

/* True when the pool cannot grow any more, since this check, and takers of its group wait. */
static bool act_locked(struct pool *pool, struct executor *executor, struct check *check,
                       struct weir_resized *out)
{
    const struct scale_law law = law_of(&pool->settings);
    bool was_able = !pool->scaler.stuck && !pool->scaler.logged_full;
    struct scale_verdict verdict;

    update_blocked_locked(pool, check->now_ns);
    check_locked(check, pool, &law);
    pool->scaler.stuck = check->group.is_stuck = check->stuck;
    elastic_publish_locked(pool); /* so that it is not asked itself */
    verdict = lease_group_decide_locked(pool, &law, &check->figures, check->now_ns, &check->group);
    carry_out_locked(pool, executor, check, verdict, out);
    lease_group_grown_locked(pool, &check->group);
    return check->group.waits && was_able && (pool->scaler.stuck || pool->scaler.logged_full);
}

/* Messages that are not wanted any more cause no growth. */
static void drop_unwanted(struct pool *pool, struct executor *executor)
{
    struct pool *group = lease_group_of(pool);

    unwanted_drop(pool, executor);
    if (group)
        unwanted_drop(group, executor);
}

void scaler_check(struct pool *pool, struct executor *executor)
{
    uint64_t for_messages = TIMER_NEVER, for_workers = TIMER_NEVER;
    struct weir_resized resized = { 0 };
    struct check check = { 0 };
    bool leaves_takers = false;
    bool was_asked, were_late;

    /* [G1] as in elastic_notice. */
    (void)atomic_exchange_explicit(&pool->scaler.asked, false, memory_order_seq_cst);
    drop_unwanted(pool, executor);
    lock_acquire(&pool->lock);
    check.now_ns = executor_look_at_clock(executor); /* as in pool_consult_law */
    was_asked = check.now_ns < pool->scaler.due_ns || pool->scaler.due_ns == 0;
    were_late = takers_give_up_late_locked(pool, check.now_ns);
    if (elastic_is_active_locked(pool)) {
        leaves_takers = act_locked(pool, executor, &check, &resized);
        for_messages = next_for_messages_locked(pool, &check, was_asked);
        for_workers = next_for_workers_locked(pool);
        elastic_publish_locked(pool);
    }
    lock_release(&pool->lock);
    arm(pool, check.now_ns, for_messages, earlier(for_workers, unwanted_beat(pool)));
    if (were_late)
        lease_group_pass_on(pool, executor);
    if (leaves_takers)
        lease_group_ask_others(pool, executor);
    lease_group_look(pool, executor, check.now_ns);
    if (check.fills)
        log_full(pool, &check);
    if (resized.changed > 0)
        outcome_notify(pool, executor);
    resize_report(pool, RESIZE_BY_SCALE, NULL, &resized);
}
