/* SPDX-License-Identifier: MIT */
/*
 * Goal: an inspect is answered in every state of its actor, after at most the present message; it
 * returns the requested items, those of the host and those of the behaviour; equal requests get
 * equal answers; without an answer the requester gets a status.
 *
 * Method: workers at a gate with all lanes full, broken, ended; inspects from outside and from
 * inside. The messages that a worker handles afterwards show which ones the inspect overtook.
 */
#include "actor/inspect.h"

#include <string.h>

#include "actor/external_await.h"
#include "actor/external_request.h"
#include "actor/inspection.h"
#include "actor/standalone.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

#define LIMIT 4u
#define LOOKED 7000u
#define TOLD 8000u /* a note: TOLD - status */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    weir_pid worker;
};

static void inspect(struct weir_self *self, void *state, struct weir_inspection *out)
{
    struct probe *probe = *(struct probe **)state;

    (void)self;
    probe_note(probe, LOOKED);
    weir_inspect_add(out, "state", "mine"); /* the host has an item of that name */
    weir_inspect_add(out, "cache.hits", "%d", 42);
    if (weir_inspect_wants(out, "costly"))
        weir_inspect_add(out, "costly", "%s", "figure");
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create() };
    f->probe->behaviour.inspect = inspect;
    f->probe->context = f;
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, LIMIT);
    f->worker = rig_worker(f->pool, 0);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* --- from outside --------------------------------------------------------------------------- */

static int ask(struct fixture *f, weir_pid pid, const char *const *items, uint64_t *out_reference)
{
    const struct inspect_options options = { .to = pid,
                                             .items = items,
                                             .timeout_ms = wait_limit_ms() };
    struct executor *executor = runtime_enter(f->rig.runtime);
    int status = inspect_ask(f->rig.runtime, executor, &options, out_reference);

    runtime_leave(executor);
    return status;
}

static int await(struct fixture *f, uint64_t reference, struct message **out)
{
    struct external_request_answer answer;
    int status = external_requests_await(f->rig.runtime->external_requests, reference, &answer);

    *out = answer.reply;
    return status;
}

static void drop(struct message *message)
{
    message_release(NULL, message); /* it does not count in a cap */
}

/* Inspects and waits, for an actor without a present message. Returns owned. */
static struct message *look_at(struct fixture *f, weir_pid pid, const char *const *items)
{
    struct message *answer = NULL;
    uint64_t reference;

    CU_ASSERT_EQUAL_FATAL(ask(f, pid, items, &reference), 0);
    CU_ASSERT_EQUAL(await(f, reference, &answer), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
    return answer;
}

static void expect(const struct message *answer, const char *item, const char *value)
{
    const char *inspected = weir_inspected(&answer->public, item);

    CU_ASSERT_PTR_NOT_NULL(inspected);
    if (inspected && strcmp(inspected, value) != 0)
        fprintf(stderr, "%s is %s, and should be %s\n", item, inspected, value);
    CU_ASSERT_TRUE(inspected && strcmp(inspected, value) == 0);
}

static uint32_t count_items(const struct message *answer)
{
    const char *item, *value;
    size_t position = 0;
    uint32_t count = 0;

    while (weir_inspected_next(&answer->public, &position, &item, &value))
        count++;
    CU_ASSERT_EQUAL(position, answer->public.size);
    return count;
}

/* The worker is inside a message, and every lane of its mailbox is full. */
static void fill(struct fixture *f)
{
    const struct order order = { .act = probe_wait, .id = 1 };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->worker, order), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    for (uint32_t i = 0; i < LIMIT; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->worker, order), 0);
    for (uint32_t i = 0; i < ACTOR_LANE_LIMIT; i++)
        CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->worker, WEIR_URGENT, order), 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->worker, order), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->worker, WEIR_URGENT, order), WEIR_EFULL);
}

/* promise A9 */
static void test_answered_before_a_backlog_and_never_refused(void)
{
    struct message *answer;
    struct fixture f;
    uint64_t reference;

    begin(&f);
    fill(&f);
    CU_ASSERT_EQUAL_FATAL(ask(&f, f.worker, NULL, &reference), 0);
    gate_admit(&f.probe->gate, 1); /* the message in hand, and no other */
    CU_ASSERT_EQUAL_FATAL(await(&f, reference, &answer), 0);
    expect(answer, "queued", "4");
    expect(answer, "urgent", "64");
    expect(answer, "done", "1");
    expect(answer, "accepted", "5");
    expect(answer, "in_hand", "0");
    expect(answer, "mailbox", "4");
    expect(answer, "state", "open");
    expect(answer, "path", "pool#0");
    expect(answer, "kind", "worker");
    expect(answer, "incarnation", "1");
    expect(answer, "behaviour", "probe");
    expect(answer, "cache.hits", "42");
    expect(answer, "costly", "figure");
    drop(answer);
    finish(&f);
}

/* promise A9 */
static void test_only_the_items_that_are_asked_for(void)
{
    static const char *const items[] = { "queued", "cache.hits", "nonsense", NULL };
    struct message *answer;
    struct fixture f;

    begin(&f);
    answer = look_at(&f, f.worker, items);
    CU_ASSERT_EQUAL(count_items(answer), 2);
    expect(answer, "queued", "0");
    expect(answer, "cache.hits", "42");
    CU_ASSERT_PTR_NULL(weir_inspected(&answer->public, "nonsense"));
    CU_ASSERT_PTR_NULL(weir_inspected(&answer->public, "costly"));
    drop(answer);
    finish(&f);
}

/* promise A9 */
static void test_same_items_are_reported_by_one_look(void)
{
    static const char *const one[] = { "queued", NULL };
    static const char *const other[] = { "done", NULL };
    struct message *answer;
    uint64_t references[9];
    struct fixture f;

    begin(&f);
    fill(&f);
    for (uint32_t i = 0; i < 9; i++)
        CU_ASSERT_EQUAL_FATAL(ask(&f, f.worker, i == 4 ? other : one, &references[i]), 0);
    gate_admit(&f.probe->gate, 1);
    for (uint32_t i = 0; i < 9; i++) {
        CU_ASSERT_EQUAL_FATAL(await(&f, references[i], &answer), 0);
        expect(answer, i == 4 ? "done" : "queued", i == 4 ? "1" : "4");
        CU_ASSERT_EQUAL(count_items(answer), 1);
        drop(answer);
    }
    CU_ASSERT_EQUAL(probe_times(f.probe, LOOKED), 2);
    finish(&f);
}

/* --- states --------------------------------------------------------------------------------- */

static int refuse_open(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_ENOMEM;
}

static bool has_been_refused(void *context)
{
    return atomic_load(&((struct fixture *)context)->probe->refused) > 0;
}

/* promise A9 */
static void test_worker_that_cannot_be_opened_answers_for_itself(void)
{
    struct message *answer;
    struct fixture f;

    begin(&f);
    f.probe->opens = refuse_open;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.worker, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_been_refused, &f));
    answer = look_at(&f, f.worker, NULL);
    expect(answer, "state", "waiting");
    expect(answer, "restarts", "1");
    CU_ASSERT_PTR_NULL(weir_inspected(&answer->public, "cache.hits")); /* there is no behaviour */
    drop(answer);
    f.probe->opens = NULL;
    rig_advance(&f.rig, 20000);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    finish(&f);
}

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

/* Keeps its message, with a link, a monitor, and a timer that settles it. */
static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    CU_ASSERT_EQUAL(weir_monitor(self, f->pool->pid, NULL), 0);
    CU_ASSERT_EQUAL(weir_link(self, f->pool->pid), 0);
    CU_ASSERT_EQUAL(weir_after(self, 1000, settle, (void *)(uintptr_t)message, NULL), 0);
    return WEIR_KEEP;
}

/* promise A9 */
static void test_worker_at_in_hand_reports_its_messages(void)
{
    struct message *answer;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.worker, (struct order){ .act = keep, .id = 1 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.worker, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    answer = look_at(&f, f.worker, NULL);
    expect(answer, "in_hand", "1");
    expect(answer, "kept", "1");
    expect(answer, "attempt", "1");
    expect(answer, "monitors", "1");
    expect(answer, "links", "1");
    expect(answer, "timers", "1");
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0); /* it takes no new message meanwhile */
    drop(answer);
    rig_advance(&f.rig, 1000);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    finish(&f);
}

/* --- pools ---------------------------------------------------------------------------------- */

/* promise A9 */
static void test_pool_answers_for_itself_with_its_figures(void)
{
    struct message *answer;
    struct fixture f;

    begin(&f);
    fill(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), WEIR_EFULL);
    answer = look_at(&f, f.pool->pid, NULL); /* though its one worker is busy */
    expect(answer, "pool_size", "1");
    expect(answer, "worker_behavior", "probe");
    expect(answer, "worker_mailbox_size", "4");
    expect(answer, "worker_restarts", "0");
    expect(answer, "messages_forwarded", "5");
    expect(answer, "messages_unhandled", "1");
    expect(answer, "target", "1");
    expect(answer, "live", "1");
    expect(answer, "busy", "1");
    expect(answer, "idle", "0");
    expect(answer, "starting", "0");
    expect(answer, "retiring", "0");
    expect(answer, "queued", "4");
    expect(answer, "held", "0");
    expect(answer, "dead.crashed", "0");
    expect(answer, "paused", "0");
    expect(answer, "kind", "pool");
    expect(answer, "path", "pool");
    expect(answer, "state", "open");
    CU_ASSERT_EQUAL(probe_times(f.probe, LOOKED), 0); /* no worker was asked */
    drop(answer);
    finish(&f);
}

/* --- who cannot be answered ----------------------------------------------------------------- */

/* promise A9 */
static void test_one_that_has_ended_is_reported_at_once(void)
{
    struct fixture f;
    uint64_t reference;

    begin(&f);
    CU_ASSERT_EQUAL(ask(&f, 0, NULL, &reference), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(ask(&f, f.worker + ((weir_pid)1 << 32), NULL, &reference), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(ask(&f, f.worker, NULL, &reference), WEIR_ETERMINATED);
    finish(&f);
}

/* promise A9 */
static void test_one_that_ends_meanwhile_is_reported(void)
{
    struct standalone_options options = { .name = "lone", .wiring = wiring_create(1) };
    struct executor *executor;
    struct standalone *standalone = NULL;
    struct message *answer;
    struct fixture f;
    uint64_t reference;

    begin(&f);
    options.spec = rig_spec(f.probe);
    options.dispatcher = f.rig.dispatcher;
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(standalone_create(f.rig.runtime, executor, &options, &standalone), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
    while (standalone_opening(standalone) == 1)
        (void)rig_settled(&f.rig, f.pool);
    CU_ASSERT_EQUAL(rig_send(&f.rig, standalone->pid, (struct order){ .act = probe_wait_and_fail }),
                    0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL_FATAL(ask(&f, standalone->pid, NULL, &reference), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_EQUAL(await(&f, reference, &answer), WEIR_ETERMINATED);
    CU_ASSERT_PTR_NULL(answer);
    finish(&f);
    standalone_destroy(standalone);
}

/* --- from inside ---------------------------------------------------------------------------- */

static void inspected(struct weir_self *self, void *state, void *context,
                      const struct weir_reply *reply)
{
    struct probe *probe = context;

    (void)self;
    (void)state;
    probe_note(probe, TOLD + (uint64_t)-reply->status);
    if (reply->status == 0)
        CU_ASSERT_STRING_EQUAL(weir_inspected(reply->message, "cache.hits"), "42");
}

static int inspect_oneself(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    const char *many[WEIR_INSPECT_ITEMS_MAX + 2] = { NULL };
    uint64_t reference = 0;

    (void)message;
    for (uint32_t i = 0; i <= WEIR_INSPECT_ITEMS_MAX; i++)
        many[i] = "queued";
    CU_ASSERT_EQUAL(weir_inspect(self, weir_pid_of(self), many, 1000, inspected, probe, NULL),
                    WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_inspect(self, 0, NULL, 1000, inspected, probe, NULL), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_inspect(self, weir_pid_of(self), NULL, 1000, NULL, probe, NULL),
                    WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_inspect(self, weir_pid_of(self), NULL, 1000, inspected, probe, &reference),
                    0);
    CU_ASSERT_NOT_EQUAL(reference, 0);
    return WEIR_DONE;
}

/* promise A9 */
static void test_actor_is_notified_in_a_turn_of_its_own(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.worker, (struct order){ .act = inspect_oneself }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TOLD, 1));
    finish(&f);
}

static void test_first_item_of_a_name_counts(void)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    static const char wanted[] = "a\0001\0b\0001\0c\0001\0d\0001";
    struct inspection inspection;

    inspection_init(&inspection, NULL, 0);
    for (uint64_t round = 1; round <= 2; round++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            inspection_number(&inspection, names[i], round);
    inspection_text(&inspection, "1", "b"); /* what is a value elsewhere may be a name */
    CU_ASSERT_EQUAL(inspection.size, sizeof wanted + 4);
    CU_ASSERT(inspection.size >= sizeof wanted &&
              memcmp(inspection.text, wanted, sizeof wanted) == 0);
    inspection_finish(&inspection);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "backlog", test_answered_before_a_backlog_and_never_refused },
        { "items", test_only_the_items_that_are_asked_for },
        { "alike", test_same_items_are_reported_by_one_look },
        { "broken", test_worker_that_cannot_be_opened_answers_for_itself },
        { "in hand", test_worker_at_in_hand_reports_its_messages },
        { "pool", test_pool_answers_for_itself_with_its_figures },
        { "ended", test_one_that_has_ended_is_reported_at_once },
        { "ends", test_one_that_ends_meanwhile_is_reported },
        { "names", test_first_item_of_a_name_counts },
        { "inside", test_actor_is_notified_in_a_turn_of_its_own },
        CU_TEST_INFO_NULL,
    };

    return suite_run("actor_inspect", tests);
}
