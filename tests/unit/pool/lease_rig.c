/* SPDX-License-Identifier: MIT */
#include "unit/pool/lease_rig.h"

#include <string.h>

#include "unit/host/suite.h"

#define FOR_LONG_MS 100000u

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

static int take_within(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message, uint64_t timeout_ms)
{
    struct fixture *f = probe->context;
    struct slot *slot = slot_of(probe, message);
    int status = weir_take(self, f->target, timeout_ms, taken, slot, &slot->reference);

    if (status != 0)
        atomic_store(&slot->answer, status);
    return WEIR_DONE;
}

int take(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t timeout_ms = probe_order(message)->argument / SLOTS;

    return take_within(self, probe, message, timeout_ms ? timeout_ms : FOR_LONG_MS);
}

int try_to_take(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    return take_within(self, probe, message, 0);
}

int give_up(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_cancel(self, slot->reference));
    return WEIR_DONE;
}

int wait_and_give_up(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    return gate_pass(&probe->gate) ? give_up(self, probe, message) : WEIR_FAIL;
}

int return_done(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_return(self, &slot->lease, WEIR_DONE));
    return WEIR_DONE;
}

int return_failed(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_return(self, &slot->lease, WEIR_FAIL));
    return WEIR_DONE;
}

int renew(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct slot *slot = slot_of(probe, message);

    atomic_store(&slot->result, weir_lease_renew(self, &slot->lease));
    return WEIR_DONE;
}

int send_under(struct weir_self *self, struct probe *probe, const struct weir_message *message,
               probe_act *what)
{
    struct slot *slot = slot_of(probe, message);
    struct weir_message *order = probe_message(
        self, (struct order){ .act = what, .id = probe_order(message)->id + 1000 });
    int status = weir_lease_send(self, &slot->lease, order);

    if (status != 0)
        weir_message_free(self, order);
    atomic_store(&slot->result, status);
    return WEIR_DONE;
}

int use(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    return send_under(self, probe, message, NULL);
}

int use_long(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    return send_under(self, probe, message, probe_wait);
}

int use_and_break(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    return send_under(self, probe, message, probe_fail);
}

static void replied(struct weir_self *self, void *state, void *context,
                    const struct weir_reply *reply)
{
    struct slot *slot = context;

    (void)self;
    (void)state;
    atomic_store(&slot->reply, reply->status);
}

int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
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

static int arrive(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    atomic_store(&slot_of(probe, message)->reply, 0);
    return WEIR_DONE;
}

int put_aside(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct order *order = message->data;

    (void)probe;
    order->act = arrive;
    return weir_stash(self, message) == 0 ? WEIR_DONE : WEIR_REJECT;
}

static int bring_back(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    return weir_unstash(self, 1) == 1 ? WEIR_DONE : WEIR_REJECT;
}

int use_and_bring_back(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    return send_under(self, probe, message, bring_back);
}

int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

/* --- the fixture ------------------------------------------------------------------------------ */

static struct pool *make_pool(struct fixture *f, const struct setup *setup)
{
    struct pool_options options = {
        .path = "leased",
        .size = setup->size,
        .settings = { .route = WEIR_ROUTE_PULL,
                      .mailbox = 4,
                      .mailbox_bytes = setup->bytes,
                      .size_max = setup->size_max,
                      .scale = setup->scale,
                      .remove = { .timeout_ms = 500 },
                      .lease = { true, LEASE_MS, setup->queue } },
    };
    struct pool *pool;

    options.spec = rig_spec(f->member);
    options.spec->restart = (struct restart){
        .max = setup->failures ? setup->failures : UINT32_MAX,
        .within_ms = setup->failures ? LEASE_MS : 1,
        .backoff_ms_min = LEASE_MS,
        .backoff_ms_max = LEASE_MS,
    };
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

/* They may fail as often as a test wants. */
static struct pool *make_users(struct fixture *f)
{
    struct pool_options options = { .path = "users", .size = SLOTS, .settings.mailbox = 16 };
    struct pool *pool;

    options.spec = rig_spec(f->user);
    options.spec->restart = (struct restart){ .max = UINT32_MAX, .within_ms = 1 };
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

void begin_as(struct fixture *f, const struct setup *setup)
{
    memset(f, 0, sizeof *f);
    f->member = probe_create();
    f->user = probe_create();
    f->member->context = f;
    f->user->context = f;
    rig_init(&f->rig, setup->threads ? setup->threads : 2, setup->budget);
    f->pool = make_pool(f, setup);
    f->users = make_users(f);
    f->target = f->pool->pid;
    for (uint32_t i = 0; i < SLOTS; i++) {
        atomic_init(&f->slots[i].answer, NOT_YET);
        atomic_init(&f->slots[i].result, NOT_YET);
        atomic_init(&f->slots[i].reply, NOT_YET);
    }
    CU_ASSERT_TRUE(busy(f, 0));
}

void begin(struct fixture *f, uint32_t size, uint32_t queue)
{
    const struct setup setup = { .size = size, .queue = queue };

    begin_as(f, &setup);
}

void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->users, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f->rig.runtime->given_up.count), 0);
    rig_finish(&f->rig);
    probe_destroy(f->member);
    probe_destroy(f->user);
}

void act_of(struct fixture *f, uint32_t holder, probe_act *what, uint64_t argument)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(f->users, holder),
                             (struct order){ .act = what, .argument = argument, .id = holder }),
                    0);
}

void act(struct fixture *f, uint32_t slot, probe_act *what)
{
    act_of(f, slot, what, slot);
}

static bool is_there(void *context)
{
    return atomic_load((_Atomic int *)context) != NOT_YET;
}

bool is_equal(struct fixture *f, _Atomic int *where, int expected)
{
    return rig_wait(&f->rig, is_there, where) && atomic_load(where) == expected;
}

bool answered(struct fixture *f, uint32_t slot, int expected)
{
    return is_equal(f, &f->slots[slot].answer, expected);
}

int result(struct fixture *f, uint32_t slot, probe_act *what)
{
    atomic_store(&f->slots[slot].result, NOT_YET);
    act(f, slot, what);
    (void)rig_wait(&f->rig, is_there, &f->slots[slot].result);
    return atomic_load(&f->slots[slot].result);
}

bool takes(struct fixture *f, uint32_t slot)
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

bool counts(struct fixture *f, _Atomic uint32_t *counter, uint32_t count)
{
    struct wish wish = { f, counter, count };

    return rig_wait(&f->rig, has_count, &wish);
}

static bool are_queued(void *context)
{
    const struct wish *wish = context;

    return rig_stats(wish->f->pool).queued == wish->count;
}

bool queued(struct fixture *f, uint64_t count)
{
    struct wish wish = { f, NULL, count };

    return rig_wait(&f->rig, are_queued, &wish);
}

static bool have_come(void *context)
{
    const struct wish *wish = context;
    struct ledger_reading ledger = rig_ledger(wish->f->pool);

    return ledger.queued + ledger.moved == wish->count;
}

bool came(struct fixture *f, uint64_t count)
{
    struct wish wish = { f, NULL, count };

    return rig_wait(&f->rig, have_come, &wish);
}

static bool are_busy(void *context)
{
    const struct wish *wish = context;
    struct weir_pool_stats stats = rig_stats(wish->f->pool);

    return stats.busy == wish->count && stats.starting == 0 &&
           atomic_load(&wish->f->pool->pull.sleeping) + stats.busy == stats.live + stats.retiring;
}

bool busy(struct fixture *f, uint64_t count)
{
    struct wish wish = { f, NULL, count };

    return rig_wait(&f->rig, are_busy, &wish);
}

bool same_member(struct fixture *f, uint32_t a, uint32_t b)
{
    return f->slots[a].lease.member == f->slots[b].lease.member;
}
