/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker makes children, which live no longer than its incarnation: when it drains they
 * finish their accepted messages, when it fails or stops they are stopped, and the next incarnation
 * opens when they have ended. Their messages are in the ledger of the parent's pool. Their number
 * is limited.
 *
 * Method: workers of one probe whose children are actors of another; children wait at a gate while
 * their parent ends in every way.
 */
#include "actor/children.h"
#include "actor/find.h"
#include "actor/lifecycle.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define STATUS 2000u /* a note: STATUS - status */
#define DOWN 3000u   /* a note: DOWN + reason of the end */
#define TRIES 4000u  /* a note: TRIES + how many could be made */

struct fixture {
    struct rig rig;
    struct probe *parent;
    struct probe *child;
    struct pool *pool;
    _Atomic weir_pid pid; /* of the child that was made last */
    _Atomic bool refuses; /* children do not open */
};

static int open_child(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    CU_ASSERT_NOT_EQUAL(weir_parent(self), 0);
    CU_ASSERT_EQUAL(weir_pool(self), 0);
    if (!atomic_load(&f->refuses))
        return 0;
    weir_reason(self, "not today");
    return WEIR_EUNSUPPORTED;
}

static int note_down(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    const struct weir_end *end = message->data;

    (void)self;
    probe_note(probe, DOWN + (uint64_t)end->reason);
    if (end->status != 0) {
        CU_ASSERT_EQUAL(end->status, WEIR_EUNSUPPORTED);
        CU_ASSERT_STRING_EQUAL(end->detail, "not today");
    }
    return WEIR_DONE;
}

static void begin_with(struct fixture *f, uint32_t threads)
{
    *f = (struct fixture){ .parent = probe_create(), .child = probe_create() };
    f->parent->context = f;
    f->parent->tied = note_down;
    f->child->context = f;
    f->child->opens = open_child;
    f->child->behaviour.name = "child";
    rig_init(&f->rig, threads, 0);
    f->pool = rig_workers(&f->rig, f->parent, "pool", 1, 16);
}

static void begin(struct fixture *f)
{
    begin_with(f, 2);
}

static void finish(struct fixture *f)
{
    struct ledger_reading reading;

    gate_open(&f->child->gate);
    gate_open(&f->parent->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &reading));
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), 0);
    CU_ASSERT_EQUAL(atomic_load(&f->child->opened), atomic_load(&f->child->closed));
    rig_finish(&f->rig);
    probe_destroy(f->parent);
    probe_destroy(f->child);
}

/* --- acts of the parent --------------------------------------------------------------------- */

/* The probe's `open` finds itself by its settings: those of a child hold its address. */
static int open_by_address(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = *(struct probe *const *)settings;

    return probe->behaviour.open(self, probe, state);
}

static int spawn_with(struct weir_self *self, struct fixture *f, uint32_t flags, weir_pid *out)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_behaviour behaviour = f->child->behaviour;

    behaviour.open = open_by_address;
    behaviour.settings_size = sizeof f->child;
    options.behaviour = &behaviour;
    options.settings = &f->child;
    options.limit = 8;
    options.flags = flags;
    return weir_spawn(self, &options, out);
}

/* Makes a child that it watches, and sends it the act in `argument` and two plain orders. */
static int spawn_one(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct fixture *f = probe->context;
    probe_act *act = (probe_act *)(uintptr_t)probe_order(message)->argument;
    weir_pid pid = 0;

    CU_ASSERT_EQUAL_FATAL(spawn_with(self, f, 0, &pid), 0);
    CU_ASSERT_EQUAL(weir_monitor(self, pid, NULL), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, (struct order){ act, 1, 0 })), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, (struct order){ NULL, 2, 0 })), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, (struct order){ NULL, 3, 0 })), 0);
    atomic_store(&f->pid, pid);
    return WEIR_DONE;
}

static int spawn_linked(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;
    weir_pid pid;

    (void)message;
    CU_ASSERT_EQUAL_FATAL(spawn_with(self, f, WEIR_SPAWN_LINKED, &pid), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, (struct order){ probe_fail, 1, 0 })),
                    0);
    return WEIR_DONE;
}

static int end_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    weir_pid pid = atomic_load(&f->pid);
    int status = probe_order(message)->argument ? weir_stop_now(self, pid) : weir_stop(self, pid);

    probe_note(probe, STATUS + (uint64_t)-status);
    return WEIR_DONE;
}

static int kill_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_exit(self, atomic_load(&f->pid), WEIR_END_KILL), 0);
    probe_note(probe, STATUS);
    return WEIR_DONE;
}

static int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

static void give_order(struct fixture *f, probe_act *act, uint64_t argument)
{
    const struct order order = { .act = act, .id = 100, .argument = argument };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, order), 0);
}

/* Has a child that waits inside its first message, with two more in its mailbox. */
static void have_one(struct fixture *f)
{
    give_order(f, spawn_one, (uint64_t)(uintptr_t)probe_wait);
    CU_ASSERT_TRUE(gate_await(&f->child->gate, 1));
}

struct opens {
    struct fixture *f;
    uint32_t count;
};

static bool has_opened(void *context)
{
    struct opens *opens = context;

    return atomic_load(&opens->f->parent->opened) >= opens->count;
}

static bool has_one_in_hand(void *context)
{
    return rig_ledger(((struct fixture *)context)->pool).in_hand == 1;
}

/* --- tests ---------------------------------------------------------------------------------- */

/* promise A10 */
static void test_stopped_child_finishes_what_it_accepted(void)
{
    struct ledger_reading reading;
    struct fixture f;

    begin(&f);
    have_one(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_one_in_hand, &f)); /* the parent has handled its own */
    reading = rig_ledger(f.pool);
    CU_ASSERT_EQUAL(reading.accepted, 4); /* one of the parent's, three of the child's */
    CU_ASSERT_EQUAL(reading.queued, 2);
    give_order(&f, end_it, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, STATUS, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, atomic_load(&f.pid), (struct order){ .id = 4 }), 0);
    gate_open(&f.child->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, DOWN + WEIR_END_SHUTDOWN, 1));
    CU_ASSERT_EQUAL(probe_times(f.child, 1), 1);
    CU_ASSERT_EQUAL(probe_times(f.child, 2), 1);
    CU_ASSERT_EQUAL(probe_times(f.child, 3), 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, atomic_load(&f.pid), (struct order){ .id = 5 }),
                    WEIR_ETERMINATED);
    give_order(&f, end_it, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, STATUS + (uint64_t)-WEIR_EUNKNOWN, 1));
    finish(&f);
}

/* promise A11 */
static void test_child_that_is_stopped_now_ends_behind_its_message(void)
{
    struct fixture f;

    begin(&f);
    have_one(&f);
    give_order(&f, end_it, true);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, STATUS, 1));
    gate_open(&f.child->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, DOWN + WEIR_END_SHUTDOWN, 1));
    CU_ASSERT_EQUAL(probe_times(f.child, 1), 1);
    CU_ASSERT_EQUAL(probe_times(f.child, 2) + probe_times(f.child, 3), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool)); /* the watcher gets its notice before */
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_TERMINATED), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.child->last_reason), WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).dead, 2);
    finish(&f);
}

/* promise A11 */
static void test_killed_child_ends_as_a_failure(void)
{
    struct fixture f;

    begin(&f);
    have_one(&f);
    give_order(&f, kill_it, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, STATUS, 1));
    gate_open(&f.child->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, DOWN + WEIR_END_KILL, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.child->last_reason), WEIR_END_KILL);
    CU_ASSERT_EQUAL(probe_times(f.child, 2) + probe_times(f.child, 3), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool)); /* the watcher gets its notice before */
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_TERMINATED), 2);
    finish(&f);
}

/* The parent has closed, and its children have got their stop. */
static bool is_between_two_lives(void *context)
{
    struct fixture *f = context;
    struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->pool, 0));

    return actor_state(actor) == ACTOR_STARTING;
}

static void expect_children_end_before_the_next_open(probe_act *how)
{
    struct fixture f;
    struct opens twice = { &f, 2 };

    begin(&f);
    have_one(&f);
    give_order(&f, how, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_between_two_lives, &f));
    give_order(&f, NULL, 0);
    CU_ASSERT_EQUAL(atomic_load(&f.parent->opened), 1); /* the child is held, and so is the place */
    gate_open(&f.child->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_opened, &twice));
    CU_ASSERT_EQUAL(atomic_load(&f.child->closed), 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.child, 2) + probe_times(f.child, 3), 0);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_TERMINATED), 2);
    finish(&f);
}

/* promise A10 */
static void test_children_of_a_failed_worker_end_before_the_next_opens(void)
{
    expect_children_end_before_the_next_open(probe_fail);
}

/* promise A10 */
static void test_children_of_a_worker_that_stops_end_before_the_next_opens(void)
{
    expect_children_end_before_the_next_open(stop);
}

/* The parent has sent a signal to the child, which waits in its handler. */
static bool has_noted_end(void *context)
{
    struct fixture *f = context;
    struct actor *child = actor_find(f->rig.runtime, atomic_load(&f->pid));

    return child && atomic_load(&child->mailbox.signals) != 0;
}

/* promise A10 */
static void test_children_of_a_removed_worker_finish_first(void)
{
    struct fixture f;

    begin(&f);
    have_one(&f);
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_noted_end, &f));
    CU_ASSERT_EQUAL(atomic_load(&f.parent->closed), 0);
    gate_open(&f.child->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.child, 3, 1));
    finish(&f);
}

/* promise A10 */
static void test_linked_child_takes_its_parent_along(void)
{
    struct fixture f;
    struct opens twice = { &f, 2 };

    begin(&f);
    give_order(&f, spawn_linked, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_opened, &twice));
    finish(&f);
}

/* promise A10 */
static void test_child_that_cannot_open_ends_and_says_why(void)
{
    struct fixture f;

    begin_with(&f, 1); /* it lives until its parent watches it and has sent to it */
    atomic_store(&f.refuses, true);
    give_order(&f, spawn_one, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, DOWN + WEIR_END_CRASH, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_TERMINATED), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.child->opened), 0);
    finish(&f);
}

/* --- bounds --------------------------------------------------------------------------------- */

/* Makes a child that does the same, until it is refused. */
static int go_deeper(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct fixture *f = probe->context;
    const uint64_t depth = probe_order(message)->argument;
    weir_pid pid;
    int status = spawn_with(self, f, 0, &pid);

    if (status != 0) {
        CU_ASSERT_EQUAL(status, WEIR_EFULL);
        probe_note(f->parent, TRIES + depth);
        return WEIR_DONE;
    }
    CU_ASSERT_EQUAL(
        weir_send(self, pid, probe_message(self, (struct order){ go_deeper, 7, depth + 1 })), 0);
    return WEIR_DONE;
}

/* promise A12 */
static void test_children_do_not_stand_too_deep(void)
{
    struct fixture f;

    begin(&f);
    give_order(&f, go_deeper, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, TRIES + WEIR_CHILDREN_DEPTH_MAX, 1));
    finish(&f);
}

static int spawn_many(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct fixture *f = probe->context;
    uint64_t made = 0;
    weir_pid pid;

    (void)message;
    while (made <= WEIR_CHILDREN_MAX && spawn_with(self, f, 0, &pid) == 0)
        made++;
    CU_ASSERT_EQUAL(made, WEIR_CHILDREN_MAX);
    probe_note(probe, TRIES);
    return WEIR_FAIL;
}

/* promise A12 */
static void test_no_more_children_than_the_budget(void)
{
    struct fixture f;
    struct opens twice = { &f, 2 };

    begin(&f);
    give_order(&f, spawn_many, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, TRIES, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_opened, &twice)); /* all of them have ended */
    give_order(&f, spawn_one, 0);                         /* and new ones may be made */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.child, 3, 1));
    finish(&f);
}

static int spawn_wrong(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    static const struct weir_behaviour mute = { .name = "mute" };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    weir_pid pid = 1;

    (void)message;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &pid), WEIR_EINVALID);
    options.behaviour = &mute;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &pid), WEIR_EINVALID);
    options.behaviour = &((struct fixture *)probe->context)->child->behaviour;
    options.size = 4;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &pid), WEIR_EINVALID);
    CU_ASSERT_EQUAL(pid, 1);
    CU_ASSERT_EQUAL(weir_stop(self, weir_pid_of(self)), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_parent(self), 0);
    probe_note(probe, TRIES);
    return WEIR_DONE;
}

static void test_wrong_options_make_nobody(void)
{
    struct fixture f;

    begin(&f);
    give_order(&f, spawn_wrong, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.parent, TRIES, 1));
    finish(&f);
}

static int emit_once(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = 77 })), 0);
    return WEIR_DONE;
}

/* A pool whose only worker is held and has no room left. */
static struct pool *full_pool(struct fixture *f, struct probe *probe, const char *path)
{
    struct pool *pool = rig_workers(&f->rig, probe, path, 1, 1);

    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .id = 1 }), 0);
    return pool;
}

static void bind(struct fixture *f, weir_pid target)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct wiring *wiring = wiring_create(1);

    wiring->bindings[0] = (struct binding){ target, WEIR_FULL_WAIT };
    pool_set_wiring(f->pool, wiring, executor);
    runtime_leave(executor);
}

static bool holds_one(void *context)
{
    return rig_ledger(((struct fixture *)context)->pool).held == 1;
}

/* promise O2: what a child holds follows an output that is bound again. */
static void test_child_that_waits_for_room_looks_where_its_output_leads_now(void)
{
    struct probe *held = probe_create(), *free_one = probe_create();
    struct pool_options options = { .path = "feeding", .size = 1, .output_count = 1 };
    struct binding binding = { .when_full = WEIR_FULL_WAIT };
    struct pool *before, *now;
    struct fixture f;

    begin_with(&f, 3);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    before = full_pool(&f, held, "before");
    now = rig_workers(&f.rig, free_one, "now", 1, 4);
    binding.target = before->pid;
    options.spec = rig_spec(f.parent);
    options.outputs = &binding;
    f.pool = rig_pool(&f.rig, &options);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    give_order(&f, spawn_one, (uint64_t)(uintptr_t)emit_once);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_one, &f));
    bind(&f, now->pid);
    CU_ASSERT_TRUE(rig_noted(&f.rig, free_one, 77, 1));
    gate_open(&held->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, before, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, now, NULL));
    spec_unref(options.spec);
    finish(&f);
    probe_destroy(held);
    probe_destroy(free_one);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "drain", test_stopped_child_finishes_what_it_accepted },
        { "stop now", test_child_that_is_stopped_now_ends_behind_its_message },
        { "kill", test_killed_child_ends_as_a_failure },
        { "failed", test_children_of_a_failed_worker_end_before_the_next_opens },
        { "stopped", test_children_of_a_worker_that_stops_end_before_the_next_opens },
        { "removed", test_children_of_a_removed_worker_finish_first },
        { "linked", test_linked_child_takes_its_parent_along },
        { "unopened", test_child_that_cannot_open_ends_and_says_why },
        { "deep", test_children_do_not_stand_too_deep },
        { "many", test_no_more_children_than_the_budget },
        { "wrong", test_wrong_options_make_nobody },
        { "bound again", test_child_that_waits_for_room_looks_where_its_output_leads_now },
        CU_TEST_INFO_NULL,
    };

    return suite_run("children", tests);
}
