/* SPDX-License-Identifier: MIT */
#include "host/run/accounts.h"

#include <stdio.h>
#include <string.h>

/* The logged figures of one pool, or of all. */
struct account {
    struct ledger_reading ledger;
    struct dead_letters_figures dead;
    uint64_t refused;
    uint64_t restarts;
    uint64_t retried;
    uint64_t misuses;
    uint64_t unbound;
};

/* Counts dead letters that no ledger counts: emitted messages that were refused for good, and
 * messages of other lanes. */
static uint64_t outside(const struct account *account)
{
    uint64_t total = dead_letters_total(&account->dead);

    /* A worker counts the dead letter before its ledger: so a reading may count one too many, never
     * too few. */
    return total > account->ledger.dead ? total - account->ledger.dead : 0;
}

static void log_account(struct assembly *assembly, const char *component,
                        const struct account *account)
{
    const struct ledger_reading *reading = &account->ledger;

    log_answer(runtime_log(assembly->runtime),
               ledger_reading_difference(reading) ? WEIR_LOG_ERROR : WEIR_LOG_INFO, component,
               "ledger", weir_uint("accepted", reading->accepted), weir_uint("done", reading->done),
               weir_uint("dead", reading->dead), weir_uint("moved", reading->moved),
               weir_uint("queued", reading->queued), weir_uint("in_hand", reading->in_hand),
               weir_uint("held", reading->held), weir_uint("refused", account->refused),
               weir_uint("restarts", account->restarts), weir_uint("retried", account->retried),
               weir_uint("dead_outside", outside(account)), weir_uint("misuses", account->misuses),
               weir_uint("unbound", account->unbound),
               weir_str("balance", ledger_reading_difference(reading) ? "wrong" : "exact"));
}

static void add_account(struct account *sum, const struct account *account)
{
    ledger_reading_add(&sum->ledger, &account->ledger);
    dead_letters_figures_add(&sum->dead, &account->dead);
    sum->refused += account->refused;
    sum->restarts += account->restarts;
    sum->retried += account->retried;
    sum->misuses += account->misuses;
    sum->unbound += account->unbound;
}

/* Logs a pool's account. Adds a pool at the top to the sum; it includes the pools below it. */
static void log_pool(struct assembly *assembly, struct pool *pool, struct account *sum)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct account account = { 0 };

    pool_ledger(pool, &account.ledger);
    pool_dead(pool, &account.dead);
    pool_stats(pool, &stats);
    account.refused = stats.refused;
    account.restarts = stats.restarts;
    account.retried = stats.retried;
    account.misuses = pool_misuses(pool);
    account.unbound = pool_unbound(pool);
    log_account(assembly, pool_path(pool), &account);
    if (!pool_has_parent(pool))
        add_account(sum, &account);
}

void accounts_log_source(struct assembly *assembly, struct source *source)
{
    struct source_figures figures;
    const struct dead_letters_figures *dead = &figures.dead;
    uint64_t total;

    source_look(source, &figures);
    total = dead_letters_total(dead);
    log_answer(runtime_log(assembly->runtime), total ? WEIR_LOG_WARNING : WEIR_LOG_INFO,
               source_path(source), "source", weir_uint("emitted", figures.emitted),
               weir_uint("dead", total), weir_uint("no_target", dead->counts[DEAD_NO_TARGET]),
               weir_uint("output_full", dead->counts[DEAD_OUTPUT_FULL]),
               weir_uint("full", dead->counts[DEAD_FULL]), weir_uint("misuses", figures.misuses));
}

static void log_accounts_locked(struct assembly *assembly, struct account *sum)
{
    const struct settings *settings = assembly->shared->settings;

    sum->ledger = assembly->gone_ledger;
    sum->dead = assembly->gone_dead;
    sum->misuses = assembly->gone_misuses;
    sum->unbound = assembly->gone_unbound;
    for (uint32_t i = 0; i < settings->source_count; i++) {
        struct source_figures figures;

        accounts_log_source(assembly, assembly->sources[i]);
        source_look(assembly->sources[i], &figures);
        dead_letters_figures_add(&sum->dead, &figures.dead);
        sum->misuses += figures.misuses;
    }
    for (uint32_t i = 0; i < settings->pool_count; i++)
        log_pool(assembly, assembly->pools[i], sum);
    for (uint32_t i = 0; i < assembly->gone_count; i++)
        log_pool(assembly, assembly->gone[i], sum);
}

void accounts_log_ledger(struct assembly *assembly, struct accounts_result *out_result)
{
    struct account sum = { 0 };

    lock_acquire(&assembly->lock);
    log_accounts_locked(assembly, &sum);
    lock_release(&assembly->lock);
    log_account(assembly, "host", &sum);
    if (out_result)
        *out_result = (struct accounts_result){
            .is_balanced = ledger_reading_difference(&sum.ledger) == 0,
            .restarts = sum.restarts,
            .dead = sum.dead,
        };
}

/* --- progress ------------------------------------------------------------------------------- */

static void add_units(struct progress_figures *out, const char *owner,
                      const struct pool_progress *units, uint32_t count)
{
    for (uint32_t i = 0; i < count && out->unit_count < PROGRESS_UNITS_MAX; i++) {
        struct progress_unit *unit = &out->units[out->unit_count];

        if (units[i].total == WEIR_GAUGE)
            continue;
        out->unit_count++;
        (void)snprintf(unit->owner, sizeof unit->owner, "%s", owner);
        (void)snprintf(unit->unit, sizeof unit->unit, "%s", units[i].unit);
        unit->done = units[i].done;
        unit->total = units[i].total;
    }
}

static void add_pool(struct progress_figures *out, const struct settings_pool *settings,
                     struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct progress_pool *figure;

    if (out->pool_count == PROGRESS_POOLS_MAX || settings->nested)
        return;
    pool_stats(pool, &stats);
    if (stats.live == 0 && stats.starting == 0)
        return; /* it has ended or is closing: no fill to show */
    figure = &out->pools[out->pool_count++];
    (void)snprintf(figure->path, sizeof figure->path, "%s", settings->path);
    figure->live = stats.live;
    figure->busy = stats.busy;
    figure->queued = stats.queued;
    if (settings->core.mailbox != WEIR_UNBUFFERED)
        figure->room = (uint64_t)stats.target * settings->core.mailbox;
}

void accounts_progress(struct assembly *assembly, struct progress_figures *out)
{
    struct pool_progress units[PLACE_UNITS];
    const struct settings *settings;

    memset(out, 0, sizeof *out);
    lock_acquire(&assembly->lock);
    settings = assembly->shared->settings;
    for (uint32_t i = 0; i < settings->source_count; i++)
        add_units(out, settings->sources[i].name, units,
                  source_progress(assembly->sources[i], units, PLACE_UNITS));
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        if (!settings->pools[i].nested)
            add_units(out, settings->pools[i].path, units,
                      pool_progress(assembly->pools[i], units, PLACE_UNITS));
        add_pool(out, &settings->pools[i], assembly->pools[i]);
    }
    lock_release(&assembly->lock);
}

/* --- completion ----------------------------------------------------------------------------- */

static bool is_top(const struct settings *settings, uint32_t index)
{
    return settings->pools[index].parent == SETTINGS_NONE;
}

static void count_source(const struct settings_source *settings, struct source *source,
                         struct accounts_totals *out)
{
    bool is_endless = settings->use.entry->behaviour->flags & WEIR_ENDLESS;

    out->endless_sources += is_endless;
    if (source_has_ended(source))
        return;
    out->open_sources++;
    out->unfinished_sources += !is_endless;
}

static void add_totals(struct accounts_totals *out, const struct ledger_reading *reading)
{
    out->accepted += reading->accepted;
    out->settled += reading->done + reading->dead + reading->moved;
}

void accounts_totals(struct assembly *assembly, struct accounts_totals *out)
{
    const struct settings *settings;

    *out = (struct accounts_totals){ 0 };
    lock_acquire(&assembly->lock);
    settings = assembly->shared->settings;
    out->sources = settings->source_count;
    out->open_sources = assembly->changing;
    for (uint32_t i = 0; i < assembly->gone_source_count; i++)
        out->open_sources += !source_has_ended(assembly->gone_sources[i]);
    for (uint32_t i = 0; i < settings->source_count; i++)
        count_source(&settings->sources[i], assembly->sources[i], out);
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct ledger_reading reading;

        if (!is_top(settings, i))
            continue;
        pool_ledger(assembly->pools[i], &reading);
        add_totals(out, &reading);
    }
    for (uint32_t i = 0; i < assembly->gone_count; i++) {
        struct ledger_reading reading;

        if (pool_has_parent(assembly->gone[i]))
            continue;
        pool_ledger(assembly->gone[i], &reading);
        add_totals(out, &reading);
    }
    add_totals(out, &assembly->gone_ledger);
    lock_release(&assembly->lock);
}

bool accounts_are_done(struct assembly *assembly)
{
    struct accounts_totals first, second;

    accounts_totals(assembly, &first);
    if (first.sources == 0 || first.open_sources > 0)
        return false;
    accounts_totals(assembly, &second);
    return second.open_sources == 0 && first.settled == second.accepted;
}
