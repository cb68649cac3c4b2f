/* SPDX-License-Identifier: MIT */
/*
 * Goal: a source continues at the position of its predecessor: after a failure, and as the
 * successor of a source that closes, before whose end it produces nothing; a waiting successor may
 * be replaced.
 *
 * Method: sources that count up, and leave the next number when they close, feed a pool of one
 * worker that can wait at a gate; the arriving numbers are compared.
 */
#include "actor/source.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#include <sched.h>
#include <sysexits.h>

#define TOTAL 40u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct weir_behaviour behaviour;
    _Atomic uint64_t fails_at; /* once */
    _Atomic uint64_t until;    /* then it waits, and is asked again at each turn */
    _Atomic uint32_t opened;
    _Atomic uint32_t closed;
    _Atomic uint32_t resumed;
    bool mute;               /* it leaves nothing */
    _Atomic uint32_t loses;  /* so many times it cannot say how far it is */
    _Atomic uint32_t unable; /* how often it fails to resume at the position */
    struct spec *spec;
};

struct counting {
    struct fixture *f;
    uint64_t next;
};

static int open_counting(struct weir_self *self, const void *settings, void *state)
{
    struct counting *counting = state;

    (void)self;
    counting->f = (struct fixture *)(uintptr_t)settings;
    atomic_fetch_add(&counting->f->opened, 1);
    return 0;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct counting *counting = state;
    struct fixture *f = counting->f;

    for (uint32_t i = 0; i < credit; i++) {
        if (counting->next == TOTAL)
            return WEIR_END;
        if (counting->next == atomic_load(&f->until))
            return WEIR_WAIT;
        if (counting->next == atomic_load(&f->fails_at)) {
            atomic_store(&f->fails_at, UINT64_MAX);
            return -1;
        }
        if (weir_emit(self, 0, probe_message(self, (struct order){ .id = counting->next })) != 0)
            return -1;
        counting->next++;
    }
    return WEIR_MORE;
}

static bool takes_one(_Atomic uint32_t *count)
{
    uint32_t present = atomic_load(count);

    return present > 0 && atomic_compare_exchange_strong(count, &present, present - 1);
}

static void close_counting(struct weir_self *self, void *state, int reason)
{
    struct counting *counting = state;

    (void)reason;
    if (takes_one(&counting->f->loses)) {
        CU_ASSERT_EQUAL(weir_leave_position(self, NULL, WEIR_POSITION_LOST), WEIR_EINVALID);
    } else if (!counting->f->mute) {
        CU_ASSERT_EQUAL(weir_leave_position(self, &counting->next, sizeof counting->next), 0);
    }
    atomic_fetch_add(&counting->f->closed, 1);
}

static void resume(struct weir_self *self, void *state, const void *position, size_t size)
{
    struct counting *counting = state;

    CU_ASSERT_EQUAL_FATAL(size, sizeof counting->next);
    if (takes_one(&counting->f->unable)) {
        CU_ASSERT_EQUAL(weir_leave_position(self, NULL, WEIR_POSITION_LOST), WEIR_EINVALID);
        return;
    }
    memcpy(&counting->next, position, size);
    atomic_fetch_add(&counting->f->resumed, 1);
}

static void begin(struct fixture *f, uint64_t fails_at, uint64_t until)
{
    memset((void *)f, 0, sizeof *f);
    atomic_init(&f->fails_at, fails_at);
    atomic_init(&f->until, until);
    f->probe = probe_create();
    f->probe->act = probe_wait;
    gate_open(&f->probe->gate);
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 4);
    f->behaviour = (struct weir_behaviour){ .name = "counting",
                                            .state_size = sizeof(struct counting),
                                            .open = open_counting,
                                            .produce = produce,
                                            .close = close_counting,
                                            .resume = resume };
    f->spec = spec_create(&f->behaviour, f);
}

static struct source *make(struct fixture *f, bool waits_for_go)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct source_options options = {
        .path = "source",
        .output_count = 1,
        .dispatcher = f->rig.dispatcher,
        .spec = f->spec,
        .target = f->pool->pid,
        .waits_for_go = waits_for_go,
    };
    struct source *source = NULL;

    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    return source;
}

static void succeed(struct fixture *f, struct source *source, struct source *successor)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_succeed(source, successor, executor);
    runtime_leave(executor);
}

static void close_one(struct fixture *f, struct source *source)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_close(source, executor);
    runtime_leave(executor);
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static void destroy(struct fixture *f, struct source *source)
{
    struct executor *executor;

    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, source));
    executor = runtime_enter(f->rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
}

/* Numbers up to `total` arrived once, in order; every open had its close. */
static void finish_at(struct fixture *f, uint32_t total)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_EQUAL(probe_count(f->probe), total);
    for (uint32_t i = 0; i < total; i++)
        CU_ASSERT_EQUAL(probe_get(f->probe, i), i);
    CU_ASSERT_EQUAL(atomic_load(&f->opened), atomic_load(&f->closed));
    rig_finish(&f->rig);
    spec_unref(f->spec);
    probe_destroy(f->probe);
}

static void finish(struct fixture *f)
{
    finish_at(f, TOTAL);
}

/* A source that answers somebody after it was asked to end. */
static _Atomic uint32_t waits;
static _Atomic bool is_asked;
static _Atomic uint32_t answers;

static int wait_only(struct weir_self *self, void *state, uint32_t credit)
{
    weir_pid target = 0;

    (void)state;
    (void)credit;
    CU_ASSERT_EQUAL(weir_target(self, 1, &target), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_target(self, 0, &target), 0);
    CU_ASSERT_NOT_EQUAL(target, 0);
    atomic_fetch_add(&waits, 1);
    return WEIR_WAIT;
}

static bool waits_for_work(void *context)
{
    (void)context;
    return atomic_load(&waits) > 0;
}

static bool was_asked(void *context)
{
    (void)context;
    return atomic_load(&is_asked);
}

static void answer(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
    atomic_fetch_add(&answers, 1);
}

static int leave_after_answer(struct weir_self *self, void *state)
{
    (void)state;
    if (!atomic_load(&is_asked))
        CU_ASSERT_EQUAL(weir_after(self, 20, answer, NULL, NULL), 0);
    atomic_store(&is_asked, true);
    return atomic_load(&answers) == 0 ? WEIR_WAIT : WEIR_END;
}

static void close_after_answer(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)state;
    (void)reason;
    CU_ASSERT_TRUE(atomic_load(&is_asked));
    CU_ASSERT_EQUAL(atomic_load(&answers), 1);
}

static void test_source_that_has_to_answer_closes_after_that(void)
{
    static struct fixture f;
    struct source *source;

    begin(&f, UINT64_MAX, UINT64_MAX);
    atomic_store(&waits, 0);
    atomic_store(&is_asked, false);
    atomic_store(&answers, 0);
    f.behaviour = (struct weir_behaviour){ .name = "answering",
                                           .flags = WEIR_ENDLESS,
                                           .produce = wait_only,
                                           .close = close_after_answer,
                                           .leave = leave_after_answer };
    source = make(&f, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, waits_for_work, NULL));
    close_one(&f, source);
    CU_ASSERT_TRUE(rig_wait(&f.rig, was_asked, NULL));
    CU_ASSERT_FALSE(has_ended(source));
    rig_advance(&f.rig, 20);
    destroy(&f, source);
    CU_ASSERT_EQUAL(atomic_load(&answers), 1);
    finish_at(&f, 0);
}

/* promise O6 */
static void test_source_that_lost_its_position_ends(void)
{
    static struct fixture f;

    begin(&f, 17, UINT64_MAX);
    atomic_store(&f.loses, 1);
    destroy(&f, make(&f, false));
    CU_ASSERT_EQUAL(atomic_load(&f.resumed), 0);
    CU_ASSERT_EQUAL(runtime_exit_status(f.rig.runtime), EX_TEMPFAIL);
    finish_at(&f, 17);
}

/* promise O6 */
static void test_successor_of_one_that_lost_its_position_ends(void)
{
    static struct fixture f;
    struct source *first, *successor;

    begin(&f, UINT64_MAX, 9);
    first = make(&f, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 8, 1));
    successor = make(&f, true);
    atomic_store(&f.loses, 1);
    succeed(&f, first, successor);
    close_one(&f, first);
    destroy(&f, first);
    destroy(&f, successor);
    CU_ASSERT_EQUAL(runtime_exit_status(f.rig.runtime), EX_TEMPFAIL);
    finish_at(&f, 9);
}

/* promise O6 */
static void test_position_that_could_not_be_taken_is_given_again(void)
{
    static struct fixture f;

    begin(&f, 17, UINT64_MAX);
    atomic_store(&f.unable, 2);
    destroy(&f, make(&f, false));
    CU_ASSERT_EQUAL(atomic_load(&f.resumed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.opened), 4);
    finish(&f);
}

/* promise O6 */
static void test_failed_source_goes_on_where_it_was(void)
{
    static struct fixture f;
    struct source *source;

    begin(&f, 17, UINT64_MAX);
    source = make(&f, false);
    destroy(&f, source);
    CU_ASSERT_EQUAL(atomic_load(&f.resumed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.opened), 2);
    finish(&f);
}

/* promise O6 */
static void test_successor_goes_on_where_the_first_ended(void)
{
    static struct fixture f;
    struct source *first, *successor;

    begin(&f, UINT64_MAX, 9);
    first = make(&f, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 8, 1)); /* then the first one waits */
    successor = make(&f, true);
    succeed(&f, first, successor);
    while (atomic_load(&f.opened) < 2)
        (void)sched_yield();
    CU_ASSERT_FALSE(atomic_load(&successor->going));
    atomic_store(&f.until, UINT64_MAX);
    close_one(&f, first);
    destroy(&f, successor);
    destroy(&f, first);
    finish(&f);
}

/* In either order of freeing. promise O8 */
static void test_figures_of_a_source_go_on_in_its_successors(void)
{
    static struct fixture f;
    struct source *first, *second, *third;

    begin(&f, UINT64_MAX, 9);
    first = make(&f, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 8, 1));
    second = make(&f, true);
    succeed(&f, first, second);
    CU_ASSERT_EQUAL(source_emitted(second), 9);
    third = make(&f, true);
    succeed(&f, second, third);
    CU_ASSERT_EQUAL(source_emitted(third), 9);
    close_one(&f, second);
    destroy(&f, second);
    CU_ASSERT_EQUAL(source_emitted(third), 9);
    atomic_store(&f.until, UINT64_MAX);
    close_one(&f, first);
    destroy(&f, first);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, third));
    CU_ASSERT_EQUAL(source_emitted(third), TOTAL);
    destroy(&f, third);
    finish(&f);
}

/* The first one cannot end while its outbox has no room; a third one comes. promise O6 */
static void test_successor_that_still_waits_can_be_replaced(void)
{
    static struct fixture f;
    struct source *first, *second, *third;

    begin(&f, UINT64_MAX, 9);
    gate_shut(&f.probe->gate);
    first = make(&f, false);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    second = make(&f, true);
    third = make(&f, true);
    succeed(&f, first, second);
    close_one(&f, first);
    succeed(&f, second, third);
    close_one(&f, second);
    destroy(&f, second);
    atomic_store(&f.until, UINT64_MAX);
    gate_open(&f.probe->gate);
    destroy(&f, third);
    destroy(&f, first);
    finish(&f);
}

/* promise O6 */
static void test_successor_of_one_that_has_ended_goes_at_once(void)
{
    static struct fixture f;
    struct source *first, *successor;

    begin(&f, UINT64_MAX, 9);
    first = make(&f, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 8, 1));
    close_one(&f, first);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, first));
    atomic_store(&f.until, UINT64_MAX);
    successor = make(&f, true);
    succeed(&f, first, successor);
    destroy(&f, first);
    destroy(&f, successor);
    finish(&f);
}

/* It leaves the number that it would have begun with, had it gone. promise O6 */
static void test_successor_that_is_closed_before_it_went_hands_on_what_it_was_given(void)
{
    static struct fixture f;
    struct source *first, *successor, *third;

    begin(&f, UINT64_MAX, 9);
    first = make(&f, false);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 8, 1));
    close_one(&f, first);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, first));
    atomic_store(&f.until, UINT64_MAX);
    successor = make(&f, true);
    while (atomic_load(&f.opened) < 2)
        (void)sched_yield();
    source_inherit(successor, first);
    close_one(&f, successor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, successor));
    third = make(&f, true);
    succeed(&f, successor, third);
    destroy(&f, first);
    destroy(&f, successor);
    destroy(&f, third);
    finish(&f);
}

static void test_one_without_a_position_begins_anew(void)
{
    static struct fixture f;

    begin(&f, 0, UINT64_MAX);
    f.mute = true;
    destroy(&f, make(&f, false)); /* failed before the first number */
    CU_ASSERT_EQUAL(atomic_load(&f.resumed), 0);
    finish(&f);
}

static void test_position_that_is_too_large_changes_nothing(void)
{
    static struct fixture f;
    struct position position = { 0 };

    begin(&f, UINT64_MAX, UINT64_MAX);
    CU_ASSERT_EQUAL(position_set(&position, "1234", 4), 0);
    CU_ASSERT_EQUAL(position_set(&position, "", (size_t)WEIR_POSITION_MAX + 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(position.size, 4); /* as it was */
    position_clear(&position);
    destroy(&f, make(&f, false));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "failed", test_failed_source_goes_on_where_it_was },
        { "successor", test_successor_goes_on_where_the_first_ended },
        { "figures", test_figures_of_a_source_go_on_in_its_successors },
        { "replaced successor", test_successor_that_still_waits_can_be_replaced },
        { "late successor", test_successor_of_one_that_has_ended_goes_at_once },
        { "closed successor",
          test_successor_that_is_closed_before_it_went_hands_on_what_it_was_given },
        { "lost position", test_source_that_lost_its_position_ends },
        { "successor of a lost position", test_successor_of_one_that_lost_its_position_ends },
        { "given again", test_position_that_could_not_be_taken_is_given_again },
        { "no position", test_one_without_a_position_begins_anew },
        { "leaving", test_source_that_has_to_answer_closes_after_that },
        { "too large", test_position_that_is_too_large_changes_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("succession", tests);
}
