/* SPDX-License-Identifier: MIT */
/*
 * Goal: a request for the outcome of a pool's change is answered once, when the opens have ended.
 *
 * Method: new workers wait in their `open`; an actor that has resized the pool notes the outcome.
 */
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TOLD 1000u    /* a note: TOLD + live */
#define WITH 2000u    /* a note: WITH - error */
#define EPOCH 3000u   /* a note: EPOCH + epoch */
#define ANSWER 4000u  /* a note: ANSWER - status */
#define MANAGED 5000u /* a note: the manager's reply */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct probe *asking;
    struct pool *pool;
    struct pool *askers;
    _Atomic bool holds;   /* opens wait at the gate */
    _Atomic bool refuses; /* opens fail */
};

static int open_as_set(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    (void)self;
    if (atomic_load(&f->holds) && !gate_pass(&probe->gate))
        return WEIR_ETIMEOUT;
    return atomic_load(&f->refuses) ? WEIR_ENOTALLOWED : 0;
}

/* The outcome is a message in the lane high. */
static int note_outcome(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct weir_pool_resized outcome;

    (void)self;
    CU_ASSERT_EQUAL(message->lane, WEIR_HIGH);
    CU_ASSERT_EQUAL(message->from, ((struct fixture *)probe->context)->pool->pid);
    CU_ASSERT_STRING_EQUAL(message->tag->name, WEIR_POOL_RESIZED);
    CU_ASSERT_EQUAL_FATAL(message->size, sizeof outcome);
    memcpy(&outcome, message->data, sizeof outcome);
    probe_note(probe, EPOCH + outcome.epoch);
    probe_note(probe, WITH - (uint64_t)(int64_t)outcome.error);
    probe_note(probe, TOLD + outcome.live);
    return WEIR_DONE;
}

static void begin(struct fixture *f)
{
    memset((void *)f, 0, sizeof *f);
    rig_init(&f->rig, 4, 0);
    f->probe = probe_create();
    f->probe->opens = open_as_set;
    f->probe->context = f;
    f->asking = probe_create();
    f->asking->act = note_outcome;
    f->asking->context = f;
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 4);
    f->askers = rig_workers(&f->rig, f->asking, "askers", 1, 4);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->askers, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->asking);
}

/* argument: the target; asks for the outcome of the epoch that it got, plus `id`. */
static int resize_and_ask(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    const struct fixture *f = probe->context;
    struct weir_resized resized;
    int status = weir_pool_resize(self, f->pool->pid, (uint32_t)probe_order(message)->argument,
                                  &resized);

    CU_ASSERT_EQUAL(status, 0);
    status = weir_pool_tell(self, f->pool->pid, resized.epoch + probe_order(message)->id);
    probe_note(probe, ANSWER - (uint64_t)(int64_t)status);
    return WEIR_DONE;
}

static void ask(struct fixture *f, uint32_t target)
{
    uint32_t before = probe_times(f->asking, ANSWER);
    struct order order = { .act = resize_and_ask, .argument = target };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->askers->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->asking, ANSWER, before + 1));
}

/* True when there was exactly one outcome, with these figures. */
static bool is_reported(struct fixture *f, uint32_t live, int error)
{
    return rig_noted(&f->rig, f->asking, TOLD + live, 1) &&
           probe_times(f->asking, WITH - (uint64_t)(int64_t)error) == 1;
}

/* promise P11 */
static void test_outcome_is_reported_when_all_are_open(void)
{
    struct fixture f;

    begin(&f);
    atomic_store(&f.holds, true);
    ask(&f, 3);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWER, 1));
    CU_ASSERT_EQUAL(probe_count(f.asking), 2); /* the order and its answer: no outcome */
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(is_reported(&f, 3, 0));
    CU_ASSERT_EQUAL(probe_times(f.asking, EPOCH + rig_stats(f.pool).epoch), 1);
    finish(&f);
}

/* promise P11 */
static void test_outcome_names_the_error_of_a_failed_open(void)
{
    struct fixture f;

    begin(&f);
    atomic_store(&f.refuses, true);
    ask(&f, 2);
    CU_ASSERT_TRUE(is_reported(&f, 1, WEIR_ENOTALLOWED));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2); /* the place is not lost */
    finish(&f);
}

/* promise P11 */
static void test_outcome_of_what_has_settled_is_reported_at_once(void)
{
    struct fixture f;

    begin(&f);
    ask(&f, 1);
    CU_ASSERT_TRUE(is_reported(&f, 1, 0));
    finish(&f);
}

/* promise P11 */
static void test_outcome_does_not_wait_for_the_removed(void)
{
    struct fixture f;

    begin(&f);
    atomic_store(&f.holds, true);
    ask(&f, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_TRUE(is_reported(&f, 1, 0));
    finish(&f);
}

/* promise P11 */
static void test_outcome_of_a_pool_that_closes_is_reported(void)
{
    struct fixture f;

    begin(&f);
    atomic_store(&f.holds, true);
    ask(&f, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(is_reported(&f, 0, WEIR_ECLOSED));
    finish(&f);
}

/* promise P11 */
static void test_epoch_that_never_was_is_refused(void)
{
    struct fixture f;
    struct order order = { .act = resize_and_ask, .argument = 1, .id = 1 };

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWER - (uint64_t)(int64_t)WEIR_EINVALID, 1));
    finish(&f);
}

static void on_reply(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    CU_ASSERT_EQUAL(reply->status, 0);
    probe_note(context, MANAGED);
}

static int request_more(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    const struct fixture *f = probe->context;
    struct weir_pool_count more = { .count = 1, .tell = 1 };
    struct weir_message *request = weir_message_new(self, weir_tag(self, WEIR_POOL_ADD),
                                                    sizeof more);

    (void)message;
    memcpy(request->data, &more, sizeof more);
    CU_ASSERT_EQUAL(
        weir_request_lane(self, f->pool->pid, WEIR_HIGH, request, 60000, on_reply, probe, NULL), 0);
    return WEIR_DONE;
}

/* promise P11 */
static void test_requester_of_the_manager_is_notified_too(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = request_more }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, MANAGED, 1));
    CU_ASSERT_TRUE(is_reported(&f, 2, 0));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "all open", test_outcome_is_reported_when_all_are_open },
        { "failed open", test_outcome_names_the_error_of_a_failed_open },
        { "settled", test_outcome_of_what_has_settled_is_reported_at_once },
        { "removed", test_outcome_does_not_wait_for_the_removed },
        { "closes", test_outcome_of_a_pool_that_closes_is_reported },
        { "no epoch", test_epoch_that_never_was_is_refused },
        { "manager", test_requester_of_the_manager_is_notified_too },
        CU_TEST_INFO_NULL,
    };

    return suite_run("outcome", tests);
}
