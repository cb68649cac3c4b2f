/* SPDX-License-Identifier: MIT */
/*
 * Goal: messages that the pool has routed to a worker which takes no message now, though no
 * callback runs, go to members that are idle, at once or when they become idle. What was sent to
 * the worker itself stays, and the figures are exact.
 *
 * Method: the first worker keeps a message, demands none, or has as many retries as it may, for
 * an hour of a clock that stands still. Everything else must be handled before.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#include "actor/spec.h"

#define THREADS 4u
#define COUNT 12u
#define HOLDS 1u
#define SHORT 100u  /* ids of messages that take no time */
#define OWN 500u    /* ids of messages to the worker itself */
#define INDEX 1000u /* a note: INDEX * (index + 1) + id */
#define HOUR_MS 3600000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t sent;
};

/* A way in which a worker takes no further message. */
struct row {
    const char *name;
    probe_act *hold; /* for an hour */
    uint32_t messages;
};

static struct weir_message *kept;

static int note_worker(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    return WEIR_DONE;
}

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)context;
    CU_ASSERT_EQUAL(weir_settle(self, kept, WEIR_DONE), 0);
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    kept = (struct weir_message *)(uintptr_t)message;
    CU_ASSERT_EQUAL(weir_after(self, HOUR_MS, settle, NULL, NULL), 0);
    return WEIR_KEEP;
}

static void demand_one(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)context;
    CU_ASSERT_EQUAL(weir_set_demand(self, 1), 0);
}

static int demand_nothing(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_set_demand(self, 0), 0);
    CU_ASSERT_EQUAL(weir_after(self, HOUR_MS, demand_one, NULL, NULL), 0);
    return WEIR_DONE;
}

static int retry_once(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    if (message->attempt > 1)
        return WEIR_DONE;
    weir_retry_after(self, HOUR_MS);
    return WEIR_RETRY;
}

static const struct row rows[] = {
    { "kept", keep, 1 },
    { "no demand", demand_nothing, 1 },
    { "retries", retry_once, SPEC_RETRIES_MAX },
};

static void begin(struct fixture *f, uint32_t size)
{
    struct spec *spec;

    *f = (struct fixture){ .probe = probe_create() };
    f->probe->act = note_worker;
    f->probe->behaviour.in_hand = 1;
    rig_init(&f->rig, THREADS, 0);
    spec = rig_spec(f->probe);
    f->pool = rig_pool(
        &f->rig, &(struct pool_options){
                     .path = "pool", .spec = spec, .size = size, .settings.mailbox = 8 * COUNT });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void send(struct fixture *f, weir_pid to, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, to, (struct order){ .act = act, .id = id }), 0);
    f->sent++;
}

static void send_shorts(struct fixture *f, uint64_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        send(f, f->pool->pid, NULL, from + i);
}

struct awaited {
    struct fixture *f;
    uint64_t from;
    uint32_t count;
};

/* Time goes on with each check, to the next beat of the worker. */
static bool are_handled(void *context)
{
    const struct awaited *awaited = context;

    rig_advance(&awaited->f->rig, 5);
    for (uint32_t i = 0; i < awaited->count; i++)
        if (probe_times(awaited->f->probe, awaited->from + i) == 0)
            return false;
    return true;
}

static void await_shorts(struct fixture *f, uint64_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, from + i, 1));
}

/* Now the first worker takes no message. */
static void hold_first(struct fixture *f, const struct row *row)
{
    for (uint32_t i = 0; i < row->messages; i++) {
        send(f, rig_worker(f->pool, 0), row->hold, HOLDS + i);
        CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, HOLDS + i, 1));
    }
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    rig_advance(&f->rig, HOUR_MS);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->sent);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.moved);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise G10 */
static void come_while_a_member_is_idle(const struct row *row)
{
    struct fixture f;

    begin(&f, 2);
    hold_first(&f, row);
    send_shorts(&f, SHORT, COUNT);
    await_shorts(&f, SHORT, COUNT);
    send_shorts(&f, SHORT + COUNT, 1); /* one by one, too */
    await_shorts(&f, SHORT + COUNT, 1);
    send_shorts(&f, SHORT + COUNT + 1, 1);
    await_shorts(&f, SHORT + COUNT + 1, 1);
    finish(&f);
}

/* promise G10: the other member is inside a callback while they come. */
static void wait_until_a_member_is_idle(const struct row *row)
{
    struct fixture f;

    begin(&f, 2);
    hold_first(&f, row);
    send(&f, rig_worker(f.pool, 1), probe_wait, HOLDS + SPEC_RETRIES_MAX);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send_shorts(&f, SHORT, COUNT);
    gate_open(&f.probe->gate);
    await_shorts(&f, SHORT, COUNT);
    finish(&f);
}

/* promise G7, promise G10 */
static void wait_until_the_pool_grows(const struct row *row)
{
    struct fixture f;

    begin(&f, 1);
    hold_first(&f, row);
    send_shorts(&f, SHORT, COUNT);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 3, NULL), 0);
    await_shorts(&f, SHORT, COUNT);
    finish(&f);
}

/* promise G10: what was sent to the worker stays, and holds up nothing behind it. */
static void stay_if_they_are_its_own(const struct row *row)
{
    struct fixture f;

    begin(&f, 2);
    hold_first(&f, row);
    for (uint32_t i = 0; i < COUNT; i++) {
        send(&f, rig_worker(f.pool, 0), NULL, OWN + i);
        send_shorts(&f, SHORT + i, 1);
    }
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_handled, &(struct awaited){ &f, SHORT, COUNT }));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, COUNT);
    rig_advance(&f.rig, HOUR_MS);
    for (uint32_t i = 0; i < COUNT; i++)
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + OWN + i, 1));
    finish(&f);
}

static void walk(void (*check)(const struct row *row))
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void test_messages_go_to_a_member_that_is_idle(void)
{
    walk(come_while_a_member_is_idle);
}

static void test_messages_go_to_a_member_that_becomes_idle(void)
{
    walk(wait_until_a_member_is_idle);
}

static void test_messages_go_to_a_member_that_opens(void)
{
    walk(wait_until_the_pool_grows);
}

static void test_messages_to_the_worker_itself_stay(void)
{
    walk(stay_if_they_are_its_own);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "messages go to a member that is idle", test_messages_go_to_a_member_that_is_idle },
        { "messages go to a member that becomes idle",
          test_messages_go_to_a_member_that_becomes_idle },
        { "messages go to a member that opens", test_messages_go_to_a_member_that_opens },
        { "messages to the worker itself stay", test_messages_to_the_worker_itself_stay },
        CU_TEST_INFO_NULL,
    };

    return suite_run("backed up", tests);
}
