/* SPDX-License-Identifier: MIT */
/*
 * Goal: any history of takes, returns, failures, takers that give up, time-outs and changes of size
 * has the outcome of a sequential model: the holder of each member, the waiting and refused takers.
 * No member is held by two.
 *
 * Method: random steps, one after the other. After each step the test waits until the pool is as
 * the model says, in every slot. The model has the free members by number, the waiting takers in
 * order, and for each lease that ends whether its member is to leave.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define STEPS 400u
#define SIZE_MAX_HERE 4u
#define QUEUE 2u

enum slot_state { SLOT_IDLE, SLOT_WAITS, SLOT_HOLDS };

struct model {
    enum slot_state slots[SLOTS];
    uint32_t waiting[SLOTS]; /* slots, first in, first out */
    uint32_t waiting_count;
    uint32_t free;
    uint32_t leased;  /* members that stay */
    uint32_t leaving; /* members that are leased, and are to leave */
};

struct history {
    struct fixture f;
    struct model model;
    uint64_t random;
};

static uint32_t draw(struct history *history, uint32_t below)
{
    history->random = history->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(history->random >> 33) % below;
}

/* --- the model -------------------------------------------------------------------------------- */

static void serve(struct model *model)
{
    while (model->free > 0 && model->waiting_count > 0) {
        model->slots[model->waiting[0]] = SLOT_HOLDS;
        model->waiting_count--;
        for (uint32_t i = 0; i < model->waiting_count; i++)
            model->waiting[i] = model->waiting[i + 1];
        model->free--;
        model->leased++;
    }
}

/* The lease of a slot ends; its member `leaves` or is free. */
static void release(struct model *model, uint32_t slot, bool leaves)
{
    model->slots[slot] = SLOT_IDLE;
    if (leaves) {
        model->leaving--;
        return;
    }
    model->leased--;
    model->free++;
    serve(model);
}

static void stop_waiting(struct model *model, uint32_t slot)
{
    uint32_t count = 0;

    model->slots[slot] = SLOT_IDLE;
    for (uint32_t i = 0; i < model->waiting_count; i++)
        if (model->waiting[i] != slot)
            model->waiting[count++] = model->waiting[i];
    model->waiting_count = count;
}

/* The status that a taker gets at once; NOT_YET: it waits. */
static int model_take(struct model *model, uint32_t slot)
{
    if (model->free == 0 && (model->waiting_count == QUEUE || model->leased == 0))
        return WEIR_EFULL; /* a pool of the size 0 has no queue */
    model->slots[slot] = SLOT_WAITS;
    model->waiting[model->waiting_count++] = slot;
    serve(model);
    return model->slots[slot] == SLOT_HOLDS ? 0 : NOT_YET;
}

static void model_resize(struct model *model, uint32_t size)
{
    uint32_t stay = model->free + model->leased;

    for (; stay < size && model->leaving > 0; stay++, model->leaving--)
        model->leased++; /* the leaving are recalled first */
    for (; stay < size; stay++)
        model->free++;
    for (; stay > size && model->free > 0; stay--)
        model->free--;
    for (; stay > size; stay--, model->leased--)
        model->leaving++;
    serve(model);
}

/* --- the pool --------------------------------------------------------------------------------- */

static bool is_retiring(struct history *history, uint32_t slot)
{
    struct weir_member members[64];
    uint32_t count = pool_members(history->f.pool, members, sizeof members[0], 64);

    for (uint32_t i = 0; i < count && i < 64; i++)
        if (members[i].pid == history->f.slots[slot].lease.member)
            return members[i].state == WEIR_MEMBER_RETIRING;
    return false;
}

static bool is_as_modelled(void *context)
{
    struct history *history = context;
    const struct model *model = &history->model;
    struct weir_pool_stats stats = rig_stats(history->f.pool);

    for (uint32_t i = 0; i < SLOTS; i++)
        if (model->slots[i] == SLOT_HOLDS && atomic_load(&history->f.slots[i].answer) != 0)
            return false;
    return stats.starting == 0 && stats.live == model->free + model->leased &&
           stats.retiring == model->leaving && stats.busy == model->leased &&
           atomic_load(&history->f.pool->pull.sleeping) == model->free;
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
    struct fixture *f = &history->f;
    int expected = model_take(&history->model, slot);

    atomic_store(&f->slots[slot].answer, NOT_YET);
    act(f, slot, take);
    if (expected != NOT_YET)
        return answered(f, slot, expected);
    /* The next step comes after it is in the queue: the holder's next answer says so. */
    return result(f, slot, renew) != NOT_YET;
}

static bool step_end(struct history *history, uint32_t slot, probe_act *how)
{
    bool leaves = is_retiring(history, slot);

    release(&history->model, slot, leaves);
    if (how == probe_fail) {
        act(&history->f, slot, how);
        return true;
    }
    return result(&history->f, slot, how) == 0;
}

static bool step_give_up(struct history *history, uint32_t slot)
{
    bool is_cancel = draw(history, 2) == 0;

    stop_waiting(&history->model, slot);
    if (is_cancel)
        return result(&history->f, slot, give_up) == 0 &&
               answered(&history->f, slot, WEIR_ECANCELLED);
    act(&history->f, slot, probe_fail);
    return result(&history->f, slot, renew) != NOT_YET; /* its successor */
}

static bool step_resize(struct history *history)
{
    uint32_t size = draw(history, SIZE_MAX_HERE + 1);

    model_resize(&history->model, size);
    return rig_resize(&history->f.rig, history->f.pool, size, NULL) == 0;
}

/* The time-outs of all leases pass, and those of the members that are to leave. */
static bool step_expire(struct history *history)
{
    struct model *model = &history->model;

    rig_advance(&history->f.rig, LEASE_MS);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (model->slots[i] == SLOT_HOLDS)
            model->slots[i] = SLOT_IDLE;
    model->free += model->leased;
    model->leased = model->leaving = 0;
    serve(model);
    return true;
}

static bool step(struct history *history)
{
    static probe_act *const ends[] = { return_done, return_done, return_done,  return_failed,
                                       probe_fail,  stop,        use_and_break };
    uint32_t slot = draw(history, SLOTS);
    probe_act *end;

    if (draw(history, 8) == 0)
        return step_resize(history);
    if (draw(history, 16) == 0)
        return step_expire(history);
    switch (history->model.slots[slot]) {
    case SLOT_IDLE:
        return step_take(history, slot);
    case SLOT_WAITS:
        return draw(history, 3) != 0 || step_give_up(history, slot);
    default:
        end = ends[draw(history, sizeof ends / sizeof ends[0])];
        if (end != stop)
            return step_end(history, slot, end);
        release(&history->model, slot, is_retiring(history, slot));
        act(&history->f, slot, end);
        return true;
    }
}

static void run(uint64_t seed)
{
    struct history history = { .random = seed };
    uint32_t steps = 0;

    begin(&history.f, 2, QUEUE);
    history.model.free = 2;
    while (steps < STEPS && step(&history) && expect_modelled(&history))
        steps++;
    if (steps < STEPS)
        printf("seed %llu, step %u: free %u, leased %u, leaving %u, waiting %u\n",
               (unsigned long long)seed, steps, history.model.free, history.model.leased,
               history.model.leaving, history.model.waiting_count);
    CU_ASSERT_EQUAL(steps, STEPS);
    finish(&history.f);
}

static void test_random_histories_are_as_modelled(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "random", test_random_histories_are_as_modelled },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_history", tests);
}
