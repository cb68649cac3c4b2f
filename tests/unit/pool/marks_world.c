/* SPDX-License-Identifier: MIT */
#include "unit/pool/marks_sender.h"

#include <stdlib.h>
#include <string.h>

#include <weir/task.h>

#include "actor/find.h"
#include "actor/replay.h"
#include "face/groups.h"
#include "face/leases.h"
#include "face/messages.h"
#include "pool/outlet.h"
#include "pool/settings.h"
#include "unit/host/suite.h"

/* --- what the workers do ---------------------------------------------------------------------- */

static int do_first(struct weir_self *self, struct world *w, const struct weir_message *message)
{
    switch (w->setup.first) {
    case FIRST_FORWARD:
        CU_ASSERT_EQUAL(weir_forward(self, w->helper->pid, message), 0);
        return WEIR_DONE;
    case FIRST_STASH:
        CU_ASSERT_EQUAL(weir_stash(self, message), 0);
        return WEIR_DONE;
    case FIRST_RETRY:
        atomic_store(&w->accepts, true);
        weir_retry_after(self, DELAY_MS);
        return WEIR_RETRY;
    case FIRST_FAIL:
        atomic_store(&w->accepts, true);
        return WEIR_FAIL;
    case FIRST_PUT_BACK:
        atomic_store(&w->accepts, true);
        CU_ASSERT_EQUAL(weir_put_back(self, message), 0);
        return w->setup.pauses ? WEIR_FAIL : WEIR_DONE;
    case FIRST_KEEP:
        return WEIR_KEEP;
    case FIRST_REJECT:
        return WEIR_REJECT;
    case FIRST_DONE:
        break;
    }
    return WEIR_DONE;
}

static int handle_at(struct weir_self *self, struct world *w, const struct weir_message *message)
{
    int index = (int)weir_index(self), unknown = -1;
    int verdict = WEIR_DONE;

    (void)atomic_compare_exchange_strong(&w->home, &unknown, index);
    if (!atomic_load(&w->accepts) &&
        (!marks_is_for_all(w->setup.mark) || index == atomic_load(&w->home))) {
        verdict = do_first(self, w, message);
        if (w->setup.first != FIRST_DONE)
            return verdict;
    }
    atomic_fetch_add(&w->handled[index], 1);
    return verdict;
}

int marks_victim(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct world *w = probe->context;

    if (probe == w->helpers) {
        atomic_fetch_add(&w->helped, 1);
        return WEIR_DONE;
    }
    return handle_at(self, w, message);
}

int marks_task(struct weir_task *task, void *argument)
{
    struct world *w = argument;
    bool goes_back = w->setup.first == FIRST_PUT_BACK && !atomic_load(&w->accepts);
    int verdict = handle_at(task->self, w, task->message);

    /* The result of a call that has put its message back does not count. */
    return goes_back || verdict != WEIR_DONE ? 1 : 0;
}

static int handle_task(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)probe;
    return message->size == sizeof(struct weir_task_call) ? weir_task_handle(self, NULL, message)
                                                          : WEIR_DONE;
}

int bring_back(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct world *w = probe->context;

    (void)message;
    atomic_store(&w->accepts, true);
    (void)weir_unstash(self, UINT32_MAX);
    return WEIR_DONE;
}

int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_KEEP;
}

int marks_subscribe(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_subscribe(self, "news"), 0);
    return WEIR_DONE;
}

void world_hear(struct world *w, const char *what)
{
    (void)snprintf(w->what, sizeof w->what, "%s", what);
    atomic_fetch_add(&w->heard, 1);
}

/* --- beginning -------------------------------------------------------------------------------- */

static uint64_t store(void *context, const struct dead_record *record, bool is_awaited)
{
    struct world *w = context;

    (void)is_awaited;
    if (record->size >= sizeof(struct order) && record->payload &&
        ((const struct order *)record->payload)->id == VICTIM) {
        (void)snprintf(w->kept_for, sizeof w->kept_for, "%s", record->to);
        atomic_fetch_add(&w->stored, 1);
    }
    if (record->kind == WEIR_REQUEST && marks_is_take(w->setup.mark))
        atomic_fetch_add(&w->stored, 1);
    return 0;
}

static struct pool *make_pool(struct world *w)
{
    static const char *const names[] = { "news" };
    static const struct weir_list news = { names, 1 };
    const enum mark mark = w->setup.mark;
    struct pool_options options = { .path = mark == GROUPED ? "group/pool" : "pool",
                                    .parent = w->group,
                                    .size = marks_has_leases(mark) ? 1 : 2,
                                    .fan_out = mark == EVENT_ALL,
                                    .subscribe = mark == EVENT_ALL ? &news : NULL,
                                    .settings = { .mailbox = LIMIT, .remove = w->setup.remove } };
    struct pool *pool;

    if (marks_has_leases(mark)) {
        options.settings.route = WEIR_ROUTE_PULL;
        options.settings.lease = (struct lease_settings){ true, 0, LIMIT };
    }
    if (mark == COPY)
        options.settings.route = WEIR_ROUTE_BROADCAST;
    options.spec = rig_spec(w->workers);
    options.spec->redeliver_max = w->setup.redeliver;
    options.spec->restart = restart_usual(WEIR_RESTART_KEEP_TRYING);
    options.spec->restart.max = w->setup.pauses ? 0 : 100;
    options.spec->restart.backoff_ms_min = options.spec->restart.backoff_ms_max = PAUSE_MS;
    pool = rig_pool(&w->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&w->rig, pool));
    return pool;
}

static void begin_event(struct world *w)
{
    CU_ASSERT_EQUAL(rig_send(&w->rig, w->feeder->pid, (struct order){ .act = marks_own_event }), 0);
    CU_ASSERT_TRUE(rig_drained(&w->rig, w->feeder));
    if (w->setup.mark != EVENT)
        return;
    CU_ASSERT_EQUAL(rig_send(&w->rig, world_home(w), (struct order){ .act = marks_subscribe }), 0);
    CU_ASSERT_TRUE(rig_drained(&w->rig, w->pool));
}

static struct probe *make_probe(struct world *w)
{
    struct probe *probe = probe_create();

    probe->context = w;
    return probe;
}

void world_begin(struct world *w, const struct setup *setup)
{
    *w = (struct world){ .setup = *setup, .count = 1 };
    atomic_init(&w->home, setup->mark == COPY || marks_is_event(setup->mark) ||
                                  setup->mark == DIRECT || setup->mark == REQUEST
                              ? 1
                              : -1);
    w->workers = make_probe(w);
    w->workers->act = setup->mark == TASK ? handle_task : NULL;
    w->helpers = make_probe(w);
    w->feeders = make_probe(w);
    w->origins = make_probe(w);
    w->origins->behaviour.settled = marks_settled;
    rig_init(&w->rig, 4, 0);
    w->rig.runtime->options.dead_store = (struct dead_store){ .context = w, .append = store };
    if (setup->mark == GROUPED)
        w->group = rig_pool(&w->rig, &(struct pool_options){
                                         .path = "group", .settings.lease = { true, 0, LIMIT } });
    w->pool = make_pool(w);
    w->helper = rig_workers(&w->rig, w->helpers, "helper", 1, 16);
    w->feeder = rig_workers(&w->rig, w->feeders, "feeder", 1, 16);
    w->origin = rig_workers(&w->rig, w->origins, "origin", 1, 16);
    if (marks_is_event(setup->mark))
        begin_event(w);
    if (setup->mark == TASK)
        CU_ASSERT_EQUAL_FATAL(group_create(w->rig.runtime, 0, &w->tasks), 0);
    if (marks_has_leases(setup->mark))
        CU_ASSERT_EQUAL(
            runtime_take_wait(w->rig.runtime, NULL, w->pool->pid, FOR_LONG_MS, &w->lease), 0);
}

weir_pid world_home(struct world *w)
{
    int home = atomic_load(&w->home);

    return rig_worker(w->pool, home < 0 ? w->pool->target - 1 : (uint32_t)home);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool waits_at_home(void *context)
{
    struct world *w = context;
    struct executor *executor = runtime_enter(w->rig.runtime);
    struct actor *actor;
    bool waits = actor_find_alive(w->rig.runtime, world_home(w), &actor) == 0 &&
                 mailbox_waiting(&actor->mailbox) > 0;

    runtime_leave(executor);
    return waits;
}

bool world_send_behind(struct world *w, probe_act *last)
{
    const bool all = !marks_is_for_all(w->setup.mark) && w->pool->target > 1;

    for (uint32_t i = 0; i + 1 < w->pool->target; i++)
        if (rig_send(&w->rig, rig_worker(w->pool, i), (struct order){ .act = probe_wait }) != 0 ||
            !gate_await(&w->workers->gate, i + 1))
            return false;
    if (!world_order(w, (struct order){ .act = last, .id = LAST }) ||
        !rig_noted(&w->rig, w->workers, LAST, 1) ||
        (last != keep && !gate_await(&w->workers->gate, w->pool->target)))
        return false;
    for (uint32_t i = 0; all && i < LIMIT; i++)
        if (rig_send(&w->rig, rig_worker(w->pool, 0), (struct order){ .id = FILLER }) != 0)
            return false;
    if (atomic_load(&w->home) < 0)
        atomic_store(&w->home, (int)w->pool->target - 1);
    return world_send(w) && rig_wait(&w->rig, waits_at_home, w);
}

static bool is_first_idle(void *context)
{
    struct world *w = context;
    struct executor *executor = runtime_enter(w->rig.runtime);
    struct actor *actor;
    bool idle = actor_find_alive(w->rig.runtime, rig_worker(w->pool, 0), &actor) == 0 &&
                mailbox_is_idle(&actor->mailbox);

    runtime_leave(executor);
    return idle;
}

bool world_free_others(struct world *w)
{
    if (marks_has_leases(w->setup.mark))
        return true;
    gate_admit(&w->workers->gate, 1);
    return rig_wait(&w->rig, is_first_idle, w);
}

/* --- what has become of it -------------------------------------------------------------------- */

static uint32_t count_at(const struct world *w, bool is_home)
{
    uint32_t count = 0;

    for (int i = 0; i < (int)WORKERS_MAX; i++)
        if ((i == atomic_load(&w->home)) == is_home)
            count += atomic_load(&w->handled[i]);
    return count;
}

static uint32_t own_share(const struct world *w)
{
    return marks_is_for_all(w->setup.mark) ? w->count : 0;
}

static const char *handler_of(const struct world *w)
{
    const uint32_t own = count_at(w, true), others = count_at(w, false) - own_share(w);
    const uint32_t helped = atomic_load(&w->helped);

    if (own + others + helped == 0)
        return "nobody";
    if (own + others + helped != w->count)
        return "WRONG NUMBER";
    return helped == w->count ? "helper" : own == w->count ? "own" : own == 0 ? "sibling" : "both";
}

static void note_answer(struct world *w)
{
    struct weir_answer answer = WEIR_ANSWER;
    int status;

    if (!marks_is_answered(w->setup.mark) || atomic_load(&w->heard) > 0 ||
        !runtime_is_answered(w->rig.runtime, w->event))
        return;
    status = runtime_await(w->rig.runtime, w->event, &answer);
    world_hear(w, status == WEIR_ENOREPLY ? "done" : weir_status_name(status));
}

static bool has_heard(void *context)
{
    struct world *w = context;

    note_answer(w);
    return atomic_load(&w->heard) > 0;
}

bool world_heard(struct world *w)
{
    struct weir_group_ended ended = { .size = sizeof ended };

    if (w->tasks && group_wait(w->tasks, FOR_LONG_MS, &ended) == 0)
        world_hear(w, ended.failed || ended.cancelled || ended.first_error ? "dead" : "done");
    return rig_wait(&w->rig, has_heard, w);
}

static bool is_quiet(void *context)
{
    struct world *w = context;
    const uint64_t leased = marks_has_leases(w->setup.mark) &&
                            !w->is_returned; /* the take is in hand */
    struct pool *const pools[] = { w->pool, w->helper, w->feeder, w->origin };

    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        struct ledger_reading reading = rig_ledger(pools[i]);

        if (reading.queued || reading.in_hand > (i == 0 ? leased : 0) || reading.held)
            return false;
    }
    return true;
}

static bool has_ended(void *context)
{
    struct world *w = context;

    return count_at(w, true) + count_at(w, false) + atomic_load(&w->helped) >= w->count;
}

bool world_handled(struct world *w)
{
    return rig_wait(&w->rig, has_ended, w);
}

static bool is_paused(void *context)
{
    struct world *w = context;
    struct weir_pool_stats stats = rig_stats(w->pool);

    return stats.live + 1 == stats.target;
}

bool world_paused(struct world *w)
{
    /* A leased worker is opened again, too. */
    return rig_wait(&w->rig, is_paused, w) && rig_drained(&w->rig, w->helper);
}

static bool is_delayed(void *context)
{
    struct world *w = context;

    return rig_stats(w->pool).retrying > 0 || atomic_load(&w->heard) > 0;
}

bool world_delayed(struct world *w)
{
    return rig_wait(&w->rig, is_delayed, w);
}

static bool is_in_hand(void *context)
{
    struct world *w = context;

    return rig_ledger(w->pool).in_hand > 0;
}

bool world_in_hand(struct world *w)
{
    return rig_wait(&w->rig, is_in_hand, w);
}

bool world_fill(struct world *w)
{
    for (uint32_t i = 0; i < w->pool->target; i++) {
        if (rig_send(&w->rig, rig_worker(w->pool, i), (struct order){ .act = probe_wait }) != 0 ||
            !gate_await(&w->workers->gate, i + 1))
            return false;
        for (uint32_t filler = 0; filler < LIMIT; filler++)
            if (rig_send(&w->rig, rig_worker(w->pool, i), (struct order){ .id = FILLER }) != 0)
                return false;
    }
    return true;
}

bool world_quiet(struct world *w)
{
    return rig_wait(&w->rig, is_quiet, w);
}

bool world_replay(struct world *w)
{
    struct executor *executor = runtime_enter(w->rig.runtime);
    struct replay_result result;

    replay(w->rig.runtime, executor, &w->pool->dead, outlet_present(&w->pool->outlets),
           w->pool->pid, &result);
    runtime_leave(executor);
    w->unable = result.unable;
    return result.status == 0;
}

void world_return(struct world *w)
{
    w->is_returned = true;
    (void)runtime_lease_return(w->rig.runtime, 0, &w->lease, WEIR_DONE);
}

/* The reason of the victim's dead letter; NULL: it has none. */
static const char *reason_in(struct pool *pool)
{
    struct dead_letter letters[16];
    uint32_t count = dead_letters_read(&pool->dead, letters, 16);
    struct order order;

    for (uint32_t i = 0; i < count; i++) {
        memcpy(&order, letters[i].head, sizeof order);
        if (letters[i].whole && letters[i].size >= sizeof order && order.id == VICTIM)
            return dead_reason_name(letters[i].reason);
    }
    return NULL;
}

void world_tell(struct world *w, char *out, size_t size)
{
    const char *reason = reason_in(w->pool);
    const uint32_t heard = atomic_load(&w->heard);

    if (!reason)
        reason = reason_in(w->feeder);
    if (!reason)
        reason = reason_in(w->origin);
    if (reason && strcmp(handler_of(w), "nobody") == 0)
        (void)snprintf(out, size, "%s", reason);
    else
        (void)snprintf(out, size, "%s%s%s", handler_of(w), reason ? " and " : "",
                       reason ? reason : "");
    if (w->setup.tells_record)
        (void)snprintf(out + strlen(out), size - strlen(out), ", stored for %s",
                       w->kept_for[0] ? w->kept_for : "nobody");
    if (heard > 1)
        (void)snprintf(out + strlen(out), size - strlen(out), ", heard TWICE");
    else if (heard == 1)
        (void)snprintf(out + strlen(out), size - strlen(out), ", heard %s", w->what);
}

void world_end(struct world *w, char *out, size_t size)
{
    world_end_with(w, NULL, out, size);
}

void world_end_with(struct world *w, struct pool *other, char *out, size_t size)
{
    gate_open(&w->workers->gate);
    if (marks_has_leases(w->setup.mark))
        (void)runtime_lease_return(w->rig.runtime, 0, &w->lease, WEIR_DONE);
    note_answer(w);
    world_tell(w, out, size);
    CU_ASSERT_TRUE(rig_end(&w->rig, w->origin, NULL));
    CU_ASSERT_TRUE(rig_end(&w->rig, w->feeder, NULL));
    if (w->group)
        rig_close(&w->rig, w->group);
    CU_ASSERT_TRUE(rig_end(&w->rig, w->pool, NULL)); /* before the pool above it */
    if (w->group)
        CU_ASSERT_TRUE(rig_end(&w->rig, w->group, NULL));
    CU_ASSERT_TRUE(!other || rig_end(&w->rig, other, NULL));
    CU_ASSERT_TRUE(rig_end(&w->rig, w->helper, NULL));
    group_destroy(w->tasks);
    rig_finish(&w->rig);
    probe_destroy(w->workers);
    probe_destroy(w->helpers);
    probe_destroy(w->feeders);
    probe_destroy(w->origins);
}
