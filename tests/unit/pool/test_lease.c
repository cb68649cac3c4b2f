/*
 * Goal: a leased worker serves its holder alone, each lease ends in one way, and no message of a
 * lease that is over is handled: each row of the table of docs/guide/leases.md.
 *
 * Method: a pool that gives leases, and a pool of holders whose acts take, use and return. Each
 * lease has a slot of the fixture, where the continuation writes. The clock stands still until the
 * test moves it.
 */
#include <string.h>

#include "runtime.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SLOTS 8u
#define LEASE_MS 1000u
#define FOR_LONG_MS 100000u
#define NOT_YET 1

struct slot {
    struct weir_lease lease;
    uint64_t reference;
    _Atomic int answer; /* to the take */
    _Atomic int result; /* of the last call under the lease */
    _Atomic int reply;  /* to the last request under the lease */
};

struct fixture {
    struct rig rig;
    struct probe *member;
    struct probe *user;
    struct pool *pool;
    struct pool *users;
    struct slot slots[SLOTS];
};

/* --- holders ---------------------------------------------------------------------------------- */

static struct slot *slot_of(struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    return &f->slots[probe_order(message)->argument % SLOTS];
}

static void taken(struct weir_self *self, void *state, void *context,
                  const struct weir_reply *reply)
{
    struct slot *slot = context;

    (void)self;
    (void)state;
    if (weir_lease_of(reply))
        slot->lease = *weir_lease_of(reply);
    atomic_store(&slot->answer, reply->status);
}

static int take(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct slot *slot = slot_of(probe, message);
    uint64_t timeout_ms = probe_order(message)->argument / SLOTS;
    int status = weir_take(self, f->pool->pid, timeout_ms ? timeout_ms : FOR_LONG_MS, taken, slot,
                           &slot->reference);

    if (status != 0)
        atomic_store(&slot->answer, status);
    return WEIR_DONE;
}

static int give_up(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_cancel(self, slot->reference));
    return WEIR_DONE;
}

/* As give_up, after it has waited at the gate: an answer that came meanwhile is not seen yet. */
static int wait_and_give_up(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    return gate_pass(&probe->gate) ? give_up(self, probe, message) : WEIR_FAIL;
}

static int return_done(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_return(self, &slot->lease, WEIR_DONE));
    return WEIR_DONE;
}

static int return_failed(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_return(self, &slot->lease, WEIR_FAIL));
    return WEIR_DONE;
}

static int renew(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_lease_renew(self, &slot->lease));
    return WEIR_DONE;
}

/* Sends the member an order with the id of this one + 1000. */
static int use(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);
    struct weir_message *order = probe_message(
        self, (struct order){ .id = probe_order(message)->id + 1000 });
    int status = weir_lease_send(self, &slot->lease, order);

    if (status != 0)
        weir_message_free(self, order);
    atomic_store(&slot->result, status);
    return WEIR_DONE;
}

/* As use, and the member waits at the gate. */
static int use_long(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);
    struct weir_message *order = probe_message(
        self, (struct order){ .act = probe_wait, .id = probe_order(message)->id + 1000 });
    int status = weir_lease_send(self, &slot->lease, order);

    if (status != 0)
        weir_message_free(self, order);
    atomic_store(&slot->result, status);
    return WEIR_DONE;
}

static void replied(struct weir_self *self, void *state, void *context,
                    const struct weir_reply *reply)
{
    struct slot *slot = context;

    (void)self;
    (void)state;
    atomic_store(&slot->reply, reply->status);
}

static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);
    struct weir_message *order = probe_message(
        self, (struct order){ .act = probe_reply, .id = probe_order(message)->id + 1000 });
    int status = weir_lease_request(self, &slot->lease, order, FOR_LONG_MS, replied, slot, NULL);

    if (status != 0)
        weir_message_free(self, order);
    atomic_store(&slot->result, status);
    return WEIR_DONE;
}

static int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

/* --- the fixture ------------------------------------------------------------------------------ */

struct setup {
    uint32_t size;
    uint32_t queue;
    struct scale scale;
    uint32_t size_max;
};

static struct pool *make_pool(struct fixture *f, const struct setup *setup)
{
    struct pool_options options = {
        .path = "leased",
        .size = setup->size,
        .settings = { .route = WEIR_ROUTE_PULL,
                      .mailbox = 4,
                      .size_max = setup->size_max,
                      .scale = setup->scale,
                      .remove = { .timeout_ms = 500 },
                      .lease = { true, LEASE_MS, setup->queue } },
    };
    struct pool *pool;

    options.spec = rig_spec(f->member);
    options.spec->restart = (struct restart){ .max = 100, .within_ms = 1000 };
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static void begin_as(struct fixture *f, const struct setup *setup)
{
    memset(f, 0, sizeof *f);
    f->member = probe_create();
    f->user = probe_create();
    f->member->context = f;
    f->user->context = f;
    rig_init(&f->rig, 2, 0);
    f->pool = make_pool(f, setup);
    f->users = rig_workers(&f->rig, f->user, "users", SLOTS, 16);
    for (uint32_t i = 0; i < SLOTS; i++) {
        atomic_init(&f->slots[i].answer, NOT_YET);
        atomic_init(&f->slots[i].result, NOT_YET);
        atomic_init(&f->slots[i].reply, NOT_YET);
    }
}

static void begin(struct fixture *f, uint32_t size, uint32_t queue)
{
    const struct setup setup = { .size = size, .queue = queue };

    begin_as(f, &setup);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->users, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f->rig.runtime->given_up.count), 0);
    rig_finish(&f->rig);
    probe_destroy(f->member);
    probe_destroy(f->user);
}

/* Holder `slot` does something about its slot. */
static void act_of(struct fixture *f, uint32_t holder, probe_act *act, uint64_t argument)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(f->users, holder),
                             (struct order){ .act = act, .argument = argument, .id = holder }),
                    0);
}

static void act(struct fixture *f, uint32_t slot, probe_act *what)
{
    act_of(f, slot, what, slot);
}

static bool is_there(void *context)
{
    return atomic_load((_Atomic int *)context) != NOT_YET;
}

static bool is_equal(struct fixture *f, _Atomic int *where, int expected)
{
    return rig_wait(&f->rig, is_there, where) && atomic_load(where) == expected;
}

static bool answered(struct fixture *f, uint32_t slot, int expected)
{
    return is_equal(f, &f->slots[slot].answer, expected);
}

/* What a call of the holder returns. */
static int result(struct fixture *f, uint32_t slot, probe_act *what)
{
    atomic_store(&f->slots[slot].result, NOT_YET);
    act(f, slot, what);
    (void)rig_wait(&f->rig, is_there, &f->slots[slot].result);
    return atomic_load(&f->slots[slot].result);
}

static bool takes(struct fixture *f, uint32_t slot)
{
    atomic_store(&f->slots[slot].answer, NOT_YET);
    act(f, slot, take);
    return answered(f, slot, 0);
}

struct wish {
    struct fixture *f;
    _Atomic uint32_t *counter;
    uint64_t count;
};

static bool has_count(void *context)
{
    const struct wish *wish = context;

    return atomic_load(wish->counter) == wish->count;
}

static bool counts(struct fixture *f, _Atomic uint32_t *counter, uint32_t count)
{
    struct wish wish = { f, counter, count };

    return rig_wait(&f->rig, has_count, &wish);
}

static bool are_queued(void *context)
{
    const struct wish *wish = context;

    return rig_stats(wish->f->pool).queued == wish->count;
}

static bool queued(struct fixture *f, uint64_t count)
{
    struct wish wish = { f, NULL, count };

    return rig_wait(&f->rig, are_queued, &wish);
}

static bool are_busy(void *context)
{
    const struct wish *wish = context;
    struct weir_pool_stats stats = rig_stats(wish->f->pool);

    return stats.busy == wish->count && stats.starting == 0;
}

static bool busy(struct fixture *f, uint64_t count)
{
    struct wish wish = { f, NULL, count };

    return rig_wait(&f->rig, are_busy, &wish);
}

static bool same_member(struct fixture *f, uint32_t a, uint32_t b)
{
    return f->slots[a].lease.member == f->slots[b].lease.member;
}

/* --- taking and returning --------------------------------------------------------------------- */

static void test_returned_member_serves_the_next_taker(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(f.slots[0].lease.member, rig_worker(f.pool, 0));
    CU_ASSERT_EQUAL(f.slots[0].lease.pool, f.pool->pid);
    CU_ASSERT_TRUE(busy(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_TRUE(same_member(&f, 0, 1));
    CU_ASSERT_NOT_EQUAL(f.slots[0].lease.token, f.slots[1].lease.token);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->returned, 2));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    CU_ASSERT_TRUE(busy(&f, 0));
    finish(&f);
}

static void test_takers_wait_in_the_order_in_which_they_came(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_TRUE(takes(&f, 0));
    for (uint32_t slot = 1; slot <= 4; slot++) {
        act(&f, slot, take);
        CU_ASSERT_TRUE(queued(&f, slot));
    }
    act(&f, 5, take);
    CU_ASSERT_TRUE(answered(&f, 5, WEIR_EFULL));
    for (uint32_t slot = 1; slot <= 4; slot++) {
        CU_ASSERT_EQUAL(atomic_load(&f.slots[slot].answer), NOT_YET);
        CU_ASSERT_EQUAL(result(&f, slot - 1, return_done), 0);
        CU_ASSERT_TRUE(answered(&f, slot, 0));
    }
    CU_ASSERT_EQUAL(result(&f, 4, return_done), 0);
    finish(&f);
}

static void test_queue_of_zero_refuses_at_once_and_has_room_for_free_members(void)
{
    struct fixture f;

    begin(&f, 3, 0);
    for (uint32_t slot = 0; slot < 3; slot++)
        CU_ASSERT_TRUE(takes(&f, slot));
    CU_ASSERT_FALSE(same_member(&f, 0, 1));
    CU_ASSERT_FALSE(same_member(&f, 1, 2));
    CU_ASSERT_FALSE(same_member(&f, 0, 2));
    act(&f, 3, take);
    CU_ASSERT_TRUE(answered(&f, 3, WEIR_EFULL));
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    CU_ASSERT_TRUE(busy(&f, 2));
    CU_ASSERT_TRUE(takes(&f, 4));
    CU_ASSERT_TRUE(same_member(&f, 4, 1));
    finish(&f);
}

/* The member that was returned last is taken first: unused members can be culled. */
static void test_member_that_was_used_last_is_taken_first(void)
{
    struct fixture f;

    begin(&f, 3, 0);
    for (uint32_t slot = 0; slot < 3; slot++)
        CU_ASSERT_TRUE(takes(&f, slot));
    for (uint32_t slot = 0; slot < 3; slot++) {
        CU_ASSERT_EQUAL(result(&f, slot, return_done), 0);
        CU_ASSERT_TRUE(busy(&f, 2 - slot));
    }
    for (uint32_t slot = 3; slot < 6; slot++) {
        CU_ASSERT_TRUE(takes(&f, slot));
        CU_ASSERT_TRUE(same_member(&f, slot, 2));
        CU_ASSERT_EQUAL(result(&f, slot, return_done), 0);
        CU_ASSERT_TRUE(busy(&f, 0));
    }
    finish(&f);
}

static void test_pool_without_leases_is_unsupported(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, 1, 0);
    pool = f.pool;
    f.pool = f.users;
    act(&f, 0, take);
    CU_ASSERT_TRUE(answered(&f, 0, WEIR_EUNSUPPORTED));
    f.pool = pool;
    finish(&f);
}

static void test_plain_message_is_a_lease_for_its_time(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 2));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(probe_times(f.member, 1), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(probe_times(f.member, 1), 1);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    finish(&f);
}

/* --- giving up -------------------------------------------------------------------------------- */

static void test_taker_that_gave_up_is_never_served(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 1, give_up), 0);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECANCELLED));
    act_of(&f, 2, take, 2 + 10 * SLOTS);
    CU_ASSERT_TRUE(queued(&f, 2));
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ETIMEOUT));
    act(&f, 3, take); /* has their room */
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_EXPIRED), 1);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CANCELLED), 1);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 3, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    finish(&f);
}

static void test_taker_that_ended_is_never_served(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act(&f, 1, probe_fail);
    CU_ASSERT_TRUE(counts(&f, &f.user->closed, 1));
    act(&f, 2, take);
    CU_ASSERT_TRUE(queued(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 2, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    finish(&f);
}

/* The lease is granted, and the taker gives up before its turn: the member is free at once. */
static void test_answer_that_no_taker_waits_for_returns_the_member(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act(&f, 1, wait_and_give_up);
    CU_ASSERT_TRUE(gate_await(&f.user->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->taken, 2));
    gate_open(&f.user->gate);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECANCELLED));
    CU_ASSERT_TRUE(takes(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 2, return_done), 0);
    CU_ASSERT_TRUE(busy(&f, 0));
    finish(&f);
}

/* --- fencing ---------------------------------------------------------------------------------- */

static void test_leased_member_handles_its_holder_alone(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = 77 }), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 1000, 1));
    CU_ASSERT_EQUAL(probe_times(f.member, 77), 0);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 1);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(
        rig_send_lane(&f.rig, rig_worker(f.pool, 0), WEIR_HIGH, (struct order){ .id = 78 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 78, 1)); /* the manager's lanes work as ever */
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    finish(&f);
}

static void test_nothing_is_sent_under_a_lease_that_is_over(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, ask), WEIR_ENOTALLOWED);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, renew), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(probe_count(f.member), 0);
    finish(&f);
}

static void test_return_waits_for_what_was_sent_before_it(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_long), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 3)); /* the taker, and the two messages */
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 0);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(probe_count(f.member), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

static void test_double_return_and_return_by_another_change_nothing(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    f.slots[1].lease = f.slots[0].lease;
    CU_ASSERT_EQUAL(result(&f, 1, return_done), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 1, renew), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), WEIR_EUNKNOWN);
    CU_ASSERT_TRUE(takes(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(result(&f, 2, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    finish(&f);
}

/* --- the ends of a lease ---------------------------------------------------------------------- */

static void test_member_that_is_returned_as_failed_is_replaced(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), 0);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->closed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 0);
    finish(&f);
}

static void test_holder_that_stops_returns_the_member(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 0, stop);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

static void test_holder_that_fails_has_its_member_replaced(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_long), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    act(&f, 0, probe_fail);
    CU_ASSERT_TRUE(counts(&f, &f.user->closed, 1));
    act(&f, 1, take);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    finish(&f);
}

static void test_lease_that_lasts_too_long_is_revoked(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    rig_advance(&f.rig, LEASE_MS - 1);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, renew), 0);
    rig_advance(&f.rig, LEASE_MS - 1);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    finish(&f);
}

static void test_lease_of_a_member_that_fails_is_over(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    f.member->act = probe_fail;
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    finish(&f);
}

/* --- the callbacks ---------------------------------------------------------------------------- */

static int fails_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->taken) == 1 ? WEIR_FAIL : 0;
}

static void test_taker_gets_another_member_when_the_first_is_unhealthy(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    f.member->takes = fails_once;
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    finish(&f);
}

static int fails_always(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_FAIL;
}

static void test_member_that_cannot_be_returned_is_replaced(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    f.member->returns = fails_always;
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    finish(&f);
}

/* --- size and end ----------------------------------------------------------------------------- */

static void test_free_members_leave_first_and_a_leased_one_after_its_return(void)
{
    struct fixture f;

    begin(&f, 2, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0); /* it is to leave, and serves its holder */
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 2));
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

static void test_lease_of_a_leaving_member_is_revoked_after_the_time_out(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    rig_advance(&f.rig, 500);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    finish(&f);
}

static void test_closing_pool_tells_takers_and_waits_for_holders(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECLOSED));
    act(&f, 2, take);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ECLOSED));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

static void test_taker_waits_for_a_pool_that_grows_from_none(void)
{
    const struct setup setup = { .queue = 1, .size_max = 2, .scale = { true, 0, 1000 } };
    struct fixture f;

    begin_as(&f, &setup);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_FALSE(same_member(&f, 0, 1));
    act(&f, 2, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 2, 0));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "next taker", test_returned_member_serves_the_next_taker },
        { "order", test_takers_wait_in_the_order_in_which_they_came },
        { "no queue", test_queue_of_zero_refuses_at_once_and_has_room_for_free_members },
        { "last used", test_member_that_was_used_last_is_taken_first },
        { "unsupported", test_pool_without_leases_is_unsupported },
        { "plain", test_plain_message_is_a_lease_for_its_time },
        { "gave up", test_taker_that_gave_up_is_never_served },
        { "ended", test_taker_that_ended_is_never_served },
        { "late answer", test_answer_that_no_taker_waits_for_returns_the_member },
        { "alone", test_leased_member_handles_its_holder_alone },
        { "over", test_nothing_is_sent_under_a_lease_that_is_over },
        { "return waits", test_return_waits_for_what_was_sent_before_it },
        { "double return", test_double_return_and_return_by_another_change_nothing },
        { "failed", test_member_that_is_returned_as_failed_is_replaced },
        { "holder stops", test_holder_that_stops_returns_the_member },
        { "holder fails", test_holder_that_fails_has_its_member_replaced },
        { "too long", test_lease_that_lasts_too_long_is_revoked },
        { "member fails", test_lease_of_a_member_that_fails_is_over },
        { "unhealthy", test_taker_gets_another_member_when_the_first_is_unhealthy },
        { "no return", test_member_that_cannot_be_returned_is_replaced },
        { "shrinks", test_free_members_leave_first_and_a_leased_one_after_its_return },
        { "leaves", test_lease_of_a_leaving_member_is_revoked_after_the_time_out },
        { "closes", test_closing_pool_tells_takers_and_waits_for_holders },
        { "grows", test_taker_waits_for_a_pool_that_grows_from_none },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease", tests);
}
