/* SPDX-License-Identifier: MIT */
/*
 * Goal: when memory is out while a message with an origin is handled, the origin is notified once,
 * after all that was emitted, and with the right outcome; also when its dead letter is stored. A
 * worker that waits for a token without memory for a timer gets the token when it is due, and
 * leaves the others their turns.
 *
 * Method: shortage.h; the nth allocation of the only dispatcher thread fails, or all from there on,
 * for n = 1 and so on until none has to.
 */
#include <string.h>

#include "face/dead_store.h"
#include "pool/settings.h"
#include "unit/host/suite.h"
#include "unit/support/job.h"
#include "unit/support/shortage.h"

#define ALLOCATIONS_MAX 100u
#define TOLD 1000u /* a note: TOLD + token */
#define EMITTED 20u
#define REASON "a reason that needs more room than the message" /* 46 bytes; 47 are kept */

struct fixture {
    struct rig rig;
    struct probe *home; /* the origin's */
    struct probe *first;
    struct probe *second;
    struct pool *home_pool;
    struct pool *first_pool; /* its output leads to the second */
    struct pool *second_pool;
    uint32_t nth;                 /* the allocation that fails */
    uint32_t left;                /* allocations that were left before one would fail */
    int status;                   /* of the emit */
    uint32_t outcomes;            /* that the origin has got */
    struct weir_outcome last;     /* written before the note of its token */
    char reason[24], detail[48];  /* likewise */
    _Atomic uint64_t last_record; /* of the dead letters */
};

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct probe *probe = *(struct probe **)state;
    struct fixture *f = probe->context;

    (void)self;
    f->left = shortage_end();
    f->outcomes++;
    f->last = *outcome;
    (void)snprintf(f->reason, sizeof f->reason, "%s", outcome->reason);
    (void)snprintf(f->detail, sizeof f->detail, "%s", outcome->detail);
    probe_note(probe, TOLD + outcome->token);
}

static uint64_t append(void *context, const struct dead_record *record, bool is_awaited)
{
    (void)record;
    (void)is_awaited;
    return atomic_fetch_add(&((struct fixture *)context)->last_record, 1) + 1;
}

static bool is_never_full(void *context, const char *path)
{
    (void)path;
    (void)context;
    return false;
}

static struct pool *feeder(struct fixture *f, const struct rate *rate)
{
    struct binding binding = { f->second_pool->pid, WEIR_FULL_WAIT };
    struct pool_options options = { .path = "first",
                                    .size = 1,
                                    .settings.mailbox = 16,
                                    .output_count = 1,
                                    .outputs = &binding,
                                    .rates = rate };
    struct pool *pool;

    options.spec = rig_spec(f->first);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

/* Each of the `seconds` members of the second pool gets every emitted message. */
static void begin(struct fixture *f, uint32_t seconds, const struct rate *rate)
{
    struct pool_options options = { .path = "second", .size = seconds, .settings.mailbox = 16 };

    *f = (struct fixture){ .home = probe_create(),
                           .first = probe_create(),
                           .second = probe_create() };
    f->home->behaviour.settled = settled;
    f->home->context = f->first->context = f->second->context = f;
    rig_init(&f->rig, 1, 0);
    f->rig.runtime->options.dead_store = (struct dead_store){ .context = f,
                                                              .append = append,
                                                              .is_full = is_never_full };
    f->home_pool = rig_workers(&f->rig, f->home, "home", 1, 16);
    if (seconds > 1)
        options.settings.route = WEIR_ROUTE_BROADCAST;
    options.spec = rig_spec(f->second);
    f->second_pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->second_pool));
    f->first_pool = feeder(f, rate);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->home_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->first_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->second_pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->home);
    probe_destroy(f->first);
    probe_destroy(f->second);
}

/* --- origins ---------------------------------------------------------------------------------- */

static void send_first(struct fixture *f, probe_act *act, uint64_t id)
{
    job_send(&f->rig, (struct job){ .by = f->home_pool->pid,
                                    .to = f->first_pool->pid,
                                    .order = { .act = act, .id = id } });
}

static int emit_in_need(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *made = probe_message(self, (struct order){ .id = EMITTED });

    (void)message;
    shortage_begin(f->nth, false);
    f->status = weir_emit(self, 0, made);
    if (f->status != 0)
        weir_message_free(self, made);
    return WEIR_DONE;
}

/* True: an allocation has failed. */
static bool emit_with_failure(uint32_t nth, uint32_t seconds)
{
    struct fixture f;
    uint32_t left;

    begin(&f, seconds, NULL);
    f.nth = nth;
    send_first(&f, emit_in_need, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    left = f.left;
    CU_ASSERT_EQUAL(f.last.result, WEIR_OUTCOME_DONE);
    CU_ASSERT_TRUE(f.status == 0 || f.status == WEIR_ENOMEM);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.second_pool));
    CU_ASSERT_TRUE(f.status == 0 || probe_times(f.second, EMITTED) == 0);
    CU_ASSERT_TRUE(f.status != 0 || probe_times(f.second, EMITTED) > 0);
    CU_ASSERT_TRUE(left == 0 || probe_times(f.second, EMITTED) == seconds);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes, 1);
    return left == 0;
}

/* promise S14 */
static void test_emit_without_memory_to_join_is_refused_and_the_origin_notified(void)
{
    for (uint32_t seconds = 1; seconds <= 3; seconds++) {
        uint32_t nth = 1;

        while (nth < ALLOCATIONS_MAX && emit_with_failure(nth, seconds))
            nth++;
        CU_ASSERT_TRUE(nth > 1 && nth < ALLOCATIONS_MAX); /* the join is one */
    }
}

/* Nothing is left for this thread until the origin has been notified. */
static int reject_in_need(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    weir_reason(self, REASON);
    shortage_begin(f->nth, true);
    return WEIR_REJECT;
}

static bool has_appended(void *context)
{
    return atomic_load(&((struct fixture *)context)->last_record) > 0;
}

/* True: an allocation has failed. */
static bool store_with_failure(uint32_t nth, bool is_stored)
{
    struct fixture f;
    bool has_failed;

    begin(&f, 1, NULL);
    f.nth = nth;
    send_first(&f, reject_in_need, 7);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_appended, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    CU_ASSERT_EQUAL(probe_times(f.home, TOLD + 7), 0);
    CU_ASSERT_EQUAL(runtime_stored(f.rig.runtime, 1, is_stored), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    has_failed = f.left <= 1; /* with 1 perhaps not, then the next round ends */
    CU_ASSERT_EQUAL(f.last.result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_EQUAL(f.last.is_stored, is_stored);
    CU_ASSERT_STRING_EQUAL(f.reason, "rejected");
    CU_ASSERT_EQUAL(strncmp(f.detail, REASON, strlen(f.detail)), 0);
    CU_ASSERT_TRUE(has_failed || strcmp(f.detail, REASON) == 0);
    CU_ASSERT_EQUAL(rig_dead(f.first_pool, DEAD_REJECTED), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes, 1);
    return has_failed;
}

/* promise L8 */
static void test_origin_of_a_stored_dead_letter_is_notified_without_memory(void)
{
    uint32_t nth = 1;

    while (nth < ALLOCATIONS_MAX && store_with_failure(nth, nth % 2))
        nth++;
    CU_ASSERT_TRUE(nth > 2 && nth < ALLOCATIONS_MAX);
}

/* promise L8: a program without memory to enter the runtime calls again. */
static void test_store_without_memory_to_enter_notifies_at_the_next_call(void)
{
    struct fixture f;
    struct executor *entered;

    begin(&f, 1, NULL);
    send_first(&f, reject_in_need, 7);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_appended, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    entered = runtime_enter(f.rig.runtime);
    shortage_begin(1, true);
    CU_ASSERT_EQUAL(runtime_stored(f.rig.runtime, 1, true), WEIR_ENOMEM);
    (void)shortage_end();
    runtime_leave(entered);
    CU_ASSERT_EQUAL(probe_times(f.home, TOLD + 7), 0);
    CU_ASSERT_EQUAL(runtime_stored(f.rig.runtime, 1, true), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.last.is_stored, 1);
    finish(&f);
}

/* --- tokens ----------------------------------------------------------------------------------- */

static int end_need(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)message;
    ((struct fixture *)probe->context)->left = shortage_end();
    return WEIR_DONE;
}

/* The first one has a token. The second waits for one, or is refused without memory to wait. */
static int emit_two_in_need(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *made = probe_message(self, (struct order){ .id = EMITTED });
    struct weir_message *late = probe_message(self,
                                              (struct order){ .act = end_need, .id = EMITTED + 1 });

    (void)message;
    shortage_begin(f->nth, true);
    CU_ASSERT_EQUAL(weir_emit(self, 0, made), 0);
    f->status = weir_emit(self, 0, late);
    if (f->status != 0) {
        (void)shortage_end();
        weir_message_free(self, late);
    }
    probe_note(probe, EMITTED);
    return WEIR_DONE;
}

static bool waits_for_a_token(void *context)
{
    return rig_stats(((struct fixture *)context)->first_pool).throttled == 1;
}

static void expect_the_late_one(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_wait(&f->rig, waits_for_a_token, f));
    /* Turns of others. */
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->home_pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->home, 1, 1));
    CU_ASSERT_EQUAL(probe_times(f->second, EMITTED + 1), 0);
    rig_advance(&f->rig, 101);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->second, EMITTED + 1, 1));
}

/* True: an allocation has failed. */
static bool wait_for_a_token_with_failure(uint32_t nth)
{
    static const struct rate ten_a_second = { .messages = 10, .burst = 1, .per_ms = 1000 };
    struct fixture f;
    bool has_failed;

    begin(&f, 1, &ten_a_second);
    f.nth = nth;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.first_pool->pid, (struct order){ .act = emit_two_in_need }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.first, EMITTED, 1));
    CU_ASSERT_TRUE(f.status == 0 || f.status == WEIR_ENOMEM);
    if (f.status == 0) {
        expect_the_late_one(&f);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.second_pool)); /* the late one has set `left` */
    }
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    CU_ASSERT_EQUAL(rig_stats(f.first_pool).throttled, 0);
    has_failed = f.left <= 1; /* with 1 perhaps not, then the next round ends */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.second, EMITTED, 1));
    finish(&f);
    return has_failed;
}

/* promises O9 and D3 */
static void test_worker_without_memory_to_wait_for_a_token_gets_it_in_time(void)
{
    uint32_t nth = 1;

    while (nth < ALLOCATIONS_MAX && wait_for_a_token_with_failure(nth))
        nth++;
    CU_ASSERT_TRUE(nth > 2 && nth < ALLOCATIONS_MAX);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "join", test_emit_without_memory_to_join_is_refused_and_the_origin_notified },
        { "stored", test_origin_of_a_stored_dead_letter_is_notified_without_memory },
        { "no memory to enter", test_store_without_memory_to_enter_notifies_at_the_next_call },
        { "token", test_worker_without_memory_to_wait_for_a_token_gets_it_in_time },
        CU_TEST_INFO_NULL,
    };

    return suite_run("actor shortage", tests);
}
