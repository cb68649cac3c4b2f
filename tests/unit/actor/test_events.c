/* SPDX-License-Identifier: MIT */
/*
 * Goal: each subscriber gets each event once; the publisher learns how many took it; the owner
 * learns when its audience comes and goes; subscriptions end with the incarnation; a pool gives an
 * event to one worker, or to all.
 *
 * Method: an owner and subscribers act as their orders say; events are orders, too. Another thread
 * subscribes and unsubscribes while one publishes.
 */
#include "actor/events.h"

#include <sched.h>

#include "pool/subscription.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define AUDIENCE 1000u /* a note: AUDIENCE + how many */
#define TAKEN 2000u
#define REFUSED 3000u
#define STATUS 4000u
#define ROUNDS 2000u

struct fixture {
    struct rig rig;
    struct probe *owner;
    struct probe *guest;
    struct pool *owners;
    struct pool *guests;
    _Atomic uint64_t event;
};

static void audience(struct weir_self *self, void *state, uint64_t event, uint32_t subscribers)
{
    struct probe *probe = *(struct probe **)state;
    struct fixture *f = probe->context;

    (void)self;
    CU_ASSERT_EQUAL(event, atomic_load(&f->event));
    probe_note(probe, AUDIENCE + subscribers);
}

static void begin(struct fixture *f, uint32_t limit)
{
    *f = (struct fixture){ .owner = probe_create(), .guest = probe_create() };
    f->owner->behaviour.audience = audience;
    f->owner->context = f;
    rig_init(&f->rig, 2, 0);
    f->owners = rig_workers(&f->rig, f->owner, "owners", 2, 16);
    f->guests = rig_workers(&f->rig, f->guest, "guests", 3, limit);
}

static void finish(struct fixture *f)
{
    gate_open(&f->guest->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->owners, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->guests, NULL));
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++) /* nothing is left of them */
        CU_ASSERT_PTR_NULL(atomic_load(&f->rig.runtime->events.buckets[i]));
    rig_finish(&f->rig);
    probe_destroy(f->owner);
    probe_destroy(f->guest);
}

/* --- acts ----------------------------------------------------------------------------------- */

static int own(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    uint64_t event = 0;
    int status = weir_event(self, "news", &event);

    (void)message;
    if (status == 0)
        atomic_store(&f->event, event);
    probe_note(probe, STATUS + (uint64_t)-status);
    return WEIR_DONE;
}

static int publish(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *made = probe_message(
        self, (struct order){ .id = probe_order(message)->argument });
    uint32_t taken = 0, refused = 0;
    int status = weir_publish(self, atomic_load(&f->event), made, &taken, &refused);

    if (status != 0)
        weir_message_free(self, made);
    probe_note(probe, TAKEN + taken);
    probe_note(probe, REFUSED + refused);
    probe_note(probe, STATUS + (uint64_t)-status);
    return WEIR_DONE;
}

static int join(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    CU_ASSERT_EQUAL(weir_subscribe(self, "news"), 0);
    CU_ASSERT_EQUAL(weir_subscribe(self, "news"), 0); /* once is enough */
    probe_note(probe, STATUS);
    return WEIR_DONE;
}

static int part(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    probe_note(probe, STATUS + (uint64_t)-weir_unsubscribe(self, "news"));
    return WEIR_DONE;
}

/* Gives a worker the act, and waits for its note. */
static void have(struct fixture *f, struct pool *pool, uint32_t index, probe_act *act,
                 uint64_t argument, uint64_t note)
{
    struct probe *probe = pool == f->owners ? f->owner : f->guest;
    uint32_t before = probe_times(probe, note);

    CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(pool, index),
                             (struct order){ .act = act, .id = 9000, .argument = argument }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, probe, note, before + 1));
}

static void expect_published(struct fixture *f, uint64_t id, uint32_t taken, uint32_t refused)
{
    uint32_t took = probe_times(f->owner, TAKEN + taken);
    uint32_t did_not = probe_times(f->owner, REFUSED + refused);

    have(f, f->owners, 0, publish, id, STATUS);
    CU_ASSERT_EQUAL(probe_times(f->owner, TAKEN + taken), took + 1);
    CU_ASSERT_EQUAL(probe_times(f->owner, REFUSED + refused), did_not + 1);
}

/* --- actors --------------------------------------------------------------------------------- */

/* promise A8 */
static void test_each_subscriber_gets_each_event_once(void)
{
    struct fixture f;

    begin(&f, 16);
    have(&f, f.owners, 0, own, 0, STATUS);
    expect_published(&f, 1, 0, 0);
    have(&f, f.guests, 0, join, 0, STATUS);
    have(&f, f.guests, 1, join, 0, STATUS);
    expect_published(&f, 2, 2, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.guest, 2, 2));
    have(&f, f.guests, 0, part, 0, STATUS);
    have(&f, f.guests, 0, part, 0, STATUS + (uint64_t)-WEIR_EUNKNOWN);
    expect_published(&f, 3, 1, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.guest, 3, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.guests));
    CU_ASSERT_EQUAL(probe_times(f.guest, 1), 0);
    CU_ASSERT_EQUAL(probe_times(f.guest, 2), 2);
    CU_ASSERT_EQUAL(probe_times(f.guest, 3), 1);
    finish(&f);
}

/* promise A8 */
static void test_owner_is_notified_of_the_first_and_the_last_subscriber(void)
{
    struct fixture f;

    begin(&f, 16);
    have(&f, f.guests, 0, join, 0, STATUS); /* before there is an owner */
    have(&f, f.owners, 0, own, 0, AUDIENCE + 1);
    have(&f, f.guests, 1, join, 0, STATUS);
    have(&f, f.guests, 0, part, 0, STATUS);
    CU_ASSERT_EQUAL(probe_times(f.owner, AUDIENCE), 0);
    have(&f, f.guests, 1, part, 0, STATUS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.owner, AUDIENCE, 1));
    have(&f, f.guests, 2, join, 0, STATUS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.owner, AUDIENCE + 1, 2));
    CU_ASSERT_EQUAL(probe_times(f.owner, AUDIENCE + 2), 0);
    finish(&f);
}

/* promise A8 */
static void test_subscription_ends_with_the_incarnation(void)
{
    struct fixture f;

    begin(&f, 16);
    have(&f, f.owners, 0, own, 0, STATUS);
    have(&f, f.guests, 0, join, 0, STATUS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.owner, AUDIENCE + 1, 1));
    have(&f, f.guests, 0, probe_fail, 0, 9000);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.owner, AUDIENCE, 1));
    expect_published(&f, 5, 0, 0);
    finish(&f);
}

/* promise A8 */
static void test_event_has_one_owner_and_its_number_ends_with_it(void)
{
    struct fixture f;

    begin(&f, 16);
    have(&f, f.owners, 0, own, 0, STATUS);
    have(&f, f.owners, 1, own, 0, STATUS + (uint64_t)-WEIR_EEXISTS);
    have(&f, f.guests, 0, join, 0, STATUS);
    have(&f, f.owners, 1, publish, 5, STATUS); /* any actor that has the number may publish */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.guest, 5, 1));
    have(&f, f.owners, 0, probe_fail, 0, 9000);
    have(&f, f.owners, 0, probe_done, 0, 9000); /* the next incarnation */
    have(&f, f.owners, 1, publish, 6, STATUS + (uint64_t)-WEIR_EUNKNOWN);
    have(&f, f.owners, 1, own, 0, STATUS);
    have(&f, f.owners, 1, publish, 7, STATUS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.guest, 7, 1));
    CU_ASSERT_EQUAL(probe_times(f.guest, 6), 0);
    finish(&f);
}

/* --- pools ---------------------------------------------------------------------------------- */

static void subscribe(struct fixture *f, bool fan_out, size_t count)
{
    static const char *const names[] = { "news", "weather" };
    const struct weir_list list = { names, count };
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL(subscription_set(f->guests, executor, &list, fan_out), 0);
    runtime_leave(executor);
}

/* promise A8 */
static void test_pool_gives_an_event_to_one_worker_or_to_all(void)
{
    struct fixture f;

    begin(&f, 16);
    have(&f, f.owners, 0, own, 0, STATUS);
    subscribe(&f, false, 2);
    expect_published(&f, 1, 1, 0);
    subscribe(&f, true, 1);
    expect_published(&f, 2, 3, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.guest, 2, 3));
    subscribe(&f, true, 0);
    expect_published(&f, 3, 0, 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.guests));
    CU_ASSERT_EQUAL(probe_times(f.guest, 1), 1);
    CU_ASSERT_EQUAL(probe_times(f.guest, 2), 3);
    subscribe(&f, false, 2); /* and ends with the pool */
    finish(&f);
}

/* promise A8 */
static void test_worker_without_room_is_counted_as_refused(void)
{
    struct fixture f;

    begin(&f, 1);
    have(&f, f.owners, 0, own, 0, STATUS);
    subscribe(&f, true, 1);
    for (uint32_t i = 0; i < 2; i++) { /* worker 0 is held, and then its mailbox full */
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, rig_worker(f.guests, 0), (struct order){ .act = probe_wait }), 0);
        CU_ASSERT_TRUE(gate_await(&f.guest->gate, 1));
    }
    expect_published(&f, 2, 2, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.guest, 2, 2));
    finish(&f);
}

/* --- many ----------------------------------------------------------------------------------- */

static void *come_and_go(void *context)
{
    struct fixture *f = context;
    weir_pid pid = rig_worker(f->guests, 1);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct executor *executor = runtime_enter(f->rig.runtime);

        CU_ASSERT_EQUAL(events_subscribe(f->rig.runtime, executor, "news", pid, false), 0);
        CU_ASSERT_EQUAL(events_unsubscribe(f->rig.runtime, executor, "news", pid), 0);
        runtime_leave(executor);
    }
    return NULL;
}

static void forget(struct fixture *f, weir_pid pid)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    events_forget(f->rig.runtime, executor, pid);
    runtime_leave(executor);
}

/* promise A8: a steady subscriber misses no event while another comes and goes. */
static void test_who_stays_gets_all_while_others_come_and_go(void)
{
    struct fixture f;
    pthread_t thread;
    uint64_t token = 0;

    begin(&f, 0);
    have(&f, f.guests, 0, join, 0, STATUS);
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, come_and_go, &f), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct executor *executor = runtime_enter(f.rig.runtime);
        struct message *message = message_create(&executor->cache, NULL, sizeof(struct order));
        uint32_t taken = 0;

        if (i == 0)
            CU_ASSERT_EQUAL(
                events_register(f.rig.runtime, executor, "news", rig_worker(f.guests, 2), &token),
                0);
        ((struct order *)message->public.data)->id = 7;
        CU_ASSERT_EQUAL(events_publish(f.rig.runtime, executor, token, message, &taken, NULL), 0);
        CU_ASSERT_TRUE(taken == 1 || taken == 2);
        runtime_leave(executor);
    }
    pthread_join(thread, NULL);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.guests));
    CU_ASSERT_TRUE(probe_times(f.guest, 7) >= ROUNDS);
    CU_ASSERT_TRUE(probe_times(f.guest, 7) <= 2 * ROUNDS);
    have(&f, f.guests, 0, part, 0, STATUS);
    forget(&f, rig_worker(f.guests, 2));
    finish(&f);
}

/* --- managers ------------------------------------------------------------------------------- */

static int open_subscribed(struct weir_self *self, struct probe *probe)
{
    (void)probe;
    return weir_subscribe(self, "news");
}

static struct pool *make_managed(struct fixture *f, struct probe *managing, struct probe *working)
{
    struct pool_options options = { .path = "managed", .size = 1, .settings.mailbox = 8 };
    struct pool *pool;

    managing->opens = open_subscribed;
    options.spec = rig_spec(working);
    options.manager = rig_spec(managing);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    spec_unref(options.manager);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    while (atomic_load(&managing->opened) == 0)
        (void)sched_yield();
    return pool;
}

/* promise A8: the event of a manager is its own, and that of its pool goes to a worker, also after
 * the manager was replaced. */
static void test_manager_gets_the_event_that_it_subscribes_to(void)
{
    struct weir_list names = { .items = (const char *const[]){ "news" }, .count = 1 };
    struct probe *managing = probe_create(), *working = probe_create();
    struct executor *executor;
    struct pool *managed;
    struct fixture f;

    begin(&f, 16);
    have(&f, f.owners, 0, own, 0, STATUS);
    managed = make_managed(&f, managing, working);
    have(&f, f.owners, 0, publish, 1, TAKEN + 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, managing, 1, 1));
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(subscription_set(managed, executor, &names, false), 0);
    runtime_leave(executor);
    have(&f, f.owners, 0, publish, 2, TAKEN + 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, managing, 2, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, working, 2, 1));
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, managed->pid, WEIR_HIGH,
                                  (struct order){ .act = probe_fail, .id = 3 }),
                    0);
    while (atomic_load(&managing->opened) < 2)
        (void)sched_yield();
    have(&f, f.owners, 0, publish, 4, TAKEN + 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, managing, 4, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, working, 4, 1));
    CU_ASSERT_EQUAL(probe_times(working, 1), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, managed, NULL));
    finish(&f);
    probe_destroy(managing);
    probe_destroy(working);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once", test_each_subscriber_gets_each_event_once },
        { "audience", test_owner_is_notified_of_the_first_and_the_last_subscriber },
        { "incarnation", test_subscription_ends_with_the_incarnation },
        { "owner", test_event_has_one_owner_and_its_number_ends_with_it },
        { "pool", test_pool_gives_an_event_to_one_worker_or_to_all },
        { "refused", test_worker_without_room_is_counted_as_refused },
        { "come and go", test_who_stays_gets_all_while_others_come_and_go },
        { "manager", test_manager_gets_the_event_that_it_subscribes_to },
        CU_TEST_INFO_NULL,
    };

    return suite_run("events", tests);
}
