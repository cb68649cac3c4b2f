/* SPDX-License-Identifier: MIT */
#include "linear/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/send.h"

#include <weir/plugin.h>

#define SIZE_MAX_OF_POOL 3u
#define RESIZES_MAX 2u /* of each caller: each may add workers, and each new worker is a step */

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t draw(const struct subject *subject, uint64_t what, uint32_t bound)
{
    return (uint32_t)(mixed(mixed(subject->options.seed) ^ what) >> 32) % bound;
}

/* Sequentially consistent: it also orders the callers. */
static uint32_t tick(struct subject *subject)
{
    return atomic_fetch_add(&subject->clock, 1);
}

/* --- workers -------------------------------------------------------------------------------- */

struct worker {
    struct subject *subject;
    uint32_t name;
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;

    (void)self;
    worker->subject = (struct subject *)(uintptr_t)settings;
    worker->name = atomic_fetch_add(&worker->subject->names, 1) + 1;
    if (worker->name >= SUBJECT_WORKERS_MAX)
        abort();
    atomic_store(&worker->subject->opens[worker->name], tick(worker->subject));
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    struct subject *subject = worker->subject;
    struct subject_message *taken;
    uint32_t id;

    (void)self;
    memcpy(&id, message->data, sizeof id);
    taken = &subject->messages[id];
    atomic_store(&taken->taken, tick(subject));
    if (atomic_exchange(&taken->worker, worker->name) != 0)
        atomic_fetch_add(&subject->twice, 1);
    while (subject->holds && !atomic_load(&subject->released))
        subject->options.wait(subject->options.context);
    return WEIR_DONE;
}

static const struct weir_behaviour behaviour = {
    .name = "held", .state_size = sizeof(struct worker), .open = open_worker, .handle = handle
};

/* --- life ------------------------------------------------------------------------------------ */

static struct executor *enter(struct subject *subject)
{
    struct executor *executor = runtime_enter(subject->options.runtime);

    if (!executor)
        abort();
    executor->random = mixed(subject->options.seed) | 1; /* not from its address in memory */
    return executor;
}

static void make_pool(struct subject *subject)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN,  WEIR_ROUTE_ROUND_ROBIN,
                                              WEIR_ROUTE_LEAST_LOADED, WEIR_ROUTE_RANDOM,
                                              WEIR_ROUTE_PULL,         WEIR_ROUTE_PULL,
                                              WEIR_ROUTE_PULL,         WEIR_ROUTE_HASH,
                                              WEIR_ROUTE_HASH,         WEIR_ROUTE_HASH };
    struct history *history = &subject->history;
    struct executor *executor = enter(subject);
    struct pool_options options = {
        .path = "subject",
        .dispatcher = subject->options.dispatcher,
        .spec = subject->spec,
        .settings.route = routes[draw(subject, 1, sizeof routes / sizeof routes[0])],
        .size = 1 + draw(subject, 2, SIZE_MAX_OF_POOL),
        .settings.mailbox = 1 + draw(subject, 3, 2)
    };

    subject->has_keys = options.settings.route == WEIR_ROUTE_HASH;
    if (subject->has_keys)
        options.settings.mailbox = SUBJECT_MESSAGES_MAX;
    history->seed = subject->options.seed;
    history->pulls = options.settings.route == WEIR_ROUTE_PULL;
    history->size = options.size;
    history->limit = options.settings.mailbox;
    if (pool_create(subject->options.runtime, executor, &options, &subject->pool) != 0)
        abort();
    runtime_leave(executor);
}

void subject_init(struct subject *subject, const struct subject_options *options)
{
    memset(subject, 0, sizeof *subject);
    subject->options = *options;
    atomic_init(&subject->clock, 1);
    subject->spec = spec_create(&behaviour, subject);
    if (!subject->spec)
        abort();
    make_pool(subject);
    subject->holds = draw(subject, 5, 2);
    for (uint32_t i = 0; i < SUBJECT_CALLERS; i++)
        subject->counts[i] = 3 +
                             draw(subject, 10 + i,
                                  (subject->holds ? SUBJECT_CALLS_MAX : SUBJECT_FLOWING_MAX) - 2);
    subject->closer = draw(subject, 4, SUBJECT_CALLERS + 1);
}

bool subject_is_open(struct subject *subject)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    pool_stats(subject->pool, &stats);
    subject->epoch = stats.epoch;
    return stats.live == subject->history.size;
}

void subject_begin(struct subject *subject)
{
    /* Workers that open from now on are part of the history. */
    if (atomic_load(&subject->names) != subject->history.size)
        abort();
}

void subject_release(struct subject *subject)
{
    struct executor *executor = enter(subject);

    atomic_store(&subject->released, true);
    if (!flags_is_closing(&subject->pool->flags))
        pool_close(subject->pool, executor);
    runtime_leave(executor);
}

bool subject_has_ended(struct subject *subject)
{
    return pool_has_ended(subject->pool);
}

/* --- calls ----------------------------------------------------------------------------------- */

static int send_one(struct subject *subject, struct executor *executor, uint32_t id)
{
    struct message *message = message_create(&executor->cache, NULL, sizeof id);
    int status;

    if (!message)
        abort();
    memcpy(message->public.data, &id, sizeof id);
    message->public.key = id + 1;
    /* As one that was sent to the worker that gets it: growth moves it to no other, so that the
     * worker which handles it is the one which admitted it. */
    message->public.reserved |= MESSAGE_DIRECT;
    status = send_message(subject->options.runtime, executor, subject->pool->pid, WEIR_NORMAL,
                          message);
    if (status != 0)
        message_destroy(&executor->cache, message);
    return status;
}

static void resize(struct subject *subject, struct executor *executor, struct step *step)
{
    struct weir_resized resized = { 0 };

    step->status = pool_resize(subject->pool, executor, step->size, &resized);
    step->changed = resized.changed;
    step->epoch = (uint32_t)(resized.epoch - subject->epoch);
}

static void get(struct subject *subject, struct step *step)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    pool_stats(subject->pool, &stats);
    step->size = stats.target;
    step->live = stats.live;
    step->epoch = (uint32_t)(stats.epoch - subject->epoch);
    step->accepted = (uint32_t)stats.accepted;
    step->paused = stats.paused > 0;
}

static uint32_t resizes_before(const struct subject *subject, uint32_t caller, uint32_t number)
{
    uint32_t count = 0;

    while (number-- > 0)
        count += subject->calls[caller][number].kind == STEP_RESIZE;
    return count;
}

static void choose(const struct subject *subject, uint32_t caller, uint32_t number,
                   struct step *step)
{
    static const enum step_kind kinds[] = { STEP_SEND, STEP_SEND, STEP_SEND,   STEP_SEND,
                                            STEP_SEND, STEP_SEND, STEP_RESIZE, STEP_RESIZE,
                                            STEP_GET,  STEP_GET,  STEP_PAUSE };
    uint64_t what = 100 + 100 * (uint64_t)caller + 3 * (uint64_t)number;

    step->kind = kinds[draw(subject, what, sizeof kinds / sizeof kinds[0])];
    if (step->kind == STEP_RESIZE && resizes_before(subject, caller, number) == RESIZES_MAX)
        step->kind = STEP_SEND;
    if (caller == subject->closer && number == draw(subject, 6, subject->counts[caller]))
        step->kind = STEP_CLOSE;
    if (step->kind == STEP_RESIZE)
        step->size = subject->has_keys ? 1 : draw(subject, what + 1, SIZE_MAX_OF_POOL + 1);
    if (step->kind == STEP_PAUSE)
        step->paused = draw(subject, what + 2, 2);
    step->thread = (uint8_t)caller;
}

static void call(struct subject *subject, struct executor *executor, struct step *step, uint32_t id)
{
    step->began = tick(subject);
    switch (step->kind) {
    case STEP_SEND:
        step->status = send_one(subject, executor, id);
        break;
    case STEP_RESIZE:
        resize(subject, executor, step);
        break;
    case STEP_GET:
        get(subject, step);
        break;
    case STEP_PAUSE:
        pool_pause(subject->pool, step->paused, executor);
        break;
    default:
        pool_close(subject->pool, executor);
        break;
    }
    step->ended = tick(subject);
}

void subject_call(struct subject *subject, uint32_t caller, void (*between)(void *context))
{
    for (uint32_t i = 0; i < subject->counts[caller]; i++) {
        struct executor *executor = enter(subject);
        struct step *step = &subject->calls[caller][i];

        choose(subject, caller, i, step);
        call(subject, executor, step, caller * SUBJECT_CALLS_MAX + i);
        runtime_leave(executor);
        if (between)
            between(subject->options.context);
    }
}

/* --- the history ------------------------------------------------------------------------------ */

static void add(struct history *history, const struct step *step)
{
    if (history->count == HISTORY_STEPS_MAX)
        abort();
    history->steps[history->count++] = *step;
}

static void add_calls(struct subject *subject)
{
    for (uint32_t i = 0; i < SUBJECT_CALLERS; i++)
        for (uint32_t j = 0; j < subject->counts[i]; j++) {
            struct step step = subject->calls[i][j];

            if (step.kind == STEP_SEND && step.status == 0)
                step.worker = (uint8_t)atomic_load(
                    &subject->messages[i * SUBJECT_CALLS_MAX + j].worker);
            add(&subject->history, &step);
            /* One after the other: the refusal is no instant. */
            if (step.kind == STEP_SEND && step.status == WEIR_EFULL && !subject->history.pulls) {
                step.kind = STEP_LOOKS;
                add(&subject->history, &step);
            }
        }
}

static uint32_t end_of_calls(const struct subject *subject)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < SUBJECT_CALLERS; i++)
        if (end < subject->calls[i][subject->counts[i] - 1].ended)
            end = subject->calls[i][subject->counts[i] - 1].ended;
    return end;
}

/* The later events need no call. After the last call they explain nothing. */
static void add_opened(struct subject *subject, uint32_t end)
{
    for (uint32_t name = subject->history.size + 1; name <= atomic_load(&subject->names); name++) {
        struct step step = { .kind = STEP_OPENED,
                             .began = atomic_load(&subject->opens[name]),
                             .ended = HISTORY_NEVER,
                             .thread = SUBJECT_CALLERS,
                             .worker = (uint8_t)name };

        if (step.began < end)
            add(&subject->history, &step);
    }
}

/* When the worker took the message before this one; 0: there was none. */
static uint32_t taken_before(struct subject *subject, const struct step *step)
{
    uint32_t before = 0;

    for (uint32_t id = 0; id < SUBJECT_MESSAGES_MAX; id++) {
        uint32_t taken = atomic_load(&subject->messages[id].taken);

        if (atomic_load(&subject->messages[id].worker) == step->worker && taken < step->ended &&
            taken > before)
            before = taken;
    }
    return before;
}

/* A worker may have taken its present message before the end of the calls: only that one, and none
 * if it waited with another. */
static bool is_taken_in_time(struct subject *subject, const struct step *step, uint32_t end)
{
    uint32_t before = taken_before(subject, step);

    return step->ended < end || (before < end && (before == 0 || !subject->holds));
}

static void add_taken(struct subject *subject, uint32_t end)
{
    for (uint32_t id = 0; id < SUBJECT_MESSAGES_MAX; id++) {
        struct step step = {
            .kind = STEP_TOOK,
            .began = subject->calls[id / SUBJECT_CALLS_MAX][id % SUBJECT_CALLS_MAX].began,
            .ended = atomic_load(&subject->messages[id].taken),
            .thread = SUBJECT_CALLERS,
            .worker = (uint8_t)atomic_load(&subject->messages[id].worker)
        };

        if (step.worker == 0 || atomic_load(&subject->opens[step.worker]) > end ||
            !is_taken_in_time(subject, &step, end))
            continue;
        if (step.began < taken_before(subject, &step))
            step.began = taken_before(subject, &step);
        if (step.ended > end)
            step.ended = HISTORY_NEVER;
        add(&subject->history, &step);
    }
}

/* Messages of a queue without workers are dead. */
static bool was_empty(const struct history *history)
{
    for (uint32_t i = 0; i < history->count; i++)
        if (history->steps[i].kind == STEP_RESIZE && history->steps[i].size == 0)
            return true;
    return false;
}

/* Every accepted message was handled once, and the ledger agrees. */
static bool is_accounted_for(struct subject *subject)
{
    struct ledger_reading ledger;
    uint64_t accepted = 0, handled = 0;

    for (uint32_t i = 0; i < subject->history.count; i++)
        accepted += subject->history.steps[i].kind == STEP_SEND &&
                    subject->history.steps[i].status == 0;
    for (uint32_t id = 0; id < SUBJECT_MESSAGES_MAX; id++)
        handled += atomic_load(&subject->messages[id].worker) > 0;
    pool_ledger(subject->pool, &ledger);
    if (atomic_load(&subject->twice) == 0 && ledger.accepted == accepted &&
        ledger.done == handled && ledger.done + ledger.dead == accepted &&
        (handled == accepted || (subject->history.pulls && was_empty(&subject->history))))
        return true;
    (void)fprintf(stderr,
                  "accepted %ju, handled %ju; the ledger: accepted %ju, done %ju, dead %ju\n",
                  (uintmax_t)accepted, (uintmax_t)handled, (uintmax_t)ledger.accepted,
                  (uintmax_t)ledger.done, (uintmax_t)ledger.dead);
    return false;
}

bool subject_finish(struct subject *subject)
{
    struct executor *executor;
    bool accounted;

    add_calls(subject);
    add_opened(subject, end_of_calls(subject));
    add_taken(subject, end_of_calls(subject));
    accounted = is_accounted_for(subject);
    executor = enter(subject);
    pool_destroy(subject->pool, executor);
    spec_unref(subject->spec);
    runtime_leave(executor);
    return accounted;
}
