/* SPDX-License-Identifier: MIT */
/*
 * Goal: the origin of a message gets the outcome once, for every way in which a message can end and
 * be forwarded; an ended origin gets none, and an origin that drains waits for it.
 *
 * Method: a pool of one worker sends numbered orders to a pool that settles them as each says; a
 * source of many messages, whose workers return any verdict, keeps account of every token.
 */
#include "actor/source.h"

#include <stdlib.h>
#include <string.h>

#include "actor/send.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define STORM 20000u

/* The last outcome that `settled` got, and the number of calls. */
struct outcomes {
    struct weir_outcome last;
    char reason[24];
    char detail[48];
    uint32_t count;
    uint32_t closed; /* workers closed before */
};

struct fixture {
    struct rig rig;
    struct probe *home; /* the origin's */
    struct probe *away;
    struct pool *home_pool;
    struct pool *away_pool;
    struct outcomes outcomes; /* written before the note of its token */
};

/* --- the origin's side ---------------------------------------------------------------------- */

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct probe *probe = *(struct probe **)state;
    struct outcomes *outcomes = probe->context;

    (void)self;
    outcomes->last = *outcome;
    outcomes->count++;
    outcomes->closed = atomic_load(&probe->closed);
    (void)snprintf(outcomes->reason, sizeof outcomes->reason, "%s", outcome->reason);
    (void)snprintf(outcomes->detail, sizeof outcomes->detail, "%s", outcome->detail);
    probe_note(probe, 1000 + outcome->token);
}

/* An order inside an order: `send_one` sends it. */
struct job {
    struct order order;
    struct order away;
    weir_pid to;
    bool unsent;      /* freed instead of sent */
    uint16_t attempt; /* 0: the first */
};

static int send_one(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct job *job = message->data;
    struct weir_message *sent = probe_message(self, job->away);

    CU_ASSERT_EQUAL(weir_set_origin(self, sent, 999), 0);
    CU_ASSERT_EQUAL(weir_set_origin(self, sent, job->away.id), 0); /* the last one counts */
    CU_ASSERT_EQUAL(weir_request(self, job->to, sent, 1000, NULL, NULL, NULL), WEIR_EINVALID);
    if (job->attempt)
        sent->attempt = job->attempt;
    if (job->unsent)
        weir_message_free(self, sent);
    else
        CU_ASSERT_EQUAL(weir_send(self, job->to, sent), 0);
    probe_note(probe, 500);
    return WEIR_DONE;
}

static void job(struct fixture *f, struct job wanted)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof wanted);

    wanted.order = (struct order){ .act = send_one };
    if (!wanted.to)
        wanted.to = f->away_pool->pid;
    memcpy(message->public.data, &wanted, sizeof wanted);
    CU_ASSERT_EQUAL(send_message(f->rig.runtime, executor, f->home_pool->pid, WEIR_NORMAL, message),
                    0);
    runtime_leave(executor);
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .home = probe_create(), .away = probe_create() };
    f->home->behaviour.settled = settled;
    f->home->context = &f->outcomes;
    rig_init(&f->rig, 2, 0);
    f->home_pool = rig_workers(&f->rig, f->home, "home", 1, 16);
    f->away_pool = rig_workers(&f->rig, f->away, "away", 1, 16);
}

static void finish(struct fixture *f)
{
    gate_open(&f->away->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->home_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->away_pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->home);
    probe_destroy(f->away);
}

/* --- the verdicts --------------------------------------------------------------------------- */

static int reject(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "not mine");
    return WEIR_REJECT;
}

#define LONG_REASON "a reason as long as reasons are, 47 characters."

static int reject_at_length(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "%s", LONG_REASON);
    return WEIR_REJECT;
}

static int again(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, 70);
    return WEIR_RETRY;
}

static void expect(probe_act *act, enum weir_result result, const char *reason, const char *detail)
{
    struct fixture f;
    struct ledger_reading ledger;

    begin(&f);
    job(&f, (struct job){ .away = { .act = act, .id = 7 } });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1007, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, result);
    CU_ASSERT_EQUAL(f.outcomes.last.token, 7);
    CU_ASSERT_EQUAL(f.outcomes.last.attempt, 1);
    CU_ASSERT_EQUAL(f.outcomes.last.delay_ms, result == WEIR_OUTCOME_RETRY ? 70 : 0);
    CU_ASSERT_STRING_EQUAL(f.outcomes.reason, reason);
    CU_ASSERT_STRING_EQUAL(f.outcomes.detail, detail);
    ledger = rig_ledger(f.away_pool);
    CU_ASSERT_EQUAL(ledger.done, result == WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(ledger.dead, result == WEIR_OUTCOME_DEAD);
    CU_ASSERT_EQUAL(ledger.moved, result == WEIR_OUTCOME_RETRY);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

/* promise S8 */
static void test_each_verdict_is_reported_to_the_origin_once(void)
{
    expect(probe_done, WEIR_OUTCOME_DONE, "", "");
    expect(reject, WEIR_OUTCOME_DEAD, "rejected", "not mine");
    expect(reject_at_length, WEIR_OUTCOME_DEAD, "rejected", LONG_REASON);
    expect(again, WEIR_OUTCOME_RETRY, "", "");
    expect(probe_fail, WEIR_OUTCOME_DEAD, "crashed", "order 7");
}

static int pass_on(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct order *order = message->data;

    (void)probe;
    order->act = reject;
    CU_ASSERT_EQUAL(weir_forward(self, order->argument, message), 0);
    return WEIR_DONE;
}

/* promises S7 and S8 */
static void test_forwarded_message_takes_its_origin_along(void)
{
    struct fixture f;
    struct pool *third;

    begin(&f);
    third = rig_workers(&f.rig, f.away, "third", 1, 16);
    job(&f, (struct job){ .away = { .act = pass_on, .id = 8, .argument = third->pid } });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1008, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_TRUE(rig_end(&f.rig, third, NULL));
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

static int pass_on_for_again(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct order *order = message->data;

    (void)probe;
    order->act = again;
    CU_ASSERT_EQUAL(weir_forward(self, order->argument, message), 0);
    return WEIR_DONE;
}

/* Else a worker behind a forward could ask for it without end: promises S8 and V2 */
static void test_forwarded_message_keeps_the_attempt_that_its_origin_counts(void)
{
    struct fixture f;
    struct pool *third;

    begin(&f);
    third = rig_workers(&f.rig, f.away, "third", 1, 16);
    job(&f, (struct job){
                .away = { .act = pass_on_for_again, .id = 9, .argument = third->pid },
                .attempt = 2,
            });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1009, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_RETRY);
    CU_ASSERT_EQUAL(f.outcomes.last.attempt, 2);
    CU_ASSERT_TRUE(rig_end(&f.rig, third, NULL));
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

static int send_another(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_send(self, probe_order(message)->argument,
                              probe_message(self, (struct order){ .act = reject, .id = 90 })),
                    0);
    return WEIR_DONE;
}

/* promise S8 */
static void test_what_a_worker_sends_of_its_own_has_no_origin(void)
{
    struct fixture f;
    struct pool *third;

    begin(&f);
    third = rig_workers(&f.rig, f.away, "third", 1, 16);
    job(&f, (struct job){ .away = { .act = send_another, .id = 9, .argument = third->pid } });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.away, 90, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, third, NULL));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1009, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

/* --- ends ----------------------------------------------------------------------------------- */

static bool is_late(void *context)
{
    return atomic_load(&((struct runtime *)context)->late_notices) == 1;
}

/* promise S8 */
static void test_next_incarnation_is_not_notified_of_the_last_ones_messages(void)
{
    struct fixture f;

    begin(&f);
    job(&f, (struct job){ .away = { .act = probe_wait, .id = 7 } });
    CU_ASSERT_TRUE(gate_await(&f.away->gate, 1));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.home_pool->pid, (struct order){ .act = probe_fail, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.home_pool));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1, 1));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.home_pool->pid, (struct order){ .act = probe_done, .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 2, 1)); /* the next incarnation is there */
    gate_open(&f.away->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_late, f.rig.runtime));
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 0);
}

/* promise S8 */
static void test_origin_that_shall_end_waits_for_its_messages(void)
{
    struct fixture f;
    struct pool *third;

    begin(&f);
    third = rig_workers(&f.rig, f.away, "third", 1, 16);
    job(&f, (struct job){ .away = { .act = probe_wait, .id = 7 } });
    CU_ASSERT_TRUE(gate_await(&f.away->gate, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 500, 1));
    rig_close(&f.rig, f.home_pool);
    /* There is one free thread: when it has come to this, it has obeyed the close. */
    CU_ASSERT_EQUAL(rig_send(&f.rig, third->pid, (struct order){ .id = 300 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.away, 300, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.home->closed), 0);
    gate_open(&f.away->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 1007, 1));
    CU_ASSERT_EQUAL(f.outcomes.closed, 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, third, NULL));
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

static void test_message_that_is_never_sent_is_not_reported(void)
{
    struct fixture f;

    begin(&f);
    job(&f, (struct job){ .away = { .id = 7 }, .unsent = true });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, 500, 1));
    finish(&f); /* and is not waited for */
    CU_ASSERT_EQUAL(f.outcomes.count, 0);
}

static int set_in_vain(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct weir_message *made = probe_message(self, (struct order){ 0 });

    (void)message;
    probe_note(probe, (uint64_t)-weir_set_origin(self, made, 1));
    weir_message_free(self, made);
    return WEIR_DONE;
}

static void test_origin_that_cannot_be_notified_is_refused(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.away_pool->pid, (struct order){ .act = set_in_vain }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.away, (uint64_t)-WEIR_EINVALID, 1));
    finish(&f);
}

/* --- many ----------------------------------------------------------------------------------- */

/* A source that sends rejected messages again, and ends when all tokens have ended. */
struct flood {
    uint64_t next;
    uint64_t open;
    uint64_t again_first, again_count; /* a ring of tokens */
    uint64_t again[STORM];
    uint8_t attempts[STORM];
    uint8_t ends[STORM]; /* times it was done or dead */
    uint32_t retries;
};

static void emit_one(struct weir_self *self, struct flood *flood, uint64_t token)
{
    struct weir_message *message = probe_message(self, (struct order){ .id = token });

    CU_ASSERT_EQUAL(weir_set_origin(self, message, token), 0);
    message->attempt = ++flood->attempts[token];
    CU_ASSERT_EQUAL(weir_emit(self, 0, message), 0);
    flood->open++;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct flood *flood = *(struct flood **)state;

    while (credit-- > 0) {
        if (flood->again_count > 0) {
            emit_one(self, flood, flood->again[flood->again_first++ % STORM]);
            flood->again_count--;
        } else if (flood->next < STORM) {
            emit_one(self, flood, flood->next++);
        } else {
            return flood->open ? WEIR_WAIT : WEIR_END;
        }
    }
    return WEIR_MORE;
}

static void account(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct flood *flood = *(struct flood **)state;

    (void)self;
    CU_ASSERT_EQUAL(outcome->attempt, flood->attempts[outcome->token]);
    flood->open--;
    if (outcome->result != WEIR_OUTCOME_RETRY) {
        flood->ends[outcome->token]++;
        return;
    }
    flood->retries++;
    flood->again[(flood->again_first + flood->again_count++) % STORM] = outcome->token;
}

static int open_flood(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct flood **)state = (struct flood *)(uintptr_t)settings;
    return 0;
}

/* Any verdict, by the number and the attempt; a message is rejected at most three times. */
static int anything(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const uint64_t id = probe_order(message)->id;

    (void)self;
    (void)probe;
    if (id % 1000 == 999)
        return WEIR_FAIL;
    return id % 7 == 3 ? WEIR_RETRY : id % 5 == 2 ? WEIR_REJECT : WEIR_DONE;
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static void check_flood(const struct flood *flood)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < STORM; i++)
        wrong += flood->ends[i] != 1;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(flood->open, 0);
    CU_ASSERT_TRUE(flood->retries > STORM / 10);
}

static struct source *begin_flood(struct rig *rig, struct spec *spec, weir_pid target)
{
    struct executor *executor = runtime_enter(rig->runtime);
    struct source_options options = { .path = "flood",
                                      .output_count = 1,
                                      .dispatcher = rig->dispatcher,
                                      .spec = spec,
                                      .target = target };
    struct source *source = NULL;

    CU_ASSERT_EQUAL(source_create(rig->runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    return source;
}

/* promise S8: over 20000 messages and all verdicts, each outcome is reported exactly once. */
static void test_every_token_of_a_source_ends_once(void)
{
    struct flood *flood = calloc(1, sizeof *flood);
    const struct weir_behaviour behaviour = { .name = "flood",
                                              .state_size = sizeof flood,
                                              .open = open_flood,
                                              .produce = produce,
                                              .settled = account };
    struct spec *spec = spec_create(&behaviour, flood);
    struct probe *away = probe_create();
    struct spec *workers;
    struct rig rig;
    struct pool *pool;
    struct source *source;
    struct executor *executor;

    away->act = anything;
    rig_init(&rig, 3, 0);
    workers = rig_spec(away);
    workers->restart.max = UINT32_MAX; /* this clock would never let a backoff end */
    pool = rig_pool(&rig,
                    &(struct pool_options){ .spec = workers, .size = 4, .settings.mailbox = 8 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    source = begin_flood(&rig, spec, pool->pid);
    CU_ASSERT_TRUE(rig_wait(&rig, has_ended, source));
    check_flood(flood);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    executor = runtime_enter(rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
    spec_unref(spec);
    spec_unref(workers);
    rig_finish(&rig);
    probe_destroy(away);
    free(flood);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "verdicts", test_each_verdict_is_reported_to_the_origin_once },
        { "forward", test_forwarded_message_takes_its_origin_along },
        { "forwarded attempt", test_forwarded_message_keeps_the_attempt_that_its_origin_counts },
        { "own messages", test_what_a_worker_sends_of_its_own_has_no_origin },
        { "next incarnation", test_next_incarnation_is_not_notified_of_the_last_ones_messages },
        { "waits", test_origin_that_shall_end_waits_for_its_messages },
        { "never sent", test_message_that_is_never_sent_is_not_reported },
        { "refused", test_origin_that_cannot_be_notified_is_refused },
        { "many", test_every_token_of_a_source_ends_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("origin", tests);
}
