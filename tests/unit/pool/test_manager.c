/* SPDX-License-Identifier: MIT */
/*
 * Goal: messages to a pool itself go to its manager: the built-in one, or a behaviour.
 *
 * Method: a worker of another pool sends requests in the lane high and notes the answers; a probe
 * is the manager, and notes its messages.
 */
#include <string.h>

#include "actor/lifecycle.h"

#include "pool/change.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ANSWER 1000u   /* a note: ANSWER + the request, when it was carried out */
#define REFUSED 2000u  /* a note: REFUSED - status */
#define MANAGED 3000u  /* a note of the manager: MANAGED + lane */
#define ADDRESS 4000u  /* a note: the manager's own PID and path are right */
#define TICK 5000u     /* a note of the manager's timer */
#define MEMBER 7000u   /* a note: MEMBER + state of one of the members in an answer */
#define BACKOFF_MS 100 /* of a spec, unless it says otherwise */

struct fixture {
    struct rig rig;
    struct probe *probe;    /* of the members */
    struct probe *managing; /* of the manager */
    struct probe *asking;   /* of the one that asks */
    struct pool *pool;
    struct pool *askers;
    _Atomic uint32_t warnings; /* of the pool, about messages that it does not handle */
};

static void count_warning(void *context, const struct log_line *line)
{
    struct fixture *f = context;

    if (line->level == WEIR_LOG_WARNING && strcmp(line->component, "pool") == 0 &&
        strstr(line->event, "did not handle it"))
        atomic_fetch_add(&f->warnings, 1);
}

/* A pool of `size` workers between 1 and 4; with a manager unless `act` is NULL. */
static bool is_managed(void *context)
{
    struct probe *managing = context;

    return !managing->act || atomic_load(&managing->opened) + atomic_load(&managing->refused) > 0;
}

static void begin(struct fixture *f, uint32_t size, probe_act *act)
{
    struct pool_options options = { .path = "pool", .size = size, .settings.mailbox = 4 };

    rig_init(&f->rig, 2, 0);
    atomic_init(&f->warnings, 0);
    f->rig.runtime->options.log = (struct log_sink){ .write = count_warning, .context = f };
    f->probe = probe_create();
    f->managing = probe_create();
    f->asking = probe_create();
    f->managing->act = act;
    f->managing->context = f;
    options.spec = rig_spec(f->probe);
    options.manager = act ? rig_spec(f->managing) : NULL;
    options.settings.size_min = 1;
    options.settings.size_max = 4;
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    spec_unref(options.manager);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_managed, f->managing));
    f->asking->context = f;
    f->askers = rig_workers(&f->rig, f->asking, "askers", 1, 16);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->askers, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->managing);
    probe_destroy(f->asking);
}

/* --- asking ---------------------------------------------------------------------------------- */

static const char *const errands[] = {
    WEIR_POOL_ADD,     WEIR_POOL_REMOVE, WEIR_POOL_RESIZE, WEIR_POOL_STATS,
    WEIR_POOL_MEMBERS, WEIR_POOL_PAUSE,  WEIR_POOL_RESUME, "nobody.knows/1",
};

enum errand {
    ADD,
    REMOVE,
    RESIZE,
    STATS,
    MEMBERS,
    PAUSE,
    RESUME,
    UNKNOWN,
};

/* Notes a right payload with a number that identifies it. */
static void note_answer(struct probe *probe, const struct weir_message *message)
{
    struct weir_pool_stats stats;
    struct weir_resized resized;
    struct weir_member member;

    if (strcmp(message->tag->name, WEIR_POOL_STATS) == 0) {
        CU_ASSERT_EQUAL_FATAL(message->size, sizeof stats);
        memcpy(&stats, message->data, sizeof stats);
        CU_ASSERT_EQUAL(stats.size, sizeof stats);
        probe_note(probe, ANSWER + stats.target);
    } else if (strcmp(message->tag->name, WEIR_POOL_MEMBERS) == 0) {
        CU_ASSERT_EQUAL_FATAL(message->size % sizeof member, 0);
        for (size_t at = 0; at < message->size; at += sizeof member) {
            memcpy(&member, (const char *)message->data + at, sizeof member);
            probe_note(probe, MEMBER + member.state);
        }
        probe_note(probe, ANSWER + message->size / sizeof member);
    } else if (message->size == sizeof resized) {
        memcpy(&resized, message->data, sizeof resized);
        probe_note(probe, ANSWER + resized.size);
    } else {
        probe_note(probe, ANSWER);
    }
}

static void on_answer(struct weir_self *self, void *state, void *context,
                      const struct weir_reply *reply)
{
    struct probe *probe = context;

    (void)self;
    (void)state;
    if (reply->status == 0)
        note_answer(probe, reply->message);
    else
        probe_note(probe, REFUSED - (uint64_t)(int64_t)reply->status);
}

/* argument: the kind of request, and a count above the lowest byte. */
static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t argument = probe_order(message)->argument;
    const struct fixture *f = probe->context;
    struct weir_pool_count count = { .count = (uint32_t)(argument >> 8) };
    bool counts = (argument & 0xff) <= RESIZE;
    struct weir_message *request = weir_message_new(self, weir_tag(self, errands[argument & 0xff]),
                                                    counts ? sizeof count : 0);

    if (counts)
        memcpy(request->data, &count, sizeof count);
    CU_ASSERT_EQUAL(
        weir_request_lane(self, f->pool->pid, WEIR_HIGH, request, 60000, on_answer, probe, NULL),
        0);
    return WEIR_DONE;
}

/* Asks, and waits until `note` has been taken `times` times. */
static bool asked(struct fixture *f, enum errand errand, uint32_t count, uint64_t note,
                  uint32_t times)
{
    struct order order = { .act = ask, .argument = (uint64_t)count << 8 | errand };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->askers->pid, order), 0);
    return rig_noted(&f->rig, f->asking, note, times);
}

/* --- the built-in manager -------------------------------------------------------------------- */

static void set_paused(struct rig *rig, struct pool *pool, bool paused)
{
    struct executor *executor = runtime_enter(rig->runtime);

    pool_pause(pool, paused, executor);
    runtime_leave(executor);
}

static struct pool *make_child(struct rig *rig, struct probe *probe, struct pool *parent,
                               const char *path)
{
    struct pool_options options = { .path = path, .parent = parent, .size = 1 };
    struct pool *pool;

    options.spec = rig_spec(probe);
    pool = rig_pool(rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(rig, pool));
    return pool;
}

/* promise P10: one member that is paused does not make the pool above it so. */
static void test_pool_of_pools_is_paused_when_all_of_them_are(void)
{
    struct probe *probe = probe_create();
    struct pool *top, *members[2];
    struct rig rig;

    rig_init(&rig, 2, 0);
    top = rig_pool(&rig, &(struct pool_options){ .path = "top" });
    members[0] = make_child(&rig, probe, top, "top/one");
    members[1] = make_child(&rig, probe, top, "top/two");
    CU_ASSERT_EQUAL(rig_stats(top).paused, 0);
    set_paused(&rig, members[0], true);
    CU_ASSERT_EQUAL(rig_stats(top).paused, 0);
    CU_ASSERT_EQUAL(rig_send(&rig, top->pid, (struct order){ .id = 1 }), 0);
    set_paused(&rig, members[1], true);
    CU_ASSERT_EQUAL(rig_stats(top).paused, 1);
    CU_ASSERT_EQUAL(rig_send(&rig, top->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    set_paused(&rig, members[0], false);
    CU_ASSERT_EQUAL(rig_stats(top).paused, 0);
    set_paused(&rig, top, true);
    CU_ASSERT_EQUAL(rig_stats(top).paused, 1);
    CU_ASSERT_EQUAL(rig_stats(members[0]).paused, 0);
    rig_close(&rig, top);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_TRUE(rig_end(&rig, members[i], NULL));
    CU_ASSERT_TRUE(rig_end(&rig, top, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* promise P9 */
static void test_requests_for_more_and_fewer_are_carried_out(void)
{
    struct fixture f;

    begin(&f, 2, NULL);
    CU_ASSERT_TRUE(asked(&f, ADD, 2, ANSWER + 4, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 4);
    CU_ASSERT_TRUE(asked(&f, REMOVE, 1, ANSWER + 3, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    CU_ASSERT_TRUE(asked(&f, RESIZE, 1, ANSWER + 1, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 1);
    CU_ASSERT_EQUAL(probe_count(f.probe), 0); /* no member ever saw them */
    finish(&f);
}

/* promise P9 */
static void test_request_over_the_bounds_is_reported_and_changes_nothing(void)
{
    struct fixture f;

    begin(&f, 2, NULL);
    CU_ASSERT_TRUE(asked(&f, ADD, 3, REFUSED - (uint64_t)(int64_t)WEIR_EINVALID, 1));
    CU_ASSERT_TRUE(asked(&f, REMOVE, 2, REFUSED - (uint64_t)(int64_t)WEIR_EINVALID, 2));
    CU_ASSERT_TRUE(asked(&f, RESIZE, 5, REFUSED - (uint64_t)(int64_t)WEIR_EINVALID, 3));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    finish(&f);
}

/* promise P9 */
static void test_figures_and_members_are_reported(void)
{
    struct fixture f;

    begin(&f, 3, NULL);
    CU_ASSERT_TRUE(asked(&f, STATS, 0, ANSWER + 3, 1));
    CU_ASSERT_TRUE(asked(&f, MEMBERS, 0, ANSWER + 3, 2));
    CU_ASSERT_EQUAL(probe_times(f.asking, MEMBER + WEIR_MEMBER_OPEN), 3);
    finish(&f);
}

static int note_room(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .id = 1 });
    int status = weir_send(self, ((struct fixture *)probe->context)->pool->pid, out);

    (void)message;
    if (status != 0)
        weir_message_free(self, out);
    probe_note(probe, REFUSED - (uint64_t)(int64_t)status);
    return WEIR_DONE;
}

/* promise P10 */
static void test_paused_pool_refuses_with_full_and_works_again(void)
{
    struct fixture f;
    struct order order = { .id = 1 };

    begin(&f, 2, NULL);
    CU_ASSERT_TRUE(asked(&f, PAUSE, 0, ANSWER, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, order), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = note_room }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, REFUSED - (uint64_t)(int64_t)WEIR_EFULL, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).paused, 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    CU_ASSERT_TRUE(asked(&f, RESUME, 0, ANSWER, 2));
    CU_ASSERT_EQUAL(rig_stats(f.pool).paused, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    finish(&f);
}

/* promise P9 */
static void test_unknown_request_is_rejected_and_dead(void)
{
    struct fixture f;

    begin(&f, 2, NULL);
    CU_ASSERT_TRUE(asked(&f, UNKNOWN, 0, REFUSED - (uint64_t)(int64_t)WEIR_EREJECTED, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_UNHANDLED), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.warnings), 1);
    finish(&f);
}

/* --- a behaviour as manager ------------------------------------------------------------------- */

static int note_lane(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    const struct fixture *f = probe->context;

    if (weir_pool(self) == f->pool->pid && weir_pid_of(self) == f->pool->pid &&
        strcmp(weir_path(self), "pool") == 0 && weir_pool_size(self) == 2)
        probe_note(probe, ADDRESS);
    probe_note(probe, MANAGED + message->lane);
    return WEIR_DONE;
}

/* promise P9 */
static void test_urgent_and_high_reach_the_manager_never_a_member(void)
{
    struct fixture f;

    begin(&f, 2, note_lane);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_URGENT, (struct order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_HIGH, (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.managing, MANAGED + WEIR_URGENT, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.managing, MANAGED + WEIR_HIGH, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    CU_ASSERT_EQUAL(probe_times(f.managing, ADDRESS), 2);
    CU_ASSERT_EQUAL(probe_count(f.probe), 1);
    finish(&f);
}

static void on_tick(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_pool_add(self, weir_pool(self), 1, NULL), 0);
    probe_note(context, TICK);
}

static int start_timer(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    CU_ASSERT_EQUAL(weir_after(self, 50, on_tick, probe, NULL), 0);
    return note_lane(self, probe, message);
}

/* promise P9 */
static void test_manager_scales_its_pool_by_its_timer(void)
{
    struct fixture f;

    begin(&f, 2, start_timer);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_HIGH, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.managing, MANAGED + WEIR_HIGH, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    rig_advance(&f.rig, 50);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.managing, TICK, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    finish(&f);
}

static int reject(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_REJECT;
}

/* promise P9 */
static void test_manager_that_rejects_makes_it_unhandled(void)
{
    struct fixture f;

    begin(&f, 1, reject);
    CU_ASSERT_TRUE(asked(&f, STATS, 0, REFUSED - (uint64_t)(int64_t)WEIR_EREJECTED, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_UNHANDLED), 1);
    finish(&f);
}

static int fail(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_FAIL;
}

static bool is_opened_twice(void *context)
{
    return atomic_load(&((struct probe *)context)->opened) == 2;
}

/* promise P9 */
static void test_manager_that_fails_is_replaced_alone(void)
{
    struct fixture f;
    weir_pid before;

    begin(&f, 2, fail);
    before = f.pool->pid;
    CU_ASSERT_TRUE(asked(&f, STATS, 0, REFUSED - (uint64_t)(int64_t)WEIR_ECRASHED, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_opened_twice, f.managing));
    CU_ASSERT_EQUAL(atomic_load(&f.managing->closed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2); /* two members, one life each */
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 0);
    CU_ASSERT_EQUAL(f.pool->pid, before);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    finish(&f);
}

static int refuse_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) == 0 ? WEIR_EINVALID : 0;
}

static bool manager_waits(void *context)
{
    struct pool *pool = context;

    return actor_state(pool->actor) == ACTOR_WAITING;
}

/* promise P9 */
static void test_manager_that_cannot_open_is_tried_again_and_misses_nothing(void)
{
    struct fixture f;
    struct pool_change_options options = { .size = 2, .renews_manager = true };
    struct pool_change *change;
    struct executor *executor;

    begin(&f, 2, NULL);
    f.managing->act = note_lane;
    f.managing->opens = refuse_once;
    options.manager = rig_spec(f.managing);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f.pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    spec_unref(options.manager);
    CU_ASSERT_TRUE(rig_wait(&f.rig, manager_waits, f.pool));
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_HIGH, (struct order){ .id = 1 }), 0);
    rig_advance(&f.rig, BACKOFF_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.managing, MANAGED + WEIR_HIGH, 1));
    finish(&f);
}

/* promise P9 */
static void test_manager_comes_and_goes_by_a_change(void)
{
    struct fixture f;
    struct pool_change_options options = { .size = 2,
                                           .settings.mailbox = 4,
                                           .renews_manager = true };
    struct pool_change *change;
    struct executor *executor;

    begin(&f, 2, note_lane);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f.pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(asked(&f, STATS, 0, ANSWER + 2, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.managing->closed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.managing->last_reason), WEIR_END_REPLACED);
    finish(&f);
}

/* promise P9 */
static void test_manager_closes_after_the_members(void)
{
    struct fixture f;

    begin(&f, 2, note_lane);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_HIGH, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.managing, MANAGED + WEIR_HIGH, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.managing->closed), 0);
    gate_open(&f.probe->gate);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "more and fewer", test_requests_for_more_and_fewer_are_carried_out },
        { "bounds", test_request_over_the_bounds_is_reported_and_changes_nothing },
        { "figures", test_figures_and_members_are_reported },
        { "pause", test_paused_pool_refuses_with_full_and_works_again },
        { "unknown", test_unknown_request_is_rejected_and_dead },
        { "pause of a part", test_pool_of_pools_is_paused_when_all_of_them_are },
        { "lanes", test_urgent_and_high_reach_the_manager_never_a_member },
        { "timer", test_manager_scales_its_pool_by_its_timer },
        { "rejects", test_manager_that_rejects_makes_it_unhandled },
        { "fails", test_manager_that_fails_is_replaced_alone },
        { "cannot open", test_manager_that_cannot_open_is_tried_again_and_misses_nothing },
        { "change", test_manager_comes_and_goes_by_a_change },
        { "closes last", test_manager_closes_after_the_members },
        CU_TEST_INFO_NULL,
    };

    return suite_run("manager", tests);
}
