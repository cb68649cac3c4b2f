/*
 * Goal: FULL is true of one instant: a sender that looks at one worker after the other is not told
 * FULL when a place came free behind its look while the last one before it was taken.
 *
 * Method: what looks for room is counted by functions that stand in for those of the core (--wrap),
 * and between two looks of one send a place comes free at one worker and the last one of the other
 * is taken, so that at each instant one of them has room. Both workers are held in a message.
 */
#include "actor/send.h"
#include "pool/broadcast.h"
#include "pool/pulling.h"
#include "pool/refusal.h"
#include "pool/route_chain.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LEVELS 4u /* of pools, at most */
#define MOVES 24u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *top;
    struct pool *leaves[2]; /* each of one worker; or the same pool of two */
    struct pool *between[2 * LEVELS];
    uint32_t between_count;
    weir_pid doors[2]; /* by which a message gets to the one, or to the other */
    uint32_t arrived;  /* at the gate */
    uint32_t looks;    /* of the send that is watched */
    bool watches;
    uint32_t moves; /* how often the last place is still moved before it is looked at */
    uint32_t moved;
};

/* Of the send that is watched; by the test's own thread. */
static struct fixture *watched;

static void before_look(void);
static void before_look_at(struct mailbox *mailbox);

#define LOOK(answer, name, parameters, arguments)                                                  \
    answer __real_##name parameters;                                                               \
    answer __wrap_##name parameters;                                                               \
    answer __wrap_##name parameters                                                                \
    {                                                                                              \
        before_look();                                                                             \
        return __real_##name arguments;                                                            \
    }

int __real_send_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message);
int __wrap_send_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message);
int __real_mailbox_look(struct mailbox *mailbox, uint32_t serial, uint64_t size,
                        uint64_t *out_taken);
int __wrap_mailbox_look(struct mailbox *mailbox, uint32_t serial, uint64_t size,
                        uint64_t *out_taken);

int __wrap_send_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message)
{
    before_look();
    before_look_at(&actor->mailbox);
    return __real_send_deliver(actor, serial, executor, message);
}

int __wrap_mailbox_look(struct mailbox *mailbox, uint32_t serial, uint64_t size,
                        uint64_t *out_taken)
{
    before_look_at(mailbox);
    return __real_mailbox_look(mailbox, serial, size, out_taken);
}

LOOK(int, send_deliver_chain,
     (struct actor * actor, uint32_t serial, struct executor *executor,
      struct message *const *messages, uint32_t count),
     (actor, serial, executor, messages, count))
LOOK(int, pulling_push, (struct pool * pool, struct executor *executor, struct message *message),
     (pool, executor, message))
LOOK(int, broadcast, (struct pool * pool, struct executor *executor, struct message *message),
     (pool, executor, message))

static struct order waiting(void)
{
    return (struct order){ .act = probe_wait };
}

static void fill(struct fixture *f, uint32_t which)
{
    CU_ASSERT_EQUAL(rig_send_key(&f->rig, f->doors[which], 1, waiting()), 0);
}

/* The one that came to the gate first goes on, and takes the message that waits for it. */
static void free_place(struct fixture *f)
{
    gate_admit(&f->probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, ++f->arrived));
}

/* Before the second look there is a place at the other; before the third at the one. */
static void before_look(void)
{
    struct fixture *f = watched;

    if (!f || !f->watches || f->moves > 0)
        return;
    f->watches = false;
    switch (++f->looks) {
    case 2:
        free_place(f);
        fill(f, 1);
        break;
    case 3:
        free_place(f);
        fill(f, 0);
        break;
    default:
        break;
    }
    f->watches = true;
}

/* The last place is always where nobody looks. */
static void before_look_at(struct mailbox *mailbox)
{
    struct fixture *f = watched;
    uint32_t which;

    if (!f || !f->watches || f->moved == f->moves || mailbox_waiting(mailbox) > 0)
        return;
    f->watches = false;
    which = mailbox == &actor_find(f->rig.runtime, f->doors[1])->mailbox;
    free_place(f);
    fill(f, which);
    f->moved++;
    f->watches = true;
}

/* --- pools ---------------------------------------------------------------------------------- */

static struct pool *make_pool(struct fixture *f, struct pool_options options)
{
    struct pool *pool;

    options.limit = 1;
    options.spec = options.size ? rig_spec(f->probe) : NULL;
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE_FATAL(rig_settled(&f->rig, pool));
    return pool;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create() };
    rig_init(&f->rig, 3, 0);
}

/* One worker behind so many pools below the top. */
static void make_branch(struct fixture *f, uint32_t which, uint32_t levels, enum pool_route route)
{
    char path[] = "top/a/a/a";
    struct pool *parent = f->top;

    for (uint32_t level = 1; level <= levels; level++) {
        bool is_leaf = level == levels;

        path[3 + 2 * level - 1] = (char)('a' + which);
        path[3 + 2 * level] = '\0';
        parent = make_pool(
            f, (struct pool_options){
                   .path = path, .parent = parent, .size = is_leaf, .route = is_leaf ? route : 0 });
        path[3 + 2 * level] = '/';
        f->between[f->between_count++] = parent;
    }
    f->doors[which] = parent->pid;
}

static void begin_flat(struct fixture *f)
{
    begin(f);
    f->top = make_pool(f, (struct pool_options){ .path = "top", .size = 2 });
    f->doors[0] = rig_worker(f->top, 0);
    f->doors[1] = rig_worker(f->top, 1);
}

static void begin_nested(struct fixture *f, uint32_t levels, enum pool_route route)
{
    begin(f);
    f->top = make_pool(f, (struct pool_options){ .path = "top" });
    make_branch(f, 0, levels - 1, route);
    make_branch(f, 1, levels - 1, route);
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;
    struct executor *executor;

    watched = NULL;
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->top, &ledger));
    /* Two in hand, one that waited at first, one for each move, and that of the send. */
    CU_ASSERT_EQUAL(ledger.done, f->moves > 0 ? 4 + f->moves : 6);
    executor = runtime_enter(f->rig.runtime);
    for (uint32_t i = 0; i < f->between_count; i++)
        pool_destroy(f->between[i], executor);
    runtime_leave(executor);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Both have one in hand, and the first has no room for more. */
static void hold(struct fixture *f)
{
    for (uint32_t i = 0; i < 2; i++) {
        fill(f, i);
        CU_ASSERT_TRUE(gate_await(&f->probe->gate, ++f->arrived));
    }
    fill(f, 0);
}

/* --- sends ---------------------------------------------------------------------------------- */

static int send_one(struct fixture *f, struct executor *executor, bool as_chain)
{
    struct message *message = message_create(&executor->cache, NULL, sizeof(struct order));
    int status;

    *(struct order *)message->public.data = waiting();
    message->public.key = 1;
    watched = f;
    f->watches = true;
    if (as_chain)
        status = send_chain(f->rig.runtime, executor, f->top->pid, &message, 1) == 1 ? 0 : -1;
    else
        status = send_message(f->rig.runtime, executor, f->top->pid, WEIR_NORMAL, message);
    f->watches = false;
    if (status != 0)
        message_destroy(&executor->cache, message);
    return status;
}

static void send_while_places_move(struct fixture *f, bool as_chain)
{
    struct executor *executor;

    hold(f);
    executor = runtime_enter(f->rig.runtime);
    for (uint32_t i = 0; i < EXECUTOR_ROUNDS; i++)
        executor->rounds[i] = 0; /* begins with the first */
    CU_ASSERT_EQUAL(send_one(f, executor, as_chain), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(f->looks >= 3 || f->moves > 0);
}

/* promises P3 and S5 */
static void test_a_place_that_came_free_behind_the_look_is_found(void)
{
    struct fixture f;

    begin_flat(&f);
    send_while_places_move(&f, false);
    finish(&f);
}

/* promise P3: however often, and if the looks themselves are what it happens behind. */
static void test_it_is_found_behind_any_look(void)
{
    struct fixture f;

    for (uint32_t moves = 1; moves <= MOVES; moves++) {
        begin_flat(&f);
        f.moves = moves;
        send_while_places_move(&f, false);
        CU_ASSERT_EQUAL(f.moved, moves);
        finish(&f);
    }
}

/* promises P3 and S9 */
static void test_a_chain_finds_it_too(void)
{
    struct fixture f;

    begin_flat(&f);
    send_while_places_move(&f, true);
    finish(&f);
}

static void look_through(uint32_t levels, enum pool_route route)
{
    struct fixture f;

    begin_nested(&f, levels, route);
    send_while_places_move(&f, false);
    finish(&f);
}

/* promise P3 */
static void test_it_is_found_through_four_levels(void)
{
    look_through(2, ROUTE_ROUND_ROBIN);
    look_through(3, ROUTE_ROUND_ROBIN);
    look_through(4, ROUTE_ROUND_ROBIN);
}

/* promise P3: whatever the route of the pools with the workers. */
static void test_it_is_found_by_each_route_below(void)
{
    static const enum pool_route routes[] = { ROUTE_LEAST_LOADED, ROUTE_RANDOM, ROUTE_HASH,
                                              ROUTE_PULL, ROUTE_BROADCAST };

    for (uint32_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        look_through(4, routes[i]);
}

/* promise Z4: also when it was paused after it was closed, and whoever it is that decides. */
static void test_a_pool_that_closes_is_never_full(void)
{
    static const enum pool_route routes[] = { ROUTE_ROUND_ROBIN, ROUTE_HASH, ROUTE_PULL,
                                              ROUTE_BROADCAST };

    for (uint32_t i = 0; i < 2 * sizeof routes / sizeof routes[0]; i++) {
        struct message message = { .public = { .key = 1 } };
        struct fixture f;
        struct executor *executor;

        begin(&f);
        f.top = make_pool(
            &f, (struct pool_options){ .path = "top", .size = 1 + i % 2, .route = routes[i / 2] });
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.top->pid, 1, waiting()), 0);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
        executor = runtime_enter(f.rig.runtime);
        pool_close(f.top, executor);
        pool_pause(f.top, true, executor);
        CU_ASSERT_FALSE(refusal_stands(f.top, &message));
        runtime_leave(executor);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_end(&f.rig, f.top, NULL));
        rig_finish(&f.rig);
        probe_destroy(f.probe);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "flat", test_a_place_that_came_free_behind_the_look_is_found },
        { "any look", test_it_is_found_behind_any_look },
        { "chain", test_a_chain_finds_it_too },
        { "levels", test_it_is_found_through_four_levels },
        { "routes", test_it_is_found_by_each_route_below },
        { "closed", test_a_pool_that_closes_is_never_full },
        CU_TEST_INFO_NULL,
    };

    return suite_run("refusal", tests);
}
