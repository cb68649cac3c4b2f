/* SPDX-License-Identifier: MIT */
/*
 * Goal: an actor learns once, in its own turn, that a watched descriptor is ready, while its
 * incarnation and its watch last; a descriptor that cannot be watched is refused.
 * Method: a poller of the test notes the watches; the test reports readiness at will, also too late
 * and twice.
 */
#include "actor/watched.h"

#include <pthread.h>

#include "actor/standalone.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TOLD 1000u /* notes: this plus the readiness */
#define MAX 8

/* The poller. */
struct fixture {
    struct rig rig;
    struct probe *probe;
    pthread_mutex_t lock;
    uint32_t begun;      /* lock */
    uint32_t ended;      /* lock */
    uint64_t token[MAX]; /* lock: of the watches */
    int descriptor[MAX]; /* lock */
    int answer;          /* const while it runs: of `begin` */
    bool at_once;        /* const while it runs: ready before `begin` returns */
    _Atomic uint64_t watch;
    _Atomic int status;
};

struct early {
    struct fixture *f;
    uint64_t token;
};

static void *report_early(void *early_)
{
    struct early *early = early_;

    CU_ASSERT_EQUAL(runtime_ready(early->f->rig.runtime, early->token, WEIR_READABLE), 0);
    return NULL;
}

static int begin_wait(void *context, int descriptor, uint32_t events, uint64_t token)
{
    struct fixture *f = context;
    struct early early = { f, token };
    pthread_t thread;

    (void)events;
    if (f->answer != 0)
        return f->answer;
    pthread_mutex_lock(&f->lock);
    f->token[f->begun % MAX] = token;
    f->descriptor[f->begun % MAX] = descriptor;
    f->begun++;
    pthread_mutex_unlock(&f->lock);
    if (f->at_once && pthread_create(&thread, NULL, report_early, &early) == 0)
        pthread_join(thread, NULL);
    return 0;
}

static void end_wait(void *context, int descriptor, uint64_t token)
{
    struct fixture *f = context;

    pthread_mutex_lock(&f->lock);
    CU_ASSERT_EQUAL(token, f->token[(f->begun - 1) % MAX]);
    CU_ASSERT_EQUAL(descriptor, f->descriptor[(f->begun - 1) % MAX]);
    f->ended++;
    pthread_mutex_unlock(&f->lock);
}

static void begin(struct fixture *f, bool with_poller)
{
    *f = (struct fixture){ .probe = probe_create() };
    pthread_mutex_init(&f->lock, NULL);
    f->probe->context = f;
    rig_init(&f->rig, 2, 0);
    if (with_poller)
        f->rig.runtime->options.poller = (struct poller){ f, begin_wait, end_wait };
}

static void finish(struct fixture *f)
{
    rig_finish(&f->rig);
    pthread_mutex_destroy(&f->lock);
    probe_destroy(f->probe);
}

static uint64_t last_token(struct fixture *f)
{
    uint64_t token;

    pthread_mutex_lock(&f->lock);
    token = f->token[(f->begun - 1) % MAX];
    pthread_mutex_unlock(&f->lock);
    return token;
}

/* --- what the workers do -------------------------------------------------------------------- */

static void ready(struct weir_self *self, void *state, void *context, int descriptor, int readiness)
{
    struct fixture *f = context;

    (void)self;
    (void)state;
    CU_ASSERT_EQUAL(descriptor, 7);
    probe_note(f->probe, TOLD + (uint64_t)readiness);
}

static int watch(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    uint64_t number = 0;

    (void)message;
    atomic_store(&f->status, weir_watch(self, 7, WEIR_READABLE, ready, f, &number));
    atomic_store(&f->watch, number);
    probe_note(probe, 1);
    return WEIR_DONE;
}

static int unwatch(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    atomic_store(&f->status, weir_unwatch(self, atomic_load(&f->watch)));
    probe_note(probe, 2);
    return WEIR_DONE;
}

static int wrong(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_watch(self, -1, WEIR_READABLE, ready, f, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_watch(self, 7, 0, ready, f, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_watch(self, 7, 8, ready, f, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_watch(self, 7, WEIR_WRITABLE, NULL, f, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_unwatch(self, 0), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_unwatch(self, 99), WEIR_EUNKNOWN);
    probe_note(probe, 3);
    return WEIR_DONE;
}

/* Does one of these `times` in all, and waits until it is done. */
static void order(struct fixture *f, struct pool *pool, probe_act *act, uint64_t id, uint32_t times)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .act = act, .id = 50 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, id, times));
}

/* --- tests ---------------------------------------------------------------------------------- */

/* promise A16 */
static void test_ready_descriptor_is_reported_once(void)
{
    struct fixture f;
    struct pool *pool;
    uint64_t first;

    begin(&f, true);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch, 1, 1);
    first = last_token(&f);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, first, WEIR_READABLE), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TOLD + WEIR_READABLE, 1));
    /* A used token has no watch, also when its place is used again. */
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, first, WEIR_READABLE), 0);
    order(&f, pool, watch, 1, 2);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, first, WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, 0, WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, UINT32_MAX, WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, last_token(&f), 3), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TOLD + 3, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, TOLD + WEIR_READABLE), 1);
    CU_ASSERT_EQUAL(f.ended, 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise A16 */
static void test_descriptor_ready_before_the_call_returns_is_reported_after_it(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, true);
    f.at_once = true;
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch, TOLD + WEIR_READABLE, 1);
    CU_ASSERT_EQUAL(f.status, 0);
    CU_ASSERT_EQUAL(probe_get(f.probe, 1), 1);
    CU_ASSERT_EQUAL(probe_get(f.probe, 2), TOLD + WEIR_READABLE);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise A16 */
static void test_watch_taken_back_is_not_reported(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, true);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch, 1, 1);
    order(&f, pool, unwatch, 2, 1);
    CU_ASSERT_EQUAL(f.status, 0);
    CU_ASSERT_EQUAL(f.ended, 1);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, last_token(&f), WEIR_READABLE), 0);
    order(&f, pool, unwatch, 2, 2);
    CU_ASSERT_EQUAL(f.status, WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(f.ended, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    CU_ASSERT_EQUAL(probe_times(f.probe, TOLD + WEIR_READABLE), 0);
    finish(&f);
}

static int watch_and_unwatch(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    (void)watch(self, probe, message);
    return unwatch(self, probe, message);
}

/* promise A16: the poller was first, and its message is on the way. */
static void test_watch_taken_back_when_it_is_reported_is_not_called(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, true);
    f.at_once = true;
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch_and_unwatch, 2, 1);
    CU_ASSERT_EQUAL(f.status, 0);
    CU_ASSERT_EQUAL(f.ended, 0); /* there is nothing to end any more */
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    CU_ASSERT_EQUAL(probe_times(f.probe, TOLD + WEIR_READABLE), 0);
    finish(&f);
}

/* promise A16 */
static void test_watches_end_with_the_incarnation(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, true);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch, 1, 1);
    order(&f, pool, probe_fail, 50, 2);
    CU_ASSERT_TRUE(rig_settled(&f.rig, pool));
    order(&f, pool, probe_done, 50, 3);
    CU_ASSERT_EQUAL(f.ended, 1);
    CU_ASSERT_EQUAL(runtime_ready(f.rig.runtime, last_token(&f), WEIR_READABLE), 0);
    order(&f, pool, watch, 1, 2);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    CU_ASSERT_EQUAL(f.ended, 2);
    CU_ASSERT_EQUAL(probe_times(f.probe, TOLD + WEIR_READABLE), 0);
    finish(&f);
}

static bool is_open(void *standalone)
{
    return standalone_opening(standalone) == 0;
}

/* A watch without a report is freed with the runtime, which does not wait for it. */
static void test_runtime_ends_while_somebody_watches(void)
{
    struct standalone_options options = { .limit = 4 };
    struct standalone *standalone = NULL;
    struct executor *executor;
    struct fixture f;

    begin(&f, true);
    options.dispatcher = f.rig.dispatcher;
    options.spec = rig_spec(f.probe);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(standalone_create(f.rig.runtime, executor, &options, &standalone), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_open, standalone));
    CU_ASSERT_EQUAL(rig_send(&f.rig, standalone->pid, (struct order){ .act = watch, .id = 50 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    CU_ASSERT_EQUAL(f.ended, 0);
    rig_finish(&f.rig);
    CU_ASSERT_EQUAL(f.ended, 1);
    standalone_destroy(standalone);
    pthread_mutex_destroy(&f.lock);
    probe_destroy(f.probe);
}

/* promise A16 */
static void test_what_cannot_be_waited_for_is_refused(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, true);
    f.answer = WEIR_EEXISTS;
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, wrong, 3, 1);
    order(&f, pool, watch, 1, 1);
    CU_ASSERT_EQUAL(f.status, WEIR_EEXISTS);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    CU_ASSERT_EQUAL(f.ended, 0);
    finish(&f);
}

/* promise A16 */
static void test_runtime_without_a_poller_says_unsupported(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, false);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch, 1, 1);
    CU_ASSERT_EQUAL(f.status, WEIR_EUNSUPPORTED);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* More than the tables begin with, in one actor. */
static int watch_many(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    for (uint32_t i = 0; i < 40; i++)
        (void)watch(self, probe, message);
    return WEIR_DONE;
}

static void test_many_watches_are_reported_each(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, true);
    f.at_once = true;
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    order(&f, pool, watch_many, TOLD + WEIR_READABLE, 40);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once", test_ready_descriptor_is_reported_once },
        { "early", test_descriptor_ready_before_the_call_returns_is_reported_after_it },
        { "taken back", test_watch_taken_back_is_not_reported },
        { "taken back late", test_watch_taken_back_when_it_is_reported_is_not_called },
        { "incarnation", test_watches_end_with_the_incarnation },
        { "runtime", test_runtime_ends_while_somebody_watches },
        { "refused", test_what_cannot_be_waited_for_is_refused },
        { "no poller", test_runtime_without_a_poller_says_unsupported },
        { "many", test_many_watches_are_reported_each },
        CU_TEST_INFO_NULL,
    };

    return suite_run("actor: watched descriptors", tests);
}
