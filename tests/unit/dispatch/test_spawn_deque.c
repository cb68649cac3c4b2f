/* SPDX-License-Identifier: MIT */
/*
 * Goal: each spawned actor is taken once: the youngest first by its thread, the oldest first by
 * thieves. In the dispatcher: a tree of actors is walked depth first, spawned actors do not wait
 * for the turn of their parent, and endless spawns delay no other actor.
 *
 * Method: one thread plays both ends, with indexes close to their wrap; then an owner and two
 * thieves, with every schedulable counted. Plain actors that spawn others when they open.
 */
#include "dispatch/spawn_deque.h"

#include <stdlib.h>

#include "actor/actor.h"
#include "actor/spawn.h"
#include "dispatch/schedulable.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ITEMS 20000u

static void start_at(struct spawn_deque *deque, uint32_t index)
{
    spawn_deque_init(deque);
    atomic_store(&deque->head, index);
    atomic_store(&deque->tail, index);
}

static void test_youngest_comes_first_across_the_wrap(void)
{
    struct schedulable items[3];
    static struct spawn_deque deque;

    start_at(&deque, UINT32_MAX - 1);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(spawn_deque_push(&deque, &items[i]));
    CU_ASSERT_EQUAL(spawn_deque_count(&deque), 3);
    for (int i = 3; i-- > 0;)
        CU_ASSERT_PTR_EQUAL(spawn_deque_pop(&deque), &items[i]);
    CU_ASSERT_PTR_NULL(spawn_deque_pop(&deque));
    CU_ASSERT_EQUAL(spawn_deque_count(&deque), 0);
}

static void test_thief_takes_the_eldest(void)
{
    struct schedulable items[3];
    static struct spawn_deque deque;

    start_at(&deque, UINT32_MAX);
    CU_ASSERT_PTR_NULL(spawn_deque_steal(&deque));
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(spawn_deque_push(&deque, &items[i]));
    CU_ASSERT_PTR_EQUAL(spawn_deque_steal(&deque), &items[0]);
    CU_ASSERT_PTR_EQUAL(spawn_deque_pop(&deque), &items[2]);
    CU_ASSERT_PTR_EQUAL(spawn_deque_steal(&deque), &items[1]);
    CU_ASSERT_PTR_NULL(spawn_deque_pop(&deque));
    CU_ASSERT_PTR_NULL(spawn_deque_steal(&deque));
}

static void test_full_deque_refuses_a_push(void)
{
    static struct schedulable items[SPAWN_DEQUE_CAPACITY + 1];
    static struct spawn_deque deque;

    spawn_deque_init(&deque);
    for (uint32_t i = 0; i < SPAWN_DEQUE_CAPACITY; i++)
        CU_ASSERT_TRUE(spawn_deque_push(&deque, &items[i]));
    CU_ASSERT_FALSE(spawn_deque_push(&deque, &items[SPAWN_DEQUE_CAPACITY]));
    CU_ASSERT_PTR_EQUAL(spawn_deque_steal(&deque), &items[0]);
    CU_ASSERT_TRUE(spawn_deque_push(&deque, &items[SPAWN_DEQUE_CAPACITY]));
    CU_ASSERT_PTR_EQUAL(spawn_deque_pop(&deque), &items[SPAWN_DEQUE_CAPACITY]);
}

/* --- owner and thieves ---------------------------------------------------------------------- */

struct item {
    struct schedulable schedulable; /* first */
    _Atomic uint32_t taken;
};

struct race {
    struct spawn_deque deque;
    struct item items[ITEMS];
    _Atomic uint32_t left;
};

static void take(struct race *race, struct schedulable *schedulable)
{
    struct item *item = (struct item *)(void *)schedulable;

    if (!item)
        return;
    atomic_fetch_add(&item->taken, 1);
    atomic_fetch_sub(&race->left, 1);
}

static void *thieve(void *argument)
{
    struct race *race = argument;

    while (atomic_load(&race->left) > 0)
        take(race, spawn_deque_steal(&race->deque));
    return NULL;
}

/* promise D2 */
static void test_owner_and_thieves_take_each_once(void)
{
    static struct race race;
    pthread_t thieves[2];
    uint32_t wrong = 0;

    start_at(&race.deque, UINT32_MAX - ITEMS / 2);
    atomic_store(&race.left, ITEMS);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(pthread_create(&thieves[i], NULL, thieve, &race), 0);
    /* Mostly empty or nearly so, where the two ends meet. */
    for (uint32_t i = 0; i < ITEMS; i++) {
        while (!spawn_deque_push(&race.deque, &race.items[i].schedulable))
            take(&race, spawn_deque_pop(&race.deque));
        for (uint32_t k = i % 3; k > 0; k--)
            take(&race, spawn_deque_pop(&race.deque));
    }
    while (atomic_load(&race.left) > 0)
        take(&race, spawn_deque_pop(&race.deque));
    for (int i = 0; i < 2; i++)
        pthread_join(thieves[i], NULL);
    for (uint32_t i = 0; i < ITEMS; i++)
        wrong += atomic_load(&race.items[i].taken) != 1;
    CU_ASSERT_EQUAL(wrong, 0);
}

/* --- actors --------------------------------------------------------------------------------- */

#define FANOUT 10u
#define DEPTH 4u
#define TREE 1111u        /* 1 + 10 + 100 + 1000 */
#define ALIVE_MAX 100u    /* well over DEPTH * FANOUT, far below the last row */
#define STEPS_MAX 400000u /* several times what it takes: one of the eldest runs in 1037 */
#define ENDLESS_MIN 2000  /* deque: many times what the queues hold */

struct family;

struct level {
    struct family *family;
    uint32_t depth;
    struct spec *spec;
};

struct family {
    struct weir_behaviour behaviour;
    struct rig rig;
    struct level levels[DEPTH];
    struct gate gate;
    _Atomic uint32_t born, opened, ended, most;
    _Atomic bool stop, holds;
};

/* From inside a turn. */
static void bear(struct weir_self *self, struct level *level)
{
    struct actor *parent = actor_of_self(self), *child;
    struct actor_options options = { .dispatcher = parent->dispatcher, .spec = level->spec };
    struct family *family = level->family;
    uint32_t alive = atomic_fetch_add(&family->born, 1) + 1 - atomic_load(&family->ended);

    if (actor_spawn(parent->runtime, parent->executor, &options, &child) != 0)
        abort();
    if (alive > atomic_load(&family->most))
        atomic_store(&family->most, alive);
}

static void leave(struct weir_self *self)
{
    struct actor *actor = actor_of_self(self);

    (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_DRAIN);
}

static void close_it(struct weir_self *self, void *state, int reason)
{
    const struct level *level = actor_of_self(self)->spec->settings;

    (void)state;
    (void)reason;
    atomic_fetch_add(&level->family->ended, 1);
}

/* The first of a family, made from outside; its `open` does the rest. With 0 threads the turns are
 * taken by rig_step. */
static void found(struct family *family, uint32_t threads,
                  int (*open)(struct weir_self *, const void *, void *))
{
    struct actor_options options = { 0 };
    struct executor *executor;
    struct actor *first;

    *family = (struct family){ .behaviour = { .name = "born", .open = open, .close = close_it } };
    gate_init(&family->gate);
    if (threads > 0)
        rig_init(&family->rig, threads, 0);
    else
        rig_init_still(&family->rig, 1, 0);
    for (uint32_t i = 0; i < DEPTH; i++) {
        struct level *level = &family->levels[i];

        *level = (struct level){ family, i, spec_create(&family->behaviour, level) };
    }
    options.dispatcher = family->rig.dispatcher;
    options.spec = family->levels[0].spec;
    atomic_store(&family->born, 1);
    executor = runtime_enter(family->rig.runtime);
    CU_ASSERT_EQUAL(actor_spawn(family->rig.runtime, executor, &options, &first), 0);
    runtime_leave(executor);
}

static bool all_have_ended(void *context)
{
    struct family *family = context;

    return atomic_load(&family->ended) == atomic_load(&family->born);
}

static void end(struct family *family)
{
    CU_ASSERT_TRUE(rig_wait(&family->rig, all_have_ended, family));
    rig_finish(&family->rig);
    for (uint32_t i = 0; i < DEPTH; i++)
        spec_unref(family->levels[i].spec);
    gate_finish(&family->gate);
}

static int open_tree(struct weir_self *self, const void *settings, void *state)
{
    const struct level *level = settings;

    (void)state;
    for (uint32_t i = 0; level->depth + 1 < DEPTH && i < FANOUT; i++)
        bear(self, &level->family->levels[level->depth + 1]);
    leave(self);
    return 0;
}

/* promise D8 */
static void test_tree_is_walked_depth_first(void)
{
    struct family family;

    found(&family, 0, open_tree);
    CU_ASSERT_TRUE(rig_step(&family.rig, all_have_ended, &family, STEPS_MAX));
    end(&family);
    CU_ASSERT_EQUAL(atomic_load(&family.born), TREE);
    CU_ASSERT_TRUE(atomic_load(&family.most) <= ALIVE_MAX);
}

/* The first one holds its thread after it has borne the others. */
static int open_and_hold(struct weir_self *self, const void *settings, void *state)
{
    const struct level *level = settings;
    struct family *family = level->family;

    (void)state;
    if (level->depth == 0) {
        for (uint32_t i = 0; i < FANOUT; i++)
            bear(self, &family->levels[1]);
        atomic_store(&family->holds, true);
        (void)gate_pass(&family->gate);
        atomic_store(&family->holds, false);
    } else {
        atomic_fetch_add(&family->opened, 1);
    }
    leave(self);
    return 0;
}

static bool all_are_open(void *context)
{
    struct family *family = context;

    return atomic_load(&family->opened) == FANOUT;
}

/* promise D6 */
static void test_who_is_born_does_not_wait_for_who_bore_it(void)
{
    struct family family;

    found(&family, 2, open_and_hold);
    CU_ASSERT_TRUE(rig_wait(&family.rig, all_are_open, &family));
    CU_ASSERT_TRUE(atomic_load(&family.holds));
    gate_open(&family.gate);
    end(&family);
}

static int open_endless(struct weir_self *self, const void *settings, void *state)
{
    const struct level *level = settings;
    struct family *family = level->family;

    (void)state;
    atomic_fetch_add(&family->opened, 1);
    if (!atomic_load(&family->stop))
        bear(self, &family->levels[0]);
    leave(self);
    return 0;
}

static bool many_are_born(void *context)
{
    struct family *family = context;

    return atomic_load(&family->opened) >= ENDLESS_MIN;
}

static bool all_are_done(void *context)
{
    return rig_ledger(context).done == ITEMS / 100;
}

/* promise D6: on one thread; what comes from outside lies in its ring before long. */
static void test_endless_spawns_hold_up_nobody(void)
{
    struct probe *probe = probe_create();
    struct family family;
    struct pool *light;

    found(&family, 1, open_endless);
    light = rig_workers(&family.rig, probe, "light", ITEMS / 100, 1);
    CU_ASSERT_TRUE(rig_wait(&family.rig, many_are_born, &family));
    for (uint32_t i = 0; i < ITEMS / 100; i++)
        CU_ASSERT_EQUAL(rig_send(&family.rig, light->pid, (struct order){ .act = probe_done }), 0);
    CU_ASSERT_TRUE(rig_wait(&family.rig, all_are_done, light));
    CU_ASSERT_FALSE(all_have_ended(&family));
    atomic_store(&family.stop, true);
    CU_ASSERT_TRUE(rig_end(&family.rig, light, NULL));
    end(&family);
    probe_destroy(probe);
}

/* --- a parent of many ------------------------------------------------------------------------ */

#define IN_FLIGHT 100u

static int open_in_crowd(struct weir_self *self, const void *settings, void *state)
{
    const struct level *level = settings;
    struct family *family = level->family;

    (void)state;
    for (uint32_t i = 0; level->depth == 0 && i < IN_FLIGHT; i++)
        bear(self, &family->levels[1]);
    if (level->depth == 1)
        atomic_fetch_add(&family->opened, 1);
    /* A younger one for each that runs: the youngest are never used up. */
    if (level->depth > 0 && !atomic_load(&family->stop))
        bear(self, &family->levels[2]);
    leave(self);
    return 0;
}

static bool all_eldest_are_open(void *context)
{
    struct family *family = context;

    return atomic_load(&family->opened) == IN_FLIGHT;
}

/* promise D6: on one thread the eldest have their turn while younger ones keep coming. */
static void test_eldest_run_while_younger_keep_coming(void)
{
    struct family family;

    found(&family, 0, open_in_crowd);
    CU_ASSERT_TRUE(rig_step(&family.rig, all_eldest_are_open, &family, STEPS_MAX));
    atomic_store(&family.stop, true);
    CU_ASSERT_TRUE(rig_step(&family.rig, all_have_ended, &family, STEPS_MAX));
    end(&family);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "youngest", test_youngest_comes_first_across_the_wrap },
        { "eldest", test_thief_takes_the_eldest },
        { "full", test_full_deque_refuses_a_push },
        { "race", test_owner_and_thieves_take_each_once },
        { "tree", test_tree_is_walked_depth_first },
        { "held", test_who_is_born_does_not_wait_for_who_bore_it },
        { "endless", test_endless_spawns_hold_up_nobody },
        { "eldest run", test_eldest_run_while_younger_keep_coming },
        CU_TEST_INFO_NULL,
    };

    return suite_run("deque", tests);
}
