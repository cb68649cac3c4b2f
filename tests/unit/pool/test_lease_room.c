/* SPDX-License-Identifier: MIT */
/*
 * Goal: a leased worker that waits for room at an output comes back within the time-out of its
 * lease, in whatever way the lease ends; what it has emitted is sent if there is room by then.
 *
 * Method: a table of outputs without room, and of ends of a lease, with holders of lease_rig.h; a
 * clock that the test moves.
 */
#include <stdio.h>

#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"
#include "unit/support/wait_limit.h"

#include <weir/plugin.h>

#define EMITS 4u
#define HOUR_MS 3600000u

/* Why the output has no room. */
enum lack {
    PAUSED, /* the pool behind it is paused */
    FULL,   /* its worker is busy, and its mailbox is full */
    RATED,  /* there is one token in an hour */
    LACKS,
};

static const struct {
    const char *name;
    probe_act *end; /* of the lease; NULL: it expires */
} ends[] = {
    { "returned", return_done },
    { "returned as failed", return_failed },
    { "its holder ends", stop },
    { "expired", NULL },
};

#define ENDS (sizeof ends / sizeof ends[0])

struct world {
    struct fixture f;
    struct probe *member;
    struct probe *receiver;
    struct pool *sink;
    struct pool *pool;
};

/* --- pools ------------------------------------------------------------------------------------ */

static struct pool *make(struct world *w, struct probe *probe, struct pool_options *options)
{
    struct pool *pool;

    options->spec = rig_spec(probe);
    options->size = 1;
    pool = rig_pool(&w->f.rig, options);
    spec_unref(options->spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&w->f.rig, pool));
    return pool;
}

static void pause_sink(struct world *w, bool paused)
{
    struct executor *executor = runtime_enter(w->f.rig.runtime);

    pool_pause(w->sink, paused, executor);
    runtime_leave(executor);
}

static void begin_world(struct world *w, enum lack lack)
{
    const struct rate rate = { .messages = 1, .burst = 1, .per_ms = HOUR_MS };
    struct pool_options sink = { .path = "sink", .settings.mailbox = lack == RATED ? 64 : 1 };
    struct binding binding = { .when_full = WEIR_FULL_WAIT };
    struct pool_options fed = { .path = "fed",
                                .output_count = 1,
                                .outputs = &binding,
                                .rates = lack == RATED ? &rate : NULL,
                                .settings = { .route = WEIR_ROUTE_PULL,
                                              .mailbox = 4,
                                              .remove = { .timeout_ms = 500 },
                                              .lease = { true, LEASE_MS, SLOTS } } };

    begin(&w->f, 1, 0);
    w->member = probe_create();
    w->receiver = probe_create();
    w->receiver->act = lack == FULL ? probe_wait : probe_done;
    w->sink = make(w, w->receiver, &sink);
    binding.target = w->sink->pid;
    w->pool = make(w, w->member, &fed);
    w->f.target = w->pool->pid;
    if (lack == PAUSED)
        pause_sink(w, true);
}

static void finish_world(struct world *w)
{
    gate_open(&w->receiver->gate);
    pause_sink(w, false);
    CU_ASSERT_EQUAL(result(&w->f, 1, return_done), 0);
    CU_ASSERT_TRUE(rig_end(&w->f.rig, w->pool, NULL));
    CU_ASSERT_TRUE(rig_end(&w->f.rig, w->sink, NULL));
    finish(&w->f);
    probe_destroy(w->member);
    probe_destroy(w->receiver);
}

/* --- what the worker emits -------------------------------------------------------------------- */

static int emit_some(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    for (uint32_t i = 0; i < EMITS; i++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = 7 })), 0);
    return WEIR_DONE;
}

static int leave_unsent(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    return send_under(self, probe, message, emit_some);
}

static bool waits_for_room(void *context)
{
    const struct world *w = context;

    return rig_stats(w->pool).held > 0;
}

static void use_and_end(struct world *w, probe_act *end)
{
    CU_ASSERT_TRUE(takes(&w->f, 0));
    CU_ASSERT_EQUAL(result(&w->f, 0, leave_unsent), 0);
    CU_ASSERT_TRUE(rig_wait(&w->f.rig, waits_for_room, w));
    if (end)
        act(&w->f, 0, end);
}

static bool has_answer(void *context)
{
    return atomic_load((_Atomic int *)context) != NOT_YET;
}

/* Lets time pass until the taker is served. */
static bool takes_in_time(struct world *w, uint32_t slot)
{
    _Atomic int *answer = &w->f.slots[slot].answer;

    act(&w->f, slot, take);
    for (uint32_t i = 0; i < wait_limit_ms() / 4 && !has_answer(answer); i++) {
        rig_advance(&w->f.rig, LEASE_MS / 4);
        (void)runtime_wait(w->f.rig.runtime, has_answer, answer, 4);
    }
    return atomic_load(answer) == 0;
}

/* promise P34 */
static void test_worker_without_room_comes_back_in_time(void)
{
    for (enum lack lack = PAUSED; lack < LACKS; lack++) {
        for (size_t i = 0; i < ENDS; i++) {
            struct world w;
            bool in_time;

            begin_world(&w, lack);
            use_and_end(&w, ends[i].end);
            in_time = takes_in_time(&w, 1);
            CU_ASSERT_TRUE(in_time);
            if (!in_time)
                (void)fprintf(stderr, "%d: %s\n", (int)lack, ends[i].name);
            CU_ASSERT_TRUE(rig_dead(w.pool, DEAD_OUTPUT_FULL) > 0);
            CU_ASSERT_EQUAL(atomic_load(&w.member->opened), 2);
            CU_ASSERT_EQUAL(atomic_load(&w.member->closed), 1);
            finish_world(&w);
        }
    }
}

/* promise P34: the lease that was returned as failed has closed the worker at once. */
static void test_what_was_emitted_waits_for_room_until_then(void)
{
    struct world w;

    begin_world(&w, PAUSED);
    use_and_end(&w, return_failed);
    CU_ASSERT_TRUE(counts(&w.f, &w.member->closed, 1));
    rig_advance(&w.f.rig, LEASE_MS - 1);
    pause_sink(&w, false);
    CU_ASSERT_TRUE(rig_noted(&w.f.rig, w.receiver, 7, EMITS));
    CU_ASSERT_TRUE(takes(&w.f, 1));
    CU_ASSERT_EQUAL(rig_dead(w.pool, DEAD_OUTPUT_FULL), 0);
    finish_world(&w);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a worker without room comes back in time", test_worker_without_room_comes_back_in_time },
        { "what was emitted waits for room until then",
          test_what_was_emitted_waits_for_room_until_then },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_room", tests);
}
