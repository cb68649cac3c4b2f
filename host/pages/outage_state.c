/* SPDX-License-Identifier: MIT */
#include "host/pages/outage_state.h"

static void forget(struct outage_state *state, const struct weir_pool_stats *stats)
{
    state->done = stats->done;
    state->retried = state->latest = stats->retried;
    state->moved = stats->moved;
    state->began_ms = 0;
    state->is_reported = false;
}

static void note_retries(struct outage_state *state, const struct weir_pool_stats *stats,
                         uint64_t now_ms)
{
    if (stats->retried == state->latest)
        return;
    state->latest = stats->retried;
    state->latest_ms = now_ms;
    if (state->began_ms == 0)
        state->began_ms = now_ms;
}

/* No message is left that could be given again. One that went back to its source counts as moved,
 * and is out of sight. */
static bool is_over(const struct outage_state *state, const struct weir_pool_stats *stats,
                    uint64_t now_ms)
{
    if (stats->queued + stats->in_hand + stats->held > 0)
        return false;
    return stats->moved == state->moved || now_ms - state->latest_ms >= OUTAGE_RETURNS_MS;
}

static uint64_t wait_of(const struct outage_state *state, uint64_t now_ms)
{
    bool is_calm = state->wait_ms == 0 || now_ms - state->reported_ms >= OUTAGE_CALM_MS;

    return is_calm ? OUTAGE_MS : state->wait_ms;
}

static bool is_due(const struct outage_state *state, uint64_t now_ms)
{
    return state->latest > state->retried + 1 && now_ms - state->began_ms >= wait_of(state, now_ms);
}

static void note_report(struct outage_state *state, uint64_t now_ms)
{
    uint64_t next_ms = wait_of(state, now_ms) * 2;

    state->wait_ms = next_ms < OUTAGE_MS_MAX ? next_ms : OUTAGE_MS_MAX;
    state->reported_ms = now_ms;
    state->is_reported = true;
}

struct outage_report outage_state_look(struct outage_state *state,
                                       const struct weir_pool_stats *stats, uint64_t now_ms)
{
    struct outage_report report = { .retries = stats->retried - state->retried,
                                    .since_ms = now_ms - state->began_ms };

    if (stats->done != state->done) {
        if (state->is_reported)
            report.news = OUTAGE_ENDS;
        forget(state, stats);
        return report;
    }
    note_retries(state, stats, now_ms);
    if (state->began_ms == 0 || state->is_reported)
        return report;
    if (is_over(state, stats, now_ms))
        forget(state, stats);
    else if (is_due(state, now_ms)) {
        note_report(state, now_ms);
        report.news = OUTAGE_BEGINS;
    }
    return report;
}
