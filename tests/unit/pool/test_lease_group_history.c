/* SPDX-License-Identifier: MIT */
/*
 * Goal: any history of takes from a group and from its pools, returns, failures, takers that give
 * up and changes of size has the outcome that a sequential model says: no member is held by two, no
 * taker waits while a worker that may serve it is free, and the longest wait is served first.
 *
 * Method: random steps, one after the other, as in test_lease_history.c, with a group of two pools;
 * the clock goes on by a millisecond with each step. The model does not know which pool of several
 * serves a taker of the group; it learns that from the lease. Shows promise P37.
 */
#include <stdio.h>

#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define STEPS 300u
#define SIZE_MAX_HERE 3u
#define QUEUE 2u
#define MEMBERS 2u
#define GROUP MEMBERS
#define LONG_MS 100000000u

enum slot_state { SLOT_IDLE, SLOT_WAITS, SLOT_HOLDS };

struct model {
    enum slot_state slots[SLOTS];
    uint32_t pool[SLOTS];    /* which it waits for, or whose worker it holds */
    uint32_t waiting[SLOTS]; /* slots, first in, first out, over all three queues */
    uint32_t waiting_count;
    uint32_t free[MEMBERS];
    uint32_t leased[MEMBERS];  /* members that stay */
    uint32_t leaving[MEMBERS]; /* members that are leased, and are to leave */
};

struct history {
    struct fixture f;
    struct pool *pools[MEMBERS + 1];
    struct model model;
    uint64_t random;
};

static uint32_t draw(struct history *history, uint32_t below)
{
    history->random = history->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(history->random >> 33) % below;
}

/* --- the model -------------------------------------------------------------------------------- */

static void stop_waiting(struct model *model, uint32_t slot)
{
    uint32_t count = 0;

    model->slots[slot] = SLOT_IDLE;
    for (uint32_t i = 0; i < model->waiting_count; i++)
        if (model->waiting[i] != slot)
            model->waiting[count++] = model->waiting[i];
    model->waiting_count = count;
}

static void hold(struct model *model, uint32_t slot, uint32_t pool)
{
    stop_waiting(model, slot);
    model->slots[slot] = SLOT_HOLDS;
    model->pool[slot] = pool;
    model->free[pool]--;
    model->leased[pool]++;
}

/* Workers of a pool that are free serve takers of the pool and of the group. */
static void serve(struct model *model, uint32_t pool)
{
    for (uint32_t i = 0; i < model->waiting_count && model->free[pool] > 0;) {
        uint32_t slot = model->waiting[i];

        if (model->pool[slot] == pool || model->pool[slot] == GROUP)
            hold(model, slot, pool);
        else
            i++;
    }
}

static void release(struct model *model, uint32_t slot, bool leaves)
{
    uint32_t pool = model->pool[slot];

    model->slots[slot] = SLOT_IDLE;
    if (leaves) {
        model->leaving[pool]--;
        return;
    }
    model->leased[pool]--;
    model->free[pool]++;
    serve(model, pool);
}

static uint32_t waiting_for(const struct model *model, uint32_t target)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->waiting_count; i++)
        count += model->pool[model->waiting[i]] == target;
    return count;
}

static bool has_free(const struct model *model, uint32_t target)
{
    return target == GROUP ? model->free[0] + model->free[1] > 0 : model->free[target] > 0;
}

static bool is_full(const struct model *model, uint32_t target)
{
    uint32_t in_use = target == GROUP ? model->leased[0] + model->leased[1] : model->leased[target];

    return !has_free(model, target) && (waiting_for(model, target) == QUEUE || in_use == 0);
}

static void model_resize(struct model *model, uint32_t pool, uint32_t size)
{
    uint32_t stay = model->free[pool] + model->leased[pool];

    for (; stay < size && model->leaving[pool] > 0; stay++, model->leaving[pool]--)
        model->leased[pool]++; /* the leaving are recalled first */
    for (; stay < size; stay++)
        model->free[pool]++;
    for (; stay > size && model->free[pool] > 0; stay--)
        model->free[pool]--;
    for (; stay > size; stay--, model->leased[pool]--)
        model->leaving[pool]++;
    serve(model, pool);
}

/* --- the pools -------------------------------------------------------------------------------- */

static bool is_retiring(struct history *history, uint32_t slot)
{
    struct pool *pool = history->pools[history->model.pool[slot]];
    struct weir_member members[64];
    uint32_t count = pool_members(pool, members, sizeof members[0], 64);

    for (uint32_t i = 0; i < count && i < 64; i++)
        if (members[i].pid == history->f.slots[slot].lease.member)
            return members[i].state == WEIR_MEMBER_RETIRING;
    return false;
}

static bool is_pool_as_modelled(const struct history *history, uint32_t pool)
{
    const struct model *model = &history->model;
    struct weir_pool_stats stats = rig_stats(history->pools[pool]);

    return stats.starting == 0 && stats.live == model->free[pool] + model->leased[pool] &&
           stats.retiring == model->leaving[pool] && stats.busy == model->leased[pool] &&
           atomic_load(&history->pools[pool]->pull.sleeping) == model->free[pool];
}

static bool is_as_modelled(void *context)
{
    const struct history *history = context;

    for (uint32_t i = 0; i < SLOTS; i++)
        if (history->model.slots[i] == SLOT_HOLDS && atomic_load(&history->f.slots[i].answer) != 0)
            return false;
    return is_pool_as_modelled(history, 0) && is_pool_as_modelled(history, 1);
}

static bool expect_modelled(struct history *history)
{
    const struct model *model = &history->model;
    const struct slot *slots = history->f.slots;

    if (!rig_wait(&history->f.rig, is_as_modelled, history))
        return false;
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (model->slots[i] == SLOT_WAITS && atomic_load(&slots[i].answer) != NOT_YET)
            return false;
        if (model->slots[i] == SLOT_HOLDS &&
            slots[i].lease.pool != history->pools[model->pool[i]]->pid)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (model->slots[i] == SLOT_HOLDS && model->slots[j] == SLOT_HOLDS &&
                slots[i].lease.member == slots[j].lease.member)
                return false;
    }
    return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool step_take(struct history *history, uint32_t slot)
{
    struct model *model = &history->model;
    struct fixture *f = &history->f;
    uint32_t target = draw(history, MEMBERS + 1);

    f->target = history->pools[target]->pid;
    atomic_store(&f->slots[slot].answer, NOT_YET);
    act(f, slot, take);
    if (is_full(model, target))
        return answered(f, slot, WEIR_EFULL);
    if (has_free(model, target)) {
        if (!answered(f, slot, 0))
            return false;
        if (target == GROUP)
            target = f->slots[slot].lease.pool == history->pools[1]->pid;
        if (model->free[target] == 0)
            return false;
        hold(model, slot, target);
        return true;
    }
    model->slots[slot] = SLOT_WAITS;
    model->pool[slot] = target;
    model->waiting[model->waiting_count++] = slot;
    /* The next step comes after it is in the queue: the holder's next answer says so. */
    return result(f, slot, renew) != NOT_YET;
}

static bool step_end(struct history *history, uint32_t slot)
{
    static probe_act *const ends[] = { return_done, return_done,   return_failed,
                                       probe_fail,  use_and_break, stop };
    probe_act *how = ends[draw(history, sizeof ends / sizeof ends[0])];

    release(&history->model, slot, is_retiring(history, slot));
    if (how != probe_fail && how != stop)
        return result(&history->f, slot, how) == 0;
    act(&history->f, slot, how);
    return true;
}

static bool step_give_up(struct history *history, uint32_t slot)
{
    stop_waiting(&history->model, slot);
    if (draw(history, 2) == 0)
        return result(&history->f, slot, give_up) == 0 &&
               answered(&history->f, slot, WEIR_ECANCELLED);
    act(&history->f, slot, probe_fail);
    return result(&history->f, slot, renew) != NOT_YET; /* its successor */
}

static bool step_resize(struct history *history)
{
    uint32_t pool = draw(history, MEMBERS), size = draw(history, SIZE_MAX_HERE + 1);

    model_resize(&history->model, pool, size);
    return rig_resize(&history->f.rig, history->pools[pool], size, NULL) == 0;
}

static bool step(struct history *history)
{
    uint32_t slot = draw(history, SLOTS);

    rig_advance(&history->f.rig, 1); /* no two takers came at the same time */
    if (draw(history, 8) == 0)
        return step_resize(history);
    switch (history->model.slots[slot]) {
    case SLOT_IDLE:
        return step_take(history, slot);
    case SLOT_WAITS:
        return draw(history, 3) != 0 || step_give_up(history, slot);
    default:
        return step_end(history, slot);
    }
}

/* --- the group -------------------------------------------------------------------------------- */

static struct pool *make(struct history *history, const char *path, struct pool *parent)
{
    struct pool_options options = { .path = path,
                                    .parent = parent,
                                    .size = parent ? 2 : 0,
                                    .settings = { .route = parent ? WEIR_ROUTE_PULL
                                                                  : WEIR_ROUTE_ROUND_ROBIN,
                                                  .mailbox = 4,
                                                  .remove = { .timeout_ms = LONG_MS },
                                                  .lease = { true, LONG_MS, QUEUE } } };
    struct pool *pool;

    if (parent) {
        options.spec = rig_spec(history->f.member);
        options.spec->restart = (struct restart){ .max = UINT32_MAX, .within_ms = 1 };
    }
    pool = rig_pool(&history->f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static void begin_group(struct history *history)
{
    begin(&history->f, 1, 0);
    history->pools[GROUP] = make(history, "group", NULL);
    history->pools[0] = make(history, "group/a", history->pools[GROUP]);
    history->pools[1] = make(history, "group/b", history->pools[GROUP]);
    history->model.free[0] = history->model.free[1] = 2;
}

static void finish_group(struct history *history)
{
    struct executor *executor;

    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (history->model.slots[slot] == SLOT_WAITS)
            (void)result(&history->f, slot, give_up);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (history->model.slots[slot] == SLOT_HOLDS)
            (void)result(&history->f, slot, return_done);
    CU_ASSERT_TRUE(rig_end(&history->f.rig, history->pools[GROUP], NULL));
    executor = runtime_enter(history->f.rig.runtime);
    for (uint32_t i = 0; i < MEMBERS; i++)
        pool_destroy(history->pools[i], executor);
    runtime_leave(executor);
    finish(&history->f);
}

static void run(uint64_t seed)
{
    struct history history = { .random = seed };
    uint32_t steps = 0;

    begin_group(&history);
    while (steps < STEPS && expect_modelled(&history) && step(&history))
        steps++;
    if (steps < STEPS)
        printf("seed %llu, step %u: free %u and %u, leased %u and %u, waiting %u\n",
               (unsigned long long)seed, steps, history.model.free[0], history.model.free[1],
               history.model.leased[0], history.model.leased[1], history.model.waiting_count);
    CU_ASSERT_EQUAL(steps, STEPS);
    CU_ASSERT_TRUE(expect_modelled(&history));
    finish_group(&history);
}

/* promise P37 */
static void test_random_histories_of_a_group_are_as_modelled(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "random", test_random_histories_of_a_group_are_as_modelled },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_group_history", tests);
}
