/* SPDX-License-Identifier: MIT */
/*
 * Goal: requests and names of an incarnation do not reach the next one: neither the answer to a
 * request, nor a name from an open that failed. Messages that it emitted before it failed stay
 * emitted. The requesters of a removed worker get a status.
 *
 * Method: requesters fail while the answer waits at a gate; the notes of both sides show what
 * arrives.
 */
#include "actor/find.h"
#include "actor/lifecycle.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ANSWERED 2000u /* a note: ANSWERED - status */
#define FOUND 3000u    /* a note: FOUND - status of a look-up */

struct fixture {
    struct rig rig;
    struct probe *asking;
    struct probe *answering;
    struct pool *askers;
    struct pool *answerers;
};

static const struct weir_output outputs[] = { { .name = "out" }, { 0 } };

static void begin(struct fixture *f, enum weir_remove remove)
{
    struct pool_options options = {
        .path = "answerers", .size = 1, .settings.mailbox = 8, .settings.remove.mode = remove
    };
    struct binding binding = { 0 };

    *f = (struct fixture){ .asking = probe_create(), .answering = probe_create() };
    f->asking->behaviour.outputs = outputs;
    f->asking->context = f;
    rig_init(&f->rig, 2, 0);
    options.spec = rig_spec(f->answering);
    f->answerers = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->answerers);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->answerers));
    binding.target = f->answerers->pid;
    options = (struct pool_options){
        .path = "askers", .size = 1, .settings.mailbox = 8, .outputs = &binding, .output_count = 1
    };
    options.spec = rig_spec(f->asking);
    options.spec->retry.max = 1;
    f->askers = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->askers);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->askers));
}

static void finish(struct fixture *f)
{
    gate_open(&f->answering->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->askers, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->answerers, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->asking);
    probe_destroy(f->answering);
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    probe_note(context, ANSWERED + (uint64_t)-reply->status);
}

/* Sends a request to a worker at the gate, which replies afterwards. */
static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    probe_act *act = (probe_act *)(uintptr_t)probe_order(message)->argument;

    CU_ASSERT_EQUAL(weir_request(self, f->answerers->pid,
                                 probe_message(self, (struct order){ .act = act, .id = 1 }),
                                 UINT64_MAX, answered, probe, NULL),
                    0);
    return WEIR_DONE;
}

static int wait_and_reply(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    CU_ASSERT_TRUE(gate_pass(&probe->gate));
    return probe_reply(self, probe, message);
}

static void have_asked(struct fixture *f, probe_act *act)
{
    const struct order order = { .act = ask, .id = 50, .argument = (uint64_t)(uintptr_t)act };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->askers->pid, order), 0);
}

static bool is_late(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->rig.runtime->late_replies) == 1;
}

/* promise S6 */
static void test_answer_does_not_reach_the_next_incarnation(void)
{
    struct fixture f;

    begin(&f, WEIR_REMOVE_DRAIN);
    have_asked(&f, wait_and_reply);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .id = 60 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 60, 1)); /* by the next incarnation */
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_late, &f));
    CU_ASSERT_EQUAL(probe_times(f.asking, ANSWERED), 0);
    finish(&f);
}

/* promise S6 */
static void test_requester_of_a_removed_worker_gets_removed(void)
{
    struct fixture f;

    begin(&f, WEIR_REMOVE_DISCARD);
    have_asked(&f, wait_and_reply);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1));
    have_asked(&f, probe_reply); /* this one waits in the mailbox */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 50, 2));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.askers));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.answerers, 0, NULL), 0);
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED + (uint64_t)-WEIR_EREMOVED, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED, 1)); /* the present one */
    finish(&f);
}

/* --- what was emitted ----------------------------------------------------------------------- */

static int emit_and(struct weir_self *self, const struct weir_message *message, int verdict)
{
    const uint64_t id = message->attempt == 1 ? 71 : 72;

    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = id })), 0);
    return verdict;
}

static int emit_and_fail(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    (void)probe;
    return emit_and(self, message, WEIR_FAIL);
}

static int emit_and_retry(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    (void)probe;
    return emit_and(self, message, WEIR_RETRY);
}

/* promise O1 */
static void test_what_was_emitted_before_a_failure_has_been_emitted(void)
{
    struct fixture f;

    begin(&f, WEIR_REMOVE_DRAIN);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = emit_and_fail }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 71, 1));
    finish(&f);
}

/* promise O1 */
static void test_what_was_emitted_before_a_retry_has_been_emitted(void)
{
    struct fixture f;

    begin(&f, WEIR_REMOVE_DRAIN);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = emit_and_retry }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 71, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 72, 1)); /* and again by the second attempt */
    finish(&f);
}

/* --- names ---------------------------------------------------------------------------------- */

static int take_a_name_and_refuse(struct weir_self *self, struct probe *probe)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_name(self, "early"), 0);
    return WEIR_ENOMEM;
}

static bool has_refused(void *context)
{
    struct fixture *f = context;
    struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->askers, 0));

    return atomic_load(&f->asking->refused) > 0 && actor_state(actor) == ACTOR_WAITING;
}

/* promise A5 */
static void test_name_of_an_open_that_failed_is_free(void)
{
    struct executor *executor;
    struct fixture f;
    weir_pid pid;

    begin(&f, WEIR_REMOVE_DRAIN);
    f.asking->opens = take_a_name_and_refuse;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_refused, &f));
    CU_ASSERT_EQUAL(names_find(&f.rig.runtime->names, "early", &pid), WEIR_EUNKNOWN);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(
        names_claim(&f.rig.runtime->names, "early", f.askers->pid, true, &executor->reader), 0);
    runtime_leave(executor);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "answer", test_answer_does_not_reach_the_next_incarnation },
        { "removed", test_requester_of_a_removed_worker_gets_removed },
        { "emitted, failed", test_what_was_emitted_before_a_failure_has_been_emitted },
        { "emitted, retried", test_what_was_emitted_before_a_retry_has_been_emitted },
        { "name", test_name_of_an_open_that_failed_is_free },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lives", tests);
}
