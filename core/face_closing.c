/* SPDX-License-Identifier: MIT */
/* Closing in order: face/closing.h. */
#include "face/closing.h"

#include <stdlib.h>
#include <string.h>

#include "actor/runtime.h"
#include "actor/standalone.h"
#include "base/table.h"
#include "face/runtime.h"
#include "feeding.h"
#include "pool/ending.h"
#include "pool/lease_group.h"
#include "pool/uses.h"

#define NS_PER_MS 1000000u
#define LEFT_BEHIND "left behind"

/* One run of closing_run. */
struct run {
    struct runtime *runtime;
    const struct closing_options *options;
    struct closing *parts; /* in the order of their waves; those before `first` are done with */
    uint32_t first;
    uint32_t count;
    struct clock clock;
    uint64_t deadline_ns;
    bool in_time;
};

/* --- the order ------------------------------------------------------------------------------ */

static int by_wave(const void *one, const void *other)
{
    const struct closing *a = one;
    const struct closing *b = other;

    if (a->wave != b->wave)
        return a->wave < b->wave ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static weir_pid parent_of(struct part_ref part)
{
    return part.kind == PART_POOL && part.pool->parent ? pool_pid(part.pool->parent) : 0;
}

/* A pool that closes, by the key of its path. */
struct named {
    struct table_node node;
    struct pool *pool;
};

/* The uses of pools by parts, as they are found. */
struct found {
    struct named *named; /* of each part; those of pools are in the table */
    struct table by_path;
    weir_pid user, asked;
    struct feeding_use *uses;
    uint32_t count, room;
    int status;
};

static void add_use(struct found *found, weir_pid user, weir_pid used, enum feeding_kind kind)
{
    if (found->count == found->room) {
        uint32_t room = found->room ? 2 * found->room : 16;
        struct feeding_use *uses = realloc(found->uses, room * sizeof *uses);

        if (!uses) {
            found->status = WEIR_ENOMEM;
            return;
        }
        found->uses = uses;
        found->room = room;
    }
    found->uses[found->count++] = (struct feeding_use){ user, used, kind };
}

/* A removed pool and one that was added since may have the same path. */
static void add_option(void *context, const char *path)
{
    struct found *found = context;
    struct table_node *node = table_first(&found->by_path, weir_key(path, strlen(path)));

    for (; node; node = table_next(node)) {
        struct pool *pool = TABLE_ENTRY(node, struct named, node)->pool;

        if (strcmp(pool_path(pool), path) == 0)
            add_use(found, found->user, pool_pid(pool), FEEDING_OPTION);
    }
}

static bool add_asker(void *context, weir_pid part)
{
    struct found *found = context;

    add_use(found, part, found->asked, FEEDING_ASKS);
    return false;
}

static void name_pools(const struct run *run, struct found *found)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const struct part_ref *part = &run->parts[i].part;

        if (part->kind != PART_POOL)
            continue;
        found->named[i].pool = part->pool;
        table_add(&found->by_path, &found->named[i].node,
                  weir_key(pool_path(part->pool), strlen(pool_path(part->pool))));
    }
}

static void find_uses(const struct run *run, struct found *found)
{
    name_pools(run, found);
    for (uint32_t i = 0; i < run->count; i++) {
        struct part_ref part = run->parts[i].part;

        found->user = part_ref_pid(part);
        if (part.kind == PART_STANDALONE)
            spec_visit_pools(part.standalone->spec, add_option, found);
        if (part.kind != PART_POOL)
            continue;
        uses_visit(part.pool, add_option, found);
        found->asked = found->user;
        (void)askers_visit(&part.pool->askers, add_asker, found);
    }
}

static int find_waves(struct run *run, struct feeder *feeders, uint32_t *waves)
{
    struct found found = { .named = calloc((size_t)run->count + 1, sizeof *found.named) };
    struct executor *executor = found.named ? runtime_enter(run->runtime) : NULL;

    if (!executor) {
        free(found.named);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < run->count; i++) {
        struct part_ref part = run->parts[i].part;

        feeders[i] = (struct feeder){ part_ref_pid(part), parent_of(part),
                                      part_ref_dead_letters(part).wiring };
    }
    find_uses(run, &found);
    if (found.status == 0)
        found.status = feeding_waves(feeders, run->count, found.uses, found.count, waves);
    runtime_leave(executor);
    (void)table_take_all(&found.by_path);
    free(found.named);
    free(found.uses);
    return found.status;
}

static int sort(struct run *run)
{
    struct feeder *feeders = calloc((size_t)run->count + 1, sizeof *feeders);
    uint32_t *waves = calloc((size_t)run->count + 1, sizeof *waves);
    int status = feeders && waves ? find_waves(run, feeders, waves) : WEIR_ENOMEM;

    for (uint32_t i = 0; status == 0 && i < run->count; i++) {
        run->parts[i].index = i;
        /* Sources close before all others, even if a part feeds them. */
        run->parts[i].wave = run->parts[i].part.kind == PART_SOURCE ? 0 : waves[i] + 1;
    }
    if (status == 0)
        qsort(run->parts, run->count, sizeof *run->parts, by_wave);
    free(feeders);
    free(waves);
    return status;
}

/* --- waiting -------------------------------------------------------------------------------- */

struct awaited {
    const struct closing_options *options;
    struct part_ref part;
};

static bool need_not_wait(void *context)
{
    const struct awaited *awaited = context;

    return part_ref_has_ended(awaited->part) ||
           (awaited->options->is_given_up &&
            awaited->options->is_given_up(awaited->options->context));
}

static uint64_t time_left_ms(const struct run *run, uint64_t deadline_ns)
{
    struct clock clock = run->clock;
    uint64_t now = clock_now_ns(&clock);

    return now < deadline_ns ? (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
}

static void close_part(struct run *run, const struct closing *closing)
{
    struct executor *executor = runtime_enter(run->runtime);

    if (!executor)
        return;
    part_ref_close(closing->part, executor);
    runtime_leave(executor);
}

/* Whether it has messages, and has ended none since the last look. Its workers decide about these
 * when it closes: see WEIR_GIVES_UP. */
static bool has_stalled(struct closing *closing)
{
    struct ledger_reading reading = { 0 };
    uint64_t before = closing->ended;

    if (closing->part.kind != PART_POOL || !pool_gives_up(closing->part.pool))
        return false;
    part_ref_ledger(closing->part, &reading);
    closing->ended = reading.done + reading.dead + reading.moved + 1; /* 0: no look yet */
    return closing->ended == before && reading.queued + reading.in_hand + reading.held > 0;
}

/* Why a part closes before those that feed it; NULL: it waits for its turn, or closes already.
 * Messages that wait for room in it become dead letters, `no_target`. The parts that hold the
 * messages can end then. */
static const char *reason_to_close(const struct run *run, struct closing *closing)
{
    if (closing->part.kind == PART_POOL && pool_is_closing(closing->part.pool))
        return NULL;
    if (run->options->is_last)
        return has_stalled(closing) ? "it has ended no message while another part must end" : NULL;
    return part_ref_admits_nothing(closing->part)
               ? "it has admitted no message while another part must end"
               : NULL;
}

static void close_early(struct run *run, uint32_t wave)
{
    for (uint32_t i = run->first; i < run->count; i++) {
        const char *reason = NULL;

        /* The parts of the present wave are closing. */
        if (run->parts[i].wave != wave)
            reason = reason_to_close(run, &run->parts[i]);
        if (!reason)
            continue;
        log_event(runtime_log(run->runtime), WEIR_LOG_WARNING, part_ref_name(run->parts[i].part),
                  "closed before the parts that feed it", weir_str("reason", reason),
                  weir_str("effect", "messages that wait for it become dead letters, no_target"));
        close_part(run, &run->parts[i]);
    }
}

static void wait_for_end(struct run *run, const struct closing *closing)
{
    struct awaited awaited = { run->options, closing->part };
    uint64_t look_ms = run->options->is_last ? CLOSING_LOOK_MS : run->options->no_room_ms;
    uint64_t left_ms;

    while ((left_ms = time_left_ms(run, closing->deadline_ns)) > look_ms && look_ms > 0) {
        if (runtime_wait(run->runtime, need_not_wait, &awaited, look_ms))
            return;
        close_early(run, closing->wave);
    }
    (void)runtime_wait(run->runtime, need_not_wait, &awaited, left_ms);
}

static void name_late(struct run *run, struct part_ref part, const char *effect)
{
    struct ledger_reading reading = { 0 };

    part_ref_ledger(part, &reading);
    log_event(runtime_log(run->runtime), WEIR_LOG_ERROR, part_ref_name(part), "did not end in time",
              weir_uint("queued", reading.queued), weir_uint("in_hand", reading.in_hand),
              weir_uint("held", reading.held), weir_str("effect", effect));
}

static bool is_given_up(const struct run *run)
{
    return run->options->is_given_up && run->options->is_given_up(run->options->context);
}

/* --- answers -------------------------------------------------------------------------------- */

/* Parts that must not close yet: others may wait for their answers. */
struct asked {
    const struct run *run;
    uint32_t past;
};

static bool is_awaited(const struct closing *closing)
{
    return closing->part.kind == PART_POOL && !pool_is_closing(closing->part.pool) &&
           uses_is_awaited(closing->part.pool, !closing->is_removed);
}

static bool no_one_waits(void *context)
{
    const struct asked *asked = context;
    const struct run *run = asked->run;
    struct executor *executor = runtime_enter(run->runtime);
    bool any = false;

    if (!executor)
        return false;
    for (uint32_t i = run->first; i < asked->past && !any; i++)
        any = is_awaited(&run->parts[i]);
    runtime_leave(executor);
    return !any || is_given_up(run);
}

/*
 * The parts that used this wave have ended. It may still have parts that ask each other, or that
 * parts which stay have asked. Pools that become idle wake the thread: see `idle_waits` in
 * face_idle.c.
 */
static void wait_for_answers(struct run *run, uint32_t past, uint64_t deadline_ns)
{
    struct asked asked = { run, past };
    uint64_t left_ms = time_left_ms(run, deadline_ns) / 2; /* the rest is for their ends */

    for (uint32_t i = run->first; i < past; i++)
        if (run->parts[i].timeout_ms < left_ms)
            left_ms = run->parts[i].timeout_ms;
    atomic_fetch_add_explicit(&run->runtime->idle_waits, 1, memory_order_seq_cst);
    (void)runtime_wait(run->runtime, no_one_waits, &asked, left_ms);
    atomic_fetch_sub_explicit(&run->runtime->idle_waits, 1, memory_order_relaxed);
}

/* --- wave by wave --------------------------------------------------------------------------- */

uint64_t closing_share_ms(uint64_t left_ms, uint32_t later)
{
    uint64_t kept_ms = (uint64_t)later * CLOSING_KEPT_MS;

    return left_ms - (kept_ms < left_ms / 2 ? kept_ms : left_ms / 2);
}

/* Until when the next wave may take. */
static uint64_t deadline_of_wave(const struct run *run)
{
    uint32_t later = run->parts[run->count - 1].wave - run->parts[run->first].wave;
    struct clock clock = run->clock;

    if (later == 0)
        return run->deadline_ns;
    return clock_after_ms(&clock, closing_share_ms(time_left_ms(run, run->deadline_ns), later));
}

static void begin(struct run *run, struct closing *closing, uint64_t deadline_ns)
{
    uint64_t own_ns;

    close_part(run, closing);
    own_ns = clock_after_ms(&run->clock, closing->timeout_ms);
    closing->deadline_ns = own_ns < deadline_ns ? own_ns : deadline_ns;
}

/* Makes dead letters of the waiting messages. The process ends soon, and would lose them. */
static void end_waiting(struct run *run, const struct closing *closing)
{
    struct executor *executor;

    if (closing->part.kind != PART_POOL || is_given_up(run))
        return;
    executor = runtime_enter(run->runtime);
    if (!executor)
        return;
    pool_end_waiting(closing->part.pool, executor);
    runtime_leave(executor);
}

/* A tenth of the time is for messages that are dead then. */
static void end(struct run *run, struct closing *closing)
{
    const uint64_t deadline_ns = closing->deadline_ns;
    uint64_t kept_ms = run->options->is_last ? time_left_ms(run, deadline_ns) / 10 : 0;
    bool is_late, has_ended;

    if (kept_ms > CLOSING_KEPT_MS)
        kept_ms = CLOSING_KEPT_MS;
    closing->deadline_ns -= kept_ms * NS_PER_MS;
    wait_for_end(run, closing);
    closing->deadline_ns = deadline_ns;
    is_late = !part_ref_has_ended(closing->part);
    if (is_late && run->options->is_last) {
        end_waiting(run, closing);
        wait_for_end(run, closing);
    }
    has_ended = part_ref_has_ended(closing->part);
    if (is_late)
        name_late(run, closing->part, has_ended ? "what waited is dead" : LEFT_BEHIND);
    run->in_time = run->in_time && !is_late;
    if (run->options->after)
        run->options->after(run->options->context, closing->part, has_ended);
}

/* A group of pools with leases closes after its pools: once they close, nobody serves its takers.
 * `past`: of the parts that may have closed. */
static void refuse_takers(struct run *run, uint32_t past)
{
    struct executor *executor = runtime_enter(run->runtime);

    for (uint32_t i = run->first; executor && i < past; i++) {
        const struct closing *closing = &run->parts[i];
        struct pool *group = closing->part.kind == PART_POOL ? closing->part.pool->parent : NULL;

        /* Relaxed: this thread has marked it. */
        if (group &&
            (!closing->is_removed || atomic_load_explicit(&group->removed, memory_order_relaxed)))
            lease_group_end(group, executor);
    }
    if (executor)
        runtime_leave(executor);
}

/* Closes the parts of the next wave together. */
static void close_wave(struct run *run)
{
    uint64_t deadline_ns = deadline_of_wave(run);
    uint32_t past = run->first;

    while (past < run->count && run->parts[past].wave == run->parts[run->first].wave)
        past++;
    wait_for_answers(run, past, deadline_ns);
    for (uint32_t i = run->first; i < past; i++)
        begin(run, &run->parts[i], deadline_ns);
    refuse_takers(run, past);
    while (run->first < past) {
        /* No longer among those that are looked at: `after` may destroy it. */
        end(run, &run->parts[run->first++]);
    }
}

/* Before any of them closes: workers that leave pass messages on to pools that stay only. */
static void mark_removed(const struct closing *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].is_removed && parts[i].phase == CLOSING_WAITS)
            pool_mark_removed(parts[i].part.pool);
}

int closing_run(struct runtime *runtime, struct closing *parts, uint32_t count,
                const struct closing_options *options)
{
    struct run run = { .runtime = runtime,
                       .options = options,
                       .parts = parts,
                       .count = count,
                       .clock = clock_monotonic(),
                       .in_time = true };
    int status;

    run.deadline_ns = clock_after_ms(&run.clock, options->timeout_ms);
    status = count > 1 ? sort(&run) : 0;
    if (status == 0)
        mark_removed(parts, count);
    while (status == 0 && run.first < run.count)
        close_wave(&run);
    return status != 0 ? status : run.in_time ? 0 : WEIR_ETIMEOUT;
}

/* --- step by step --------------------------------------------------------------------------- */

static bool is_awaited_now(const struct run *run, const struct closing *closing)
{
    struct executor *executor = runtime_enter(run->runtime);
    bool is = !executor || is_awaited(closing);

    if (executor)
        runtime_leave(executor);
    return is;
}

/* No other part of the run feeds or uses it. */
static void try_to_close(struct run *run, struct closing *closing)
{
    if (closing->phase == CLOSING_WAITS) {
        closing->phase = CLOSING_ASKED;
        closing->deadline_ns = clock_after_ms(&run->clock, closing->timeout_ms);
    }
    if (time_left_ms(run, closing->deadline_ns) > 0 && is_awaited_now(run, closing))
        return;
    begin(run, closing, UINT64_MAX);
    closing->phase = CLOSING_CLOSES;
}

static void check_time(struct run *run, struct closing *closing)
{
    if (time_left_ms(run, closing->deadline_ns) > 0 || part_ref_has_ended(closing->part))
        return;
    name_late(run, closing->part, LEFT_BEHIND);
    closing->phase = CLOSING_LATE;
}

static int find_first(struct run *run, uint32_t *waves)
{
    struct feeder *feeders = calloc((size_t)run->count + 1, sizeof *feeders);
    int status = feeders ? find_waves(run, feeders, waves) : WEIR_ENOMEM;

    free(feeders);
    return status;
}

int closing_step(struct runtime *runtime, struct closing *parts, uint32_t count)
{
    struct run run = {
        .runtime = runtime, .parts = parts, .count = count, .clock = clock_monotonic()
    };
    uint32_t *waves = calloc((size_t)count + 1, sizeof *waves);
    int status = waves ? find_first(&run, waves) : WEIR_ENOMEM;

    mark_removed(parts, count);
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].phase == CLOSING_CLOSES)
            check_time(&run, &parts[i]);
        else if (status == 0 && waves[i] == 0)
            try_to_close(&run, &parts[i]);
    }
    refuse_takers(&run, count);
    free(waves);
    return status;
}
