/* SPDX-License-Identifier: MIT */
/*
 * Goal: an origin is notified of its message once, when all that was emitted while that message, or
 * one of these, was handled has ended; dead if one of them is dead.
 *
 * Method: a worker sends numbered orders with itself as origin through two pools, the second of
 * which waits at a gate; a source of many messages that multiply counts what lives of each.
 */
#include <stdlib.h>
#include <string.h>

#include "actor/source.h"
#include "pool/settings.h"
#include "unit/host/suite.h"
#include "unit/support/job.h"

#define TOLD 1000u /* a note: TOLD + token */
#define STORM 4000u

struct outcomes {
    struct weir_outcome last;
    char reason[24];
    char detail[48];
    uint32_t count;
};

struct fixture {
    struct rig rig;
    struct probe *home; /* the origin's */
    struct probe *first;
    struct probe *second;
    struct pool *home_pool;
    struct pool *first_pool; /* its output leads to the second */
    struct pool *second_pool;
    struct outcomes outcomes; /* written before the note of its token */
};

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct probe *probe = *(struct probe **)state;
    struct outcomes *outcomes = probe->context;

    (void)self;
    outcomes->last = *outcome;
    outcomes->count++;
    (void)snprintf(outcomes->reason, sizeof outcomes->reason, "%s", outcome->reason);
    (void)snprintf(outcomes->detail, sizeof outcomes->detail, "%s", outcome->detail);
    probe_note(probe, TOLD + outcome->token);
}

static void send_first(struct fixture *f, probe_act *act, uint64_t id)
{
    job_send(&f->rig, (struct job){ .by = f->home_pool->pid,
                                    .to = f->first_pool->pid,
                                    .order = { .act = act, .id = id },
                                    .label = "piece 7" });
}

static struct pool *stage(struct rig *rig, struct probe *probe, const char *path, weir_pid to,
                          enum weir_when_full when_full)
{
    struct binding binding = { to, when_full };
    struct spec *spec = rig_spec(probe);
    struct pool *pool;

    spec->in_hand_max = 4;
    pool = rig_pool(rig, &(struct pool_options){ .path = path,
                                                 .spec = spec,
                                                 .size = 1,
                                                 .settings.mailbox = 16,
                                                 .output_count = 1,
                                                 .outputs = &binding });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(rig, pool));
    return pool;
}

static void begin(struct fixture *f, uint32_t seconds, uint32_t limit,
                  enum weir_when_full when_full)
{
    *f = (struct fixture){ .home = probe_create(),
                           .first = probe_create(),
                           .second = probe_create() };
    f->home->behaviour.settled = settled;
    f->home->context = &f->outcomes;
    rig_init(&f->rig, 1 + seconds, 0);
    f->home_pool = rig_workers(&f->rig, f->home, "home", 1, 16);
    f->second_pool = rig_workers(&f->rig, f->second, "second", seconds, limit);
    f->first_pool = stage(&f->rig, f->first, "first", f->second_pool->pid, when_full);
}

static void finish(struct fixture *f)
{
    gate_open(&f->second->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->home_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->first_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->second_pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->home);
    probe_destroy(f->first);
    probe_destroy(f->second);
}

/* --- the first stage -------------------------------------------------------------------------- */

static void emit(struct weir_self *self, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .act = act, .id = id })),
                    0);
}

static int emit_one_that_waits(struct weir_self *self, struct probe *probe,
                               const struct weir_message *message)
{
    (void)probe;
    (void)message;
    emit(self, probe_done, 20);
    emit(self, probe_wait, 21);
    return WEIR_DONE;
}

static int refuse(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "not mine");
    return WEIR_REJECT;
}

static int emit_one_that_is_rejected(struct weir_self *self, struct probe *probe,
                                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    emit(self, refuse, 20);
    emit(self, probe_done, 21);
    return WEIR_DONE;
}

/* promise S14 */
static void test_origin_waits_for_what_was_emitted(void)
{
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, emit_one_that_waits, 7);
    CU_ASSERT_TRUE(gate_await(&f.second->gate, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    CU_ASSERT_EQUAL(f.outcomes.count, 0);
    gate_open(&f.second->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(f.outcomes.last.token, 7);
    CU_ASSERT_EQUAL(f.outcomes.last.attempt, 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

/* promise S14 */
static void test_one_dead_message_makes_the_outcome_dead(void)
{
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, emit_one_that_is_rejected, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_STRING_EQUAL(f.outcomes.reason, "rejected");
    CU_ASSERT_STRING_EQUAL(f.outcomes.detail, "not mine");
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

/* Its own, and that of what was emitted while it was handled. The outcome is for the program that
 * has made the label. */
static void test_dead_letters_have_the_label(void)
{
    static probe_act *const acts[] = { refuse, emit_one_that_is_rejected };
    struct fixture f;

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct dead_letter letter = { .detail = "" };

        begin(&f, 1, 16, WEIR_FULL_WAIT);
        send_first(&f, acts[i], 7);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
        CU_ASSERT_STRING_EQUAL(f.outcomes.detail, "not mine");
        CU_ASSERT_EQUAL(
            dead_letters_read(i == 0 ? &f.first_pool->dead : &f.second_pool->dead, &letter, 1), 1);
        CU_ASSERT_STRING_EQUAL(letter.detail, "not mine; piece 7");
        finish(&f);
    }
}

static int emit_labelled(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    const struct order order = { .act = refuse, .id = 20 };
    struct weir_message *sent = weir_message_new_labelled(self, NULL, sizeof order, "part 3");

    (void)probe;
    (void)message;
    CU_ASSERT_PTR_NOT_NULL_FATAL(sent);
    memcpy(sent->data, &order, sizeof order);
    CU_ASSERT_EQUAL(weir_emit(self, 0, sent), 0);
    return WEIR_DONE;
}

static void test_joined_message_keeps_its_own_label(void)
{
    struct dead_letter letter = { .detail = "" };
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, emit_labelled, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(dead_letters_read(&f.second_pool->dead, &letter, 1), 1);
    CU_ASSERT_STRING_EQUAL(letter.detail, "not mine; part 3");
    finish(&f);
}

static int emit_detached(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct weir_message *made = probe_message(self, (struct order){ .act = probe_wait, .id = 21 });

    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_detach(self, made), 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, made), 0);
    return WEIR_DONE;
}

static void test_origin_does_not_wait_for_a_detached_message(void)
{
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, emit_detached, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

static int emit_and_retry_once(struct weir_self *self, struct probe *probe,
                               const struct weir_message *message)
{
    (void)probe;
    emit(self, probe_done, 20);
    return message->attempt == 1 ? WEIR_RETRY : WEIR_DONE;
}

/* It does not go back: the origin would send it once more, beside what was emitted. */
static void test_message_from_which_others_came_is_retried_in_place(void)
{
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, emit_and_retry_once, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(probe_times(f.second, 20), 2);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

/* Two of them: the second has no room, and is the worker's again. */
static int emit_until_refused(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    struct weir_message *made;

    (void)probe;
    (void)message;
    do
        made = probe_message(self, (struct order){ .act = probe_done, .id = 20 });
    while (weir_emit(self, 0, made) == 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, made), WEIR_EFULL);
    weir_message_free(self, made);
    return WEIR_DONE;
}

static void test_refused_message_does_not_count(void)
{
    struct fixture f;

    begin(&f, 1, 2, WEIR_FULL_REJECT);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.second_pool->pid, (struct order){ .act = probe_wait, .id = 9 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.second->gate, 1));
    send_first(&f, emit_until_refused, 7);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.home_pool));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    gate_open(&f.second->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

static void test_origin_waits_for_each_copy_of_a_broadcast(void)
{
    struct fixture f;

    begin(&f, 3, 16, WEIR_FULL_WAIT);
    pool_set_route(f.second_pool, WEIR_ROUTE_BROADCAST);
    send_first(&f, emit_one_that_waits, 7);
    CU_ASSERT_TRUE(gate_await(&f.second->gate, 3));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    CU_ASSERT_EQUAL(f.outcomes.count, 0);
    gate_open(&f.second->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    probe->context = (void *)(uintptr_t)message;
    return WEIR_KEEP;
}

/* Settles the kept message after a message that it joins, and one that is freed. */
static int emit_for_the_kept_one(struct weir_self *self, struct probe *probe,
                                 const struct weir_message *message)
{
    struct weir_message *kept = probe->context;
    struct weir_message *made = probe_message(self, (struct order){ .act = probe_wait, .id = 21 });
    struct weir_message *unsent = probe_message(self, (struct order){ .id = 22 });

    CU_ASSERT_EQUAL(weir_join(self, made, kept), 0);
    CU_ASSERT_EQUAL(weir_join(self, made, kept), WEIR_EINVALID); /* it has joined */
    CU_ASSERT_EQUAL(weir_join(self, unsent, message), 0);        /* this one has no origin */
    CU_ASSERT_EQUAL(weir_join(self, unsent, kept), 0);
    CU_ASSERT_EQUAL(weir_detach(self, unsent), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_request(self, weir_pool(self), unsent, 1000, NULL, NULL, NULL),
                    WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_emit(self, 0, made), 0);
    CU_ASSERT_EQUAL(weir_settle(self, kept, WEIR_DONE), 0);
    weir_message_free(self, unsent);
    return WEIR_DONE;
}

static void test_message_joins_the_origin_of_a_kept_one(void)
{
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, keep, 7);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.home_pool));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.first_pool->pid, (struct order){ .act = emit_for_the_kept_one }), 0);
    CU_ASSERT_TRUE(gate_await(&f.second->gate, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    CU_ASSERT_EQUAL(f.outcomes.count, 0);
    gate_open(&f.second->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.outcomes.last.result, WEIR_OUTCOME_DONE);
    finish(&f);
    CU_ASSERT_EQUAL(f.outcomes.count, 1);
}

/* Memory that is left over shows under LeakSanitizer. */
static void test_runtime_that_ends_frees_joined_messages(void)
{
    struct fixture f;

    begin(&f, 1, 16, WEIR_FULL_WAIT);
    send_first(&f, keep, 7);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.home_pool));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.first_pool->pid, (struct order){ .act = emit_for_the_kept_one }), 0);
    CU_ASSERT_TRUE(gate_await(&f.second->gate, 1));
    gate_open(&f.second->gate);
    finish(&f);
}

/* --- many ------------------------------------------------------------------------------------- */

/* What lives of each token, and how it ended. */
struct storm {
    uint64_t next;
    uint64_t open;
    _Atomic uint32_t living[STORM];
    _Atomic bool dies[STORM]; /* one of its messages is dead */
    uint8_t ends[STORM];
    uint32_t early; /* notices that came while a message lived */
    uint32_t wrong; /* results that are not what became of the messages */
    uint32_t dead;
};

static struct storm *storm;

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    (void)state;
    while (credit-- > 0 && storm->next < STORM) {
        struct weir_message *made = probe_message(self, (struct order){ .id = storm->next });

        atomic_fetch_add(&storm->living[storm->next], 1);
        CU_ASSERT_EQUAL(weir_set_origin(self, made, storm->next), 0);
        CU_ASSERT_EQUAL(weir_emit(self, 0, made), 0);
        storm->next++;
        storm->open++;
    }
    return storm->next < STORM ? WEIR_MORE : storm->open ? WEIR_WAIT : WEIR_END;
}

static void account(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    (void)state;
    storm->open--;
    storm->ends[outcome->token]++;
    storm->early += atomic_load(&storm->living[outcome->token]) != 0;
    storm->dead += outcome->result == WEIR_OUTCOME_DEAD;
    storm->wrong += (outcome->result == WEIR_OUTCOME_DEAD) !=
                    atomic_load(&storm->dies[outcome->token]);
}

/* Emits up to three messages in its first attempt, which retries now and then. */
static int multiply(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t token = probe_order(message)->id;

    (void)probe;
    for (uint64_t i = 0; i < token % 4; i++) {
        atomic_fetch_add(&storm->living[token], 1);
        emit(self, NULL, token);
    }
    if (token % 4 && token % 7 == 3 && message->attempt == 1)
        return WEIR_RETRY;
    atomic_fetch_sub(&storm->living[token], 1);
    return WEIR_DONE;
}

static int end_anyhow(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    uint64_t token = probe_order(message)->id;

    (void)self;
    (void)probe;
    if (token % 11 == 5 && message->attempt == 1)
        return WEIR_RETRY;
    atomic_store(&storm->dies[token], token % 13 == 2 || token % 501 == 7);
    atomic_fetch_sub(&storm->living[token], 1);
    return token % 501 == 7 ? WEIR_FAIL : token % 13 == 2 ? WEIR_REJECT : WEIR_DONE;
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static struct source *begin_source(struct rig *rig, struct spec *spec, weir_pid target)
{
    struct executor *executor = runtime_enter(rig->runtime);
    struct source_options options = { .path = "storm",
                                      .output_count = 1,
                                      .dispatcher = rig->dispatcher,
                                      .spec = spec,
                                      .target = target };
    struct source *source = NULL;

    CU_ASSERT_EQUAL(source_create(rig->runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    return source;
}

static void check_storm(void)
{
    uint32_t ended_otherwise = 0;

    for (uint32_t i = 0; i < STORM; i++)
        ended_otherwise += storm->ends[i] != 1;
    CU_ASSERT_EQUAL(ended_otherwise, 0);
    CU_ASSERT_EQUAL(storm->early, 0);
    CU_ASSERT_EQUAL(storm->wrong, 0);
    CU_ASSERT_TRUE(storm->dead > STORM / 40);
}

static void test_every_token_ends_once_after_all_that_came_from_it(void)
{
    const struct weir_behaviour behaviour = {
        .name = "storm", .state_size = 8, .produce = produce, .settled = account
    };
    struct spec *spec = spec_create(&behaviour, NULL);
    struct probe *probes[3] = { probe_create(), probe_create(), probe_create() };
    struct rig rig;
    struct pool *pools[3];
    struct spec *last;
    struct source *source;
    struct executor *executor;

    storm = calloc(1, sizeof *storm);
    rig_init(&rig, 3, 0);
    probes[0]->act = probes[1]->act = multiply;
    probes[2]->act = end_anyhow;
    last = rig_spec(probes[2]);
    last->restart.max = UINT32_MAX; /* this clock would never let a back-off end */
    pools[2] = rig_pool(&rig,
                        &(struct pool_options){ .spec = last, .size = 4, .settings.mailbox = 8 });
    pools[1] = stage(&rig, probes[1], "second", pools[2]->pid, WEIR_FULL_WAIT);
    pools[0] = stage(&rig, probes[0], "first", pools[1]->pid, WEIR_FULL_WAIT);
    source = begin_source(&rig, spec, pools[0]->pid);
    CU_ASSERT_TRUE(rig_wait(&rig, has_ended, source));
    check_storm();
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_TRUE(rig_end(&rig, pools[i], NULL));
    executor = runtime_enter(rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
    spec_unref(spec);
    spec_unref(last);
    rig_finish(&rig);
    for (uint32_t i = 0; i < 3; i++)
        probe_destroy(probes[i]);
    free(storm);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "emitted", test_origin_waits_for_what_was_emitted },
        { "dead", test_one_dead_message_makes_the_outcome_dead },
        { "label", test_dead_letters_have_the_label },
        { "own label", test_joined_message_keeps_its_own_label },
        { "detached", test_origin_does_not_wait_for_a_detached_message },
        { "retried", test_message_from_which_others_came_is_retried_in_place },
        { "refused", test_refused_message_does_not_count },
        { "broadcast", test_origin_waits_for_each_copy_of_a_broadcast },
        { "kept", test_message_joins_the_origin_of_a_kept_one },
        { "end", test_runtime_that_ends_frees_joined_messages },
        { "many", test_every_token_ends_once_after_all_that_came_from_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("join", tests);
}
