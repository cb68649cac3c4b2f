/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that fails to open, that hangs in `open`, `close`, `taken` or `returned`, or that
 * was returned and has something left to do, does not hold up the growth of its pool beside it, by
 * whatever route; a group leaves its takers to the pools whose workers open.
 *
 * Method: a table of places that are held, and of pools. Worker 0 has a message that does not end,
 * or is leased; workers with certain numbers are held; a further message or taker waits. The clock
 * moves until another worker is open. `open_timeout`, and the time-out of a lease, are longer than
 * the clock gets.
 */
#include <stdio.h>
#include <string.h>

#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define STEP_MS 2u
#define OPEN_MS 100000000u
#define IDLE_MS 100000000u
#define WORKERS_MAX 4u
#define THREADS 8u

/* What holds the places. */
enum hold {
    FAILS,      /* worker 1 fails to open */
    HANGS,      /* worker 1 hangs in `open` */
    HANG_TWICE, /* workers 1 and 2 do */
    CLOSES,     /* worker 0, the only one, fails and hangs in `close` */
    /* worker 0, the only one, was returned, and does not come back: */
    KEEPS,   /* it keeps a message of the lease */
    RETRIES, /* a message of the lease waits for a retry */
    STASHES, /* it has stashed one, */
    RUNS,    /* it handles one, */
    RETURNS, /* it hangs in `returned` */
    TAKES,   /* or it hangs in `taken` */
    HOLDS,
};

static const char *const holds[] = { "fails", "hangs",   "two hang", "closes",  "keeps",
                                     "retry", "stashes", "runs",     "returns", "takes" };

struct row {
    const char *name;
    enum weir_route route;
    bool leases;
    bool groups; /* a second pool without workers, whose workers open */
    uint64_t wait_ms;
    bool is_fixed; /* the first pool does not scale itself */
};

static const struct row rows[] = {
    { "round robin", WEIR_ROUTE_ROUND_ROBIN, false, false, 0, false },
    { "round robin, wait", WEIR_ROUTE_ROUND_ROBIN, false, false, 20, false },
    { "least loaded", WEIR_ROUTE_LEAST_LOADED, false, false, 0, false },
    { "pull", WEIR_ROUTE_PULL, false, false, 0, false },
    { "pull, wait", WEIR_ROUTE_PULL, false, false, 20, false },
    { "leases", WEIR_ROUTE_PULL, true, false, 0, false },
    { "leases, wait", WEIR_ROUTE_PULL, true, false, 20, false },
    { "group", WEIR_ROUTE_PULL, true, true, 0, false },
    { "group, wait", WEIR_ROUTE_PULL, true, true, 20, false },
    { "group, the first is fixed", WEIR_ROUTE_PULL, true, true, 0, true },
    { "group, the first is fixed, wait", WEIR_ROUTE_PULL, true, true, 20, true },
};

struct world {
    struct fixture f;
    const struct row *row;
    enum hold hold;
    struct probe *held; /* of the first pool */
    struct probe *sound;
    struct gate gate; /* holds `open`, `close` and `returned` */
    struct pool *group;
    struct pool *pools[2];
    _Atomic uint32_t sound_ones; /* workers that have opened behind worker 0 */
};

static int opens(struct weir_self *self, struct probe *probe)
{
    struct world *w = probe->context;
    uint32_t index = weir_index(self);
    bool is_held = index > 0 && index <= (w->hold == HANG_TWICE ? 2u : 1u) && w->hold < CLOSES &&
                   probe == w->held;

    if (is_held && w->hold == FAILS)
        return WEIR_FAIL;
    if (is_held)
        (void)gate_pass(&w->gate);
    else if (index > 0 || probe != w->held)
        atomic_fetch_add(&w->sound_ones, 1);
    return 0;
}

static void closes(struct weir_self *self, struct probe *probe)
{
    struct world *w = probe->context;

    if (w->hold == CLOSES && weir_index(self) == 0 && probe == w->held)
        (void)gate_pass(&w->gate);
}

static int returns(struct weir_self *self, struct probe *probe)
{
    struct world *w = probe->context;

    if (w->hold == RETURNS && weir_index(self) == 0 && probe == w->held)
        (void)gate_pass(&w->gate);
    return 0;
}

static int is_taken(struct weir_self *self, struct probe *probe)
{
    struct world *w = probe->context;

    if (w->hold == TAKES && weir_index(self) == 0 && probe == w->held)
        (void)gate_pass(&w->gate);
    return 0;
}

/* --- pools ------------------------------------------------------------------------------------ */

/* Of the first pool. One that does not grow has two workers, or others beside it do. */
static uint32_t size_of(const struct row *row)
{
    return row->is_fixed && !row->groups ? 2 : 1;
}

static struct pool *make_pool(struct world *w, uint32_t number)
{
    static const char *const paths[] = { "group/a", "group/b" };
    struct pool_options options = {
        .path = paths[number],
        .parent = w->group,
        .size = number == 0 ? size_of(w->row) : 0,
        .settings = { .route = w->row->route,
                      .mailbox = 8,
                      .size_max = WORKERS_MAX,
                      .open_timeout_ms = OPEN_MS,
                      .scale = { number > 0 || !w->row->is_fixed, w->row->wait_ms, IDLE_MS },
                      .remove = { .timeout_ms = 500 },
                      .lease = { w->row->leases, OPEN_MS, SLOTS } },
    };
    struct pool *pool;

    options.spec = rig_spec(number == 0 ? w->held : w->sound);
    options.spec->restart = (struct restart){
        .max = UINT32_MAX, .within_ms = 1, .backoff_ms_min = OPEN_MS, .backoff_ms_max = OPEN_MS
    };
    pool = rig_pool(&w->f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static struct probe *make_probe(struct world *w)
{
    struct probe *probe = probe_create();

    probe->opens = opens;
    probe->closes = closes;
    probe->returns = returns;
    probe->takes = is_taken;
    probe->context = w;
    return probe;
}

/* The first worker waits at the queue: another one would open for the first taker otherwise. */
static bool is_at_the_queue(void *context)
{
    const struct world *w = context;

    return atomic_load(&w->pools[0]->pull.sleeping) == size_of(w->row);
}

static void begin_world(struct world *w, const struct row *row, enum hold hold)
{
    const struct setup setup = { .size = 1, .threads = THREADS };
    struct pool_options group = { .path = "group",
                                  .settings = { .route = WEIR_ROUTE_LEAST_LOADED,
                                                .lease = { true, OPEN_MS, SLOTS } } };

    memset(w, 0, sizeof *w);
    begin_as(&w->f, &setup);
    w->row = row;
    w->hold = hold;
    w->held = make_probe(w);
    w->sound = make_probe(w);
    gate_init(&w->gate);
    if (row->groups)
        w->group = rig_pool(&w->f.rig, &group);
    w->pools[0] = make_pool(w, 0);
    CU_ASSERT_TRUE(rig_settled(&w->f.rig, w->pools[0]));
    CU_ASSERT_TRUE(row->route != WEIR_ROUTE_PULL || rig_wait(&w->f.rig, is_at_the_queue, w));
    if (row->groups)
        w->pools[1] = make_pool(w, 1);
    w->f.target = row->groups ? w->group->pid : w->pools[0]->pid;
}

static void return_leases(struct world *w)
{
    if (w->row->leases && (w->hold < CLOSES || w->hold == TAKES))
        CU_ASSERT_EQUAL(result(&w->f, 0, return_done), 0);
    if (w->row->leases && atomic_load(&w->f.slots[1].answer) == 0)
        CU_ASSERT_EQUAL(result(&w->f, 1, return_done), 0);
}

static void finish_world(struct world *w)
{
    struct executor *executor;

    gate_open(&w->gate);
    gate_open(&w->held->gate);
    return_leases(w);
    if (w->hold == KEEPS || w->hold == RETRIES)
        rig_advance(&w->f.rig, OPEN_MS); /* the time-out of its lease replaces it */
    CU_ASSERT_TRUE(rig_end(&w->f.rig, w->row->groups ? w->group : w->pools[0], NULL));
    if (w->row->groups) {
        executor = runtime_enter(w->f.rig.runtime);
        pool_destroy(w->pools[0], executor);
        pool_destroy(w->pools[1], executor);
        runtime_leave(executor);
    }
    finish(&w->f);
    gate_finish(&w->gate);
    probe_destroy(w->held);
    probe_destroy(w->sound);
}

/* --- work ------------------------------------------------------------------------------------- */

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_KEEP;
}

static int try_later(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, OPEN_MS);
    return WEIR_RETRY;
}

static int leave_kept(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    return send_under(self, probe, message, keep);
}

static int leave_retry(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    return send_under(self, probe, message, try_later);
}

static int leave_stashed(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    return send_under(self, probe, message, put_aside);
}

/* What the holder leaves behind; NULL: nothing. */
static probe_act *const left[HOLDS] = {
    [KEEPS] = leave_kept, [RETRIES] = leave_retry, [STASHES] = leave_stashed, [RUNS] = use_long
};

static void occupy_by_lease(struct world *w)
{
    if (w->hold == TAKES) { /* the first taker is to be served, too */
        act(&w->f, 0, take);
        return;
    }
    CU_ASSERT_TRUE(takes(&w->f, 0));
    if (left[w->hold]) {
        CU_ASSERT_EQUAL(result(&w->f, 0, left[w->hold]), 0);
        CU_ASSERT_TRUE(w->hold == RUNS ? gate_await(&w->held->gate, 1)
                                       : rig_noted(&w->f.rig, w->held, 1000, 1));
    }
    if (w->hold >= CLOSES)
        CU_ASSERT_EQUAL(result(&w->f, 0, w->hold == CLOSES ? return_failed : return_done), 0);
}

/* Worker 0 has something to do for long, closes, or does not come back. */
static void occupy(struct world *w)
{
    probe_act *what = w->hold == CLOSES ? probe_fail : probe_wait;

    if (w->row->leases) {
        occupy_by_lease(w);
    } else {
        CU_ASSERT_EQUAL(rig_send(&w->f.rig, w->f.target, (struct order){ .act = what }), 0);
        CU_ASSERT_TRUE(w->hold == CLOSES || gate_await(&w->held->gate, 1));
    }
    if (w->hold == CLOSES || w->hold == RETURNS || w->hold == TAKES)
        CU_ASSERT_TRUE(gate_await(&w->gate, 1));
}

/* One more that waits for a worker. */
static void ask_for_one(struct world *w)
{
    const struct order order = { .act = probe_done, .id = 1 };

    if (w->row->leases)
        act(&w->f, 1, take);
    else
        CU_ASSERT_EQUAL(rig_send(&w->f.rig, w->f.target, order), 0);
}

/* Time goes on with each check. Under other routes the message waits for worker 0. */
static bool is_helped(void *context)
{
    struct world *w = context;

    rig_advance(&w->f.rig, STEP_MS);
    if (w->row->leases)
        return atomic_load(&w->f.slots[0].answer) == 0 && atomic_load(&w->f.slots[1].answer) == 0;
    if (w->row->route == WEIR_ROUTE_PULL)
        return probe_times(w->held, 1) == 1;
    return atomic_load(&w->sound_ones) > 0;
}

static bool is_first_served(void *context)
{
    struct world *w = context;

    rig_advance(&w->f.rig, STEP_MS);
    return atomic_load(&w->f.slots[0].answer) == 0;
}

static void check_row(const struct row *row, enum hold hold)
{
    struct world w;
    bool helped;

    begin_world(&w, row, hold);
    occupy(&w);
    ask_for_one(&w);
    helped = rig_wait(&w.f.rig, is_helped, &w);
    CU_ASSERT_TRUE(helped);
    if (!helped)
        (void)fprintf(stderr, "%s: %s\n", row->name, holds[hold]);
    finish_world(&w);
}

/* promise G2 */
static void test_a_place_that_is_held_does_not_hold_up_growth(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (enum hold hold = FAILS; hold < (rows[i].leases ? HOLDS : KEEPS); hold++)
            check_row(&rows[i], hold);
}

/* promise P33: also in a pool that does not grow. */
static void test_taker_of_a_worker_that_hangs_goes_to_an_idle_one(void)
{
    const struct row row = { "fixed", WEIR_ROUTE_PULL, true, false, 0, true };
    struct world w;

    begin_world(&w, &row, TAKES);
    w.hold = TAKES;
    act(&w.f, 0, take);
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, is_first_served, &w));
    finish_world(&w);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a place that is held does not hold up growth",
          test_a_place_that_is_held_does_not_hold_up_growth },
        { "the taker of a worker that hangs goes to an idle one",
          test_taker_of_a_worker_that_hangs_goes_to_an_idle_one },
        CU_TEST_INFO_NULL,
    };

    return suite_run("scale_pending", tests);
}
