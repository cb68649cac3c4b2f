/* SPDX-License-Identifier: MIT */
/* Looking at parts, changing and closing them: see weir/runtime.h. */
#include <stdlib.h>
#include <string.h>

#include "embed/part.h"
#include "embed/use.h"
#include "embed/usual.h"
#include "embed/valid.h"

int weir_runtime_lookup(struct weir_runtime *runtime, const char *name, weir_pid *out_pid)
{
    struct executor *executor = runtime_enter(runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = runtime_lookup(runtime->core, name, out_pid);
    runtime_leave(executor);
    return status;
}

/* Takes the wiring. */
static void publish(struct part *part, struct wiring *wiring, struct executor *executor)
{
    if (part->kind == PART_POOL)
        pool_set_wiring(part->pool, wiring, executor);
    else if (part->kind == PART_STANDALONE)
        standalone_set_wiring(part->standalone, wiring, executor);
    else
        source_set_wiring(part->source, wiring, executor);
}

static struct wiring_slot *outputs_of(const struct part *part)
{
    return part_ref_dead_letters(part_ref(part)).wiring;
}

/* Takes the wiring, whose outputs keep their rates. */
static int bind_locked(struct part *part, struct wiring *wiring)
{
    struct executor *executor = runtime_enter(part->runtime->core);
    int status = executor ? wiring_keep_rates(wiring, outputs_of(part)) : WEIR_ENOMEM;

    if (status == 0)
        publish(part, wiring, executor);
    else
        wiring_destroy(wiring);
    if (executor)
        runtime_leave(executor);
    return status;
}

static int bind(struct part *part, struct wiring *wiring)
{
    int status;

    lock_acquire(&part->runtime->lock);
    status = bind_locked(part, wiring);
    lock_release(&part->runtime->lock);
    return status;
}

int weir_runtime_bind(struct weir_runtime *runtime, weir_pid from,
                      const struct weir_binding *outputs, uint32_t output_count)
{
    struct refusal why = { 0 };
    struct part *part = part_find(runtime, from);
    struct binding *bindings = NULL;
    struct wiring *wiring = NULL;
    int status = part ? valid_outputs(outputs, output_count, sizeof *outputs, &why) : WEIR_EUNKNOWN;

    if (status == 0)
        status = use_create_bindings(outputs, output_count, sizeof *outputs, &bindings);
    if (status == 0)
        wiring = wiring_make(bindings, output_count);
    if (status == 0)
        status = wiring ? bind(part, wiring) : WEIR_ENOMEM;
    free(bindings);
    part_unref(part);
    return valid_report(runtime, "runtime", status, &why);
}

/* --- rates ---------------------------------------------------------------------------------- */

/* With the defaults of a file. False: it is not valid. */
static bool read_rate(const struct weir_rate *given, struct rate *out)
{
    *out = (struct rate){ .messages = given->messages,
                          .burst = given->burst,
                          .per_ms = given->per_ms ? given->per_ms : USUAL_RATE_PER_MS };
    if (out->messages == 0)
        return true;
    if (out->burst == 0 && out->per_ms <= RATE_PER_MS_MAX)
        out->burst = rate_usual_burst(out->messages, out->per_ms);
    return rate_is_valid(out);
}

static int set_rate_locked(struct part *part, struct executor *executor, uint32_t output,
                           const struct rate *rate)
{
    struct wiring *wiring = wiring_copy(outputs_of(part));
    int status = WEIR_EINVALID;

    if (!wiring)
        return WEIR_ENOMEM;
    if (output < wiring_count(wiring))
        status = wiring_set_rate(wiring, output, rate);
    if (status == 0)
        publish(part, wiring, executor);
    else
        wiring_destroy(wiring);
    return status;
}

static int set_rate(struct part *part, uint32_t output, const struct rate *rate)
{
    struct executor *executor = runtime_enter(part->runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    lock_acquire(&part->runtime->lock);
    status = set_rate_locked(part, executor, output, rate);
    lock_release(&part->runtime->lock);
    runtime_leave(executor);
    return status;
}

int weir_runtime_set_rate(struct weir_runtime *runtime, weir_pid from, uint32_t output,
                          const struct weir_rate *rate)
{
    struct part *part;
    struct rate read;
    int status;

    if (!read_rate(rate, &read))
        return valid_report(
            runtime, "runtime", WEIR_EINVALID,
            &(struct refusal){ "rate", "a field is out of its bounds", WEIR_EINVALID });
    part = part_find(runtime, from);
    status = part ? set_rate(part, output, &read) : WEIR_EUNKNOWN;
    part_unref(part);
    return valid_report(runtime, "runtime", status,
                        &(struct refusal){ "output", "is none of the last bind", WEIR_EINVALID });
}

/* --- waiting for a change ------------------------------------------------------------------- */

/* The condition of a wait: `min_ready` members are open; with `settled`: all are open, and no
 * member is leaving. */
struct wish {
    struct part *part;
    bool settled;
    int status; /* 1: not yet */
};

/* Of the workers of this pool alone, of which `min_ready` must open. A manager must open, too. */
static int opening_here(struct pool *pool, uint32_t min_ready)
{
    struct pool_opening here = { 0 };
    uint32_t workers;

    pool_opening_here(pool, &here);
    workers = here.open + here.starting + here.failed + here.stopped;
    if (min_ready > workers)
        min_ready = workers;
    if (here.manager || here.open + here.starting < min_ready)
        return here.failed ? here.status : WEIR_ECRASHED;
    return here.manager_starts || (here.starting && here.open < min_ready) ? 1 : 0;
}

/* Likewise, with the pools below; the status of a failure comes first. */
static int opening_below_locked(const struct part *part)
{
    int status = opening_here(part->pool, part->min_ready);

    for (struct list *node = part->members.next; node != &part->members; node = node->next) {
        int below = opening_below_locked(LIST_ENTRY(node, struct part, member_link));

        if (status == 0 || below < 0)
            status = below;
    }
    return status;
}

static int opening_of(struct part *part)
{
    int status;

    lock_acquire(&part->runtime->lock);
    status = opening_below_locked(part);
    lock_release(&part->runtime->lock);
    return status;
}

/* After a resize each worker must open; one that has stopped before does not. */
static int settling_of(struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct pool_opening opening = { 0 };

    pool_opening(pool, &opening);
    if (opening.failed)
        return opening.status;
    if (opening.starting)
        return 1;
    pool_stats(pool, &stats);
    return stats.retiring ? 1 : 0;
}

static int opening_of_pool(struct part *part, bool settled)
{
    if (pool_is_closing(part->pool))
        return WEIR_ECLOSED;
    return settled ? settling_of(part->pool) : opening_of(part);
}

static bool is_fulfilled(void *context)
{
    struct wish *wish = context;
    struct part *part = wish->part;

    if (part->kind == PART_POOL)
        wish->status = opening_of_pool(part, wish->settled);
    else if (part->kind == PART_STANDALONE)
        wish->status = standalone_opening(part->standalone);
    else
        wish->status = source_opening(part->source);
    return wish->status != 1;
}

static int wait_for(struct part *part, bool settled, uint64_t timeout_ms)
{
    struct wish wish = { part, settled, 1 };

    (void)runtime_wait(part->runtime->core, is_fulfilled, &wish, timeout_ms);
    return wish.status == 1 ? WEIR_ETIMEOUT : wish.status;
}

static uint64_t open_timeout_ms(struct part *part)
{
    uint64_t timeout_ms;

    lock_acquire(&part->runtime->lock);
    timeout_ms = part->open_timeout_ms;
    lock_release(&part->runtime->lock);
    return timeout_ms;
}

int weir_runtime_wait_open(struct weir_runtime *runtime, weir_pid pid, uint64_t timeout_ms)
{
    struct part *part;
    int status = WEIR_EUNKNOWN;

    if (runtime_is_own_thread(runtime->core))
        return WEIR_EDEADLK;
    part = part_find(runtime, pid);
    if (part)
        status = wait_for(part, false,
                          timeout_ms == WEIR_OPEN_TIMEOUT ? open_timeout_ms(part) : timeout_ms);
    part_unref(part);
    return status;
}

/* --- resizing ------------------------------------------------------------------------------- */

/* Tells the program, if it wants to know, and the log. */
static void report_resized(const struct part *part, const struct weir_resized *resized,
                           struct weir_resized *out)
{
    resize_report(part->pool, RESIZE_BY_PROGRAM, "the program", resized);
    if (out)
        *out = *resized;
}

static int resize(struct part *part, uint32_t workers, struct weir_resized *out)
{
    struct executor *executor = runtime_enter(part->runtime->core);
    struct weir_resized resized;
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = pool_resize(part->pool, executor, workers, &resized);
    if (status == 0)
        report_resized(part, &resized, out);
    runtime_leave(executor);
    return status;
}

int weir_runtime_resize(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                        struct weir_resized *out)
{
    struct part *part = part_find_pool(runtime, pool);
    int status = part ? resize(part, workers, out) : WEIR_EUNKNOWN;

    part_unref(part);
    return status;
}

static int change_by(struct weir_runtime *runtime, weir_pid pool, int64_t count,
                     struct weir_resized *out)
{
    struct part *part = part_find_pool(runtime, pool);
    struct executor *executor = part ? runtime_enter(runtime->core) : NULL;
    int status = part ? WEIR_ENOMEM : WEIR_EUNKNOWN;
    struct weir_resized resized;

    if (executor) {
        status = pool_add(part->pool, executor, count, &resized);
        if (status == 0)
            report_resized(part, &resized, out);
        runtime_leave(executor);
    }
    part_unref(part);
    return status;
}

int weir_runtime_add_workers(struct weir_runtime *runtime, weir_pid pool, int32_t count,
                             struct weir_resized *out)
{
    return count < 0 ? WEIR_EINVALID : change_by(runtime, pool, count, out);
}

int weir_runtime_remove_workers(struct weir_runtime *runtime, weir_pid pool, uint32_t count,
                                struct weir_resized *out)
{
    return change_by(runtime, pool, -(int64_t)count, out);
}

int weir_runtime_resize_wait(struct weir_runtime *runtime, weir_pid pool, uint32_t workers,
                             uint64_t timeout_ms, struct weir_resized *out)
{
    struct part *part;
    int status;

    if (runtime_is_own_thread(runtime->core))
        return WEIR_EDEADLK;
    part = part_find_pool(runtime, pool);
    status = part ? resize(part, workers, out) : WEIR_EUNKNOWN;
    if (status == 0)
        status = wait_for(part, true, timeout_ms);
    part_unref(part);
    return status;
}

static int scale_auto(struct part *part)
{
    struct executor *executor = runtime_enter(part->runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = pool_scale_auto(part->pool, executor);
    runtime_leave(executor);
    return status;
}

int weir_runtime_scale_auto(struct weir_runtime *runtime, weir_pid pool)
{
    struct part *part = part_find_pool(runtime, pool);
    int status = part ? scale_auto(part) : WEIR_EUNKNOWN;

    part_unref(part);
    return status;
}

/* --- figures -------------------------------------------------------------------------------- */

int weir_runtime_pool_stats(struct weir_runtime *runtime, weir_pid pool,
                            struct weir_pool_stats *out)
{
    struct part *part;

    if (!pool_can_show(out))
        return WEIR_EINVALID;
    part = part_find_pool(runtime, pool);
    if (!part)
        return WEIR_EUNKNOWN;
    pool_stats(part->pool, out);
    part_unref(part);
    return 0;
}

static void sum_of_all(struct weir_runtime *runtime, struct ledger_reading *out)
{
    lock_acquire(&runtime->lock);
    *out = runtime->gone;
    for (struct list *node = runtime->parts.next; node != &runtime->parts; node = node->next) {
        struct part *part = LIST_ENTRY(node, struct part, link);
        struct ledger_reading reading = { 0 };

        if (part->parent)
            continue; /* its parent's sum has it */
        part_ref_ledger(part_ref(part), &reading);
        ledger_reading_add(out, &reading);
    }
    lock_release(&runtime->lock);
}

static void copy_ledger(const struct ledger_reading *reading, struct weir_ledger *out)
{
    const struct weir_ledger ledger = {
        .size = out->size < sizeof ledger ? out->size : (uint32_t)sizeof ledger,
        .accepted = reading->accepted,
        .done = reading->done,
        .dead = reading->dead,
        .moved = reading->moved,
        .queued = reading->queued,
        .in_hand = reading->in_hand,
        .held = reading->held,
    };

    memcpy(out, &ledger, ledger.size);
}

int weir_runtime_ledger(struct weir_runtime *runtime, weir_pid pid, struct weir_ledger *out)
{
    struct ledger_reading reading = { 0 };
    struct part *part;

    if (out->size < sizeof *out) /* all of it is of version 0.1 */
        return WEIR_EINVALID;
    part = pid ? part_find(runtime, pid) : NULL;
    if (pid && !part)
        return WEIR_EUNKNOWN;
    if (part)
        part_ref_ledger(part_ref(part), &reading);
    else
        sum_of_all(runtime, &reading);
    part_unref(part);
    copy_ledger(&reading, out);
    return 0;
}

/* --- closing -------------------------------------------------------------------------------- */

int weir_runtime_close(struct weir_runtime *runtime, weir_pid pid)
{
    struct part *part = part_find(runtime, pid);

    if (!part)
        return WEIR_EUNKNOWN;
    part_close(part);
    part_unref(part);
    return 0;
}

int weir_runtime_stop_now(struct weir_runtime *runtime, weir_pid pid)
{
    struct part *part = part_find(runtime, pid);

    if (!part)
        return WEIR_EUNKNOWN;
    part_stop_now(part);
    part_unref(part);
    return 0;
}

static bool has_ended(void *context)
{
    return part_ref_has_ended(part_ref(context));
}

int weir_runtime_close_wait(struct weir_runtime *runtime, weir_pid pid, uint64_t timeout_ms)
{
    struct part *part;
    int status = WEIR_ETIMEOUT;

    if (runtime_is_own_thread(runtime->core))
        return WEIR_EDEADLK;
    part = part_find(runtime, pid);
    if (!part)
        return WEIR_EUNKNOWN;
    part_close(part);
    if (runtime_wait(runtime->core, has_ended, part, timeout_ms)) {
        part_forget(part);
        status = 0;
    }
    part_unref(part);
    return status;
}
