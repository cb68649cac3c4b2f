/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of making, linking, watching, stopping and ending a child does not depend on the
 * number of the others; the same holds for timers and requests that are set, removed, or forgotten
 * by an incarnation that ends. Shows promise A20.
 *
 * Method: an actor with 1,000 and with 4,000 of each, whose turns are taken on the thread of the
 * test; the work is counted. The last one ends first, so that a search from the front is expensive.
 */
#include <stdlib.h>

#include "unit/growth/growth.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TURNS_MAX 1000000u
#define FAR_MS 1000000u

enum act { MAKE = 1, UNMAKE, STOP, NOTHING };

struct family {
    struct rig rig;
    struct pool *pool;
    uint32_t count;
    uint32_t made, gone; /* of what the test counts */
    uint32_t opened;
    uint32_t flags; /* of weir_spawn_options */
    bool watches;
    weir_pid *children;
    uint64_t *numbers; /* of timers or requests */
    void (*make)(struct weir_self *self, struct family *family, uint32_t index);
    void (*unmake)(struct weir_self *self, struct family *family, uint32_t index);
};

static int open_parent(struct weir_self *self, const void *settings, void *state)
{
    struct family *family = (struct family *)(uintptr_t)settings;

    *(struct family **)state = family;
    family->opened++;
    return weir_trap_exits(self, true);
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct family *family = *(struct family **)state;

    if (message->kind == WEIR_EXIT || message->kind == WEIR_DOWN) {
        family->gone++;
        return WEIR_DONE;
    }
    if (message->key == STOP)
        return WEIR_STOP;
    for (uint32_t i = 0; message->key == MAKE && i < family->count; i++, family->made++)
        family->make(self, family, i);
    for (uint32_t i = family->count; message->key == UNMAKE && i-- > 0;)
        family->unmake(self, family, i);
    return WEIR_DONE;
}

static int handle_nothing(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour parent_behaviour = {
    .name = "parent", .state_size = sizeof(struct family *), .open = open_parent, .handle = handle
};
static const struct weir_behaviour child_behaviour = { .name = "child", .handle = handle_nothing };

/* --- the actor ------------------------------------------------------------------------------- */

static bool is_open(void *context)
{
    return ((struct family *)context)->opened > 0;
}

static void begin(struct family *family)
{
    struct spec *spec = spec_create(&parent_behaviour, family);
    struct pool_options options = { .size = 1, .spec = spec };

    family->children = calloc(family->count, sizeof *family->children);
    family->numbers = calloc(family->count, sizeof *family->numbers);
    rig_init_still(&family->rig, 1, 0);
    family->pool = rig_pool(&family->rig, &options);
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(family->pool);
    CU_ASSERT_TRUE(rig_step(&family->rig, is_open, family, TURNS_MAX));
}

static void order(struct family *family, enum act act)
{
    CU_ASSERT_EQUAL(rig_send_key(&family->rig, family->pool->pid, act, (struct order){ .id = 1 }),
                    0);
}

static bool is_over(void *context)
{
    return pool_has_ended(((struct family *)context)->pool);
}

static void finish(struct family *family)
{
    rig_close(&family->rig, family->pool);
    CU_ASSERT_TRUE(rig_step(&family->rig, is_over, family, TURNS_MAX));
    CU_ASSERT_TRUE(rig_end(&family->rig, family->pool, NULL));
    rig_finish(&family->rig);
    free(family->children);
    free(family->numbers);
}

/* Makes all, and does `last` to all; returns the cost until `done`. */
static uint64_t cost_of_all(struct family *family, enum act last, bool (*done)(void *context))
{
    uint64_t before, cost;

    begin(family);
    before = work_done();
    order(family, MAKE);
    order(family, last);
    CU_ASSERT_TRUE(rig_step(&family->rig, done, family, TURNS_MAX));
    cost = work_done() - before;
    CU_ASSERT_EQUAL(family->made, family->count);
    finish(family);
    return cost;
}

/* --- children -------------------------------------------------------------------------------- */

static void make_child(struct weir_self *self, struct family *family, uint32_t index)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;

    options.behaviour = &child_behaviour;
    options.flags = family->flags;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &family->children[index]), 0);
    if (family->watches)
        CU_ASSERT_EQUAL(weir_monitor(self, family->children[index], NULL), 0);
}

static void stop_child(struct weir_self *self, struct family *family, uint32_t index)
{
    CU_ASSERT_EQUAL(weir_stop(self, family->children[index]), 0);
}

static bool all_are_gone(void *context)
{
    struct family *family = context;

    return family->gone == family->count;
}

static uint64_t linked_children(uint32_t count)
{
    struct family family = {
        .count = count, .flags = WEIR_SPAWN_LINKED, .make = make_child, .unmake = stop_child
    };

    return cost_of_all(&family, UNMAKE, all_are_gone);
}

static void test_end_of_a_linked_child_costs_the_same_however_many_there_are(void)
{
    expect_even_growth(linked_children);
}

static uint64_t watched_children(uint32_t count)
{
    struct family family = {
        .count = count, .watches = true, .make = make_child, .unmake = stop_child
    };

    return cost_of_all(&family, UNMAKE, all_are_gone);
}

static void test_end_of_a_watched_child_costs_the_same_however_many_there_are(void)
{
    expect_even_growth(watched_children);
}

/* --- timers and requests --------------------------------------------------------------------- */

static void ring(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

static void set_timer(struct weir_self *self, struct family *family, uint32_t index)
{
    CU_ASSERT_EQUAL(weir_after(self, FAR_MS, ring, NULL, &family->numbers[index]), 0);
}

static void cancel_timer(struct weir_self *self, struct family *family, uint32_t index)
{
    CU_ASSERT_EQUAL(weir_cancel_timer(self, family->numbers[index]), 0);
    family->gone++;
}

static uint64_t timers_taken_back(uint32_t count)
{
    struct family family = { .count = count, .make = set_timer, .unmake = cancel_timer };

    return cost_of_all(&family, UNMAKE, all_are_gone);
}

static void test_timer_costs_the_same_however_many_are_set(void)
{
    expect_even_growth(timers_taken_back);
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct family *family = context;

    (void)self;
    (void)state;
    family->gone += reply->status == WEIR_ECANCELLED;
}

/* To itself: it is in its own turn, and answers none before it takes them back. */
static void ask(struct weir_self *self, struct family *family, uint32_t index)
{
    struct weir_message *request = weir_message_new(self, NULL, 0);

    CU_ASSERT_EQUAL(weir_request(self, weir_pid_of(self), request, FAR_MS, answered, family,
                                 &family->numbers[index]),
                    0);
}

static void ask_and_cancel(struct weir_self *self, struct family *family, uint32_t index)
{
    ask(self, family, index);
    if (index + 1 == family->count)
        for (uint32_t i = family->count; i-- > 0;)
            CU_ASSERT_EQUAL(weir_cancel(self, family->numbers[i]), 0);
}

static uint64_t requests_taken_back(uint32_t count)
{
    struct family family = { .count = count, .make = ask_and_cancel };

    return cost_of_all(&family, NOTHING, all_are_gone);
}

static void test_request_costs_the_same_however_many_are_open(void)
{
    expect_even_growth(requests_taken_back);
}

/* --- incarnations ---------------------------------------------------------------------------- */

static bool is_open_again(void *context)
{
    struct family *family = context;

    return family->opened > family->gone;
}

/* Ends an incarnation, and waits for the next one. */
static void renew(struct family *family)
{
    family->gone = family->opened;
    order(family, STOP);
    CU_ASSERT_TRUE(rig_step(&family->rig, is_open_again, family, TURNS_MAX));
}

/* Of as many incarnations as the one before them had timers. */
static uint64_t incarnations_after_a_rich_one(uint32_t count)
{
    struct family family = { .count = count, .make = set_timer };
    uint64_t before, cost;

    begin(&family);
    order(&family, MAKE);
    renew(&family);
    CU_ASSERT_EQUAL(family.made, count);
    before = work_done();
    for (uint32_t i = 0; i < count; i++)
        renew(&family);
    cost = work_done() - before;
    finish(&family);
    return cost;
}

static void test_incarnation_does_not_pay_for_what_an_earlier_one_had(void)
{
    expect_even_growth(incarnations_after_a_rich_one);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "linked", test_end_of_a_linked_child_costs_the_same_however_many_there_are },
        { "watched", test_end_of_a_watched_child_costs_the_same_however_many_there_are },
        { "timers", test_timer_costs_the_same_however_many_are_set },
        { "requests", test_request_costs_the_same_however_many_are_open },
        { "incarnations", test_incarnation_does_not_pay_for_what_an_earlier_one_had },
        CU_TEST_INFO_NULL,
    };

    return suite_run("growth of actors", tests);
}
