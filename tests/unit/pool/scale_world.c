/* SPDX-License-Identifier: MIT */
#include "unit/pool/scale_world.h"

#include <stdlib.h>
#include <string.h>

#define STEP_MS 5u
#define NS_PER_MS UINT64_C(1000000)
#define MS_PER_S 1000u

struct worker {
    uint64_t made_ms;   /* begins to open */
    uint64_t opens_ms;  /* open from then on */
    uint64_t busy_ms;   /* has a message in hand until then */
    uint64_t unused_ms; /* the end of its last message */
};

/* The input of a run. */
struct run {
    struct scale_world *world;
    const struct scale_load *load;
    uint64_t now_ms;
    uint64_t grown_ms, shrunk_ms; /* UINT64_MAX = never */
    struct worker workers[SCALE_WORLD_WORKERS];
    uint32_t target;
    uint64_t *queue; /* when each message arrived */
    uint64_t arrived, begun;
};

/* --- loads ---------------------------------------------------------------------------------- */

static uint32_t quiet(uint32_t second)
{
    (void)second;
    return 20;
}

static uint32_t step(uint32_t second)
{
    return second >= 20 && second < 140 ? 200 : 20;
}

static uint32_t ramp(uint32_t second)
{
    if (second < 20 || second >= 220)
        return 20;
    return second < 120 ? 20 + 2 * (second - 20) : 20 + 2 * (220 - second);
}

static uint32_t burst(uint32_t second)
{
    return second >= 20 && second < 200 && second % 10 == 0 ? 100 : 0;
}

static uint32_t flash(uint32_t second)
{
    return second >= 20 && second < 30 ? 600 : 20;
}

const struct scale_load scale_loads[] = {
    { "Step: 20 to 200 messages a second", step, NULL },
    { "Ramp: 20 to 220 and back", ramp, NULL },
    { "Bursts: 100 messages at once, every 10 s", quiet, burst },
    { "Flash crowd: 600 a second for 10 s", flash, NULL },
    { NULL, NULL, NULL },
};

/* --- messages ------------------------------------------------------------------------------- */

static void arrive(struct run *run, uint32_t count)
{
    while (count-- > 0 && run->arrived - run->begun < SCALE_WORLD_QUEUE)
        run->queue[run->arrived++ % SCALE_WORLD_QUEUE] = run->now_ms;
}

static void send(struct run *run)
{
    uint32_t second = (uint32_t)(run->now_ms / MS_PER_S);
    uint32_t in = (uint32_t)(run->now_ms % MS_PER_S);
    uint32_t rate = run->load->rate(second);
    uint32_t sudden = in == 0 && run->load->burst ? run->load->burst(second) : 0;

    arrive(run, rate * (in + STEP_MS) / MS_PER_S - rate * in / MS_PER_S + sudden);
    run->world->rates[second] = rate + (run->load->burst ? run->load->burst(second) : 0);
}

static bool is_open(const struct run *run, const struct worker *worker)
{
    return worker->opens_ms <= run->now_ms;
}

static bool is_idle(const struct run *run, const struct worker *worker)
{
    return is_open(run, worker) && worker->busy_ms <= run->now_ms;
}

static void begin(struct run *run, struct worker *worker)
{
    struct scale_world *world = run->world;
    uint64_t waited = run->now_ms - run->queue[run->begun++ % SCALE_WORLD_QUEUE];
    uint32_t *longest = &world->waits_ms[run->now_ms / MS_PER_S];

    worker->busy_ms = run->now_ms + world->service_ms;
    worker->unused_ms = worker->busy_ms;
    world->handled++;
    if (waited > world->longest_ms)
        world->longest_ms = waited;
    if (waited > *longest)
        *longest = (uint32_t)waited;
}

static void work(struct run *run)
{
    for (uint32_t i = 0; i < run->target && run->begun < run->arrived; i++)
        if (is_idle(run, &run->workers[i]))
            begin(run, &run->workers[i]);
}

/* --- the law -------------------------------------------------------------------------------- */

static uint64_t since_ns(const struct run *run, uint64_t ms)
{
    return ms == UINT64_MAX ? UINT64_MAX : (run->now_ms - ms) * NS_PER_MS;
}

static void look_at_workers(const struct run *run, struct scale_figures *figures)
{
    for (uint32_t i = 0; i < run->target; i++) {
        const struct worker *worker = &run->workers[i];

        if (!is_open(run, worker)) {
            figures->pending++;
            figures->opening += since_ns(run, worker->made_ms) <
                                scale_open_limit_ns(&run->world->law);
            figures->fresh += since_ns(run, worker->made_ms) < run->world->law.open_ns;
            continue;
        }
        figures->is_up = true;
        if (!is_idle(run, worker)) {
            figures->busy++;
            continue;
        }
        figures->idle++;
        if (since_ns(run, worker->unused_ms) > figures->unused_ns)
            figures->unused_ns = since_ns(run, worker->unused_ms);
    }
}

static struct scale_figures look(const struct run *run)
{
    struct scale_figures figures = { .grown_ns = since_ns(run, run->grown_ms),
                                     .shrunk_ns = since_ns(run, run->shrunk_ms),
                                     .waiting = run->arrived - run->begun,
                                     .target = run->target };

    if (figures.waiting > 0)
        figures.oldest_ns = since_ns(run, run->queue[run->begun % SCALE_WORLD_QUEUE]);
    look_at_workers(run, &figures);
    return figures;
}

static void start(struct run *run, uint32_t index)
{
    struct scale_world *world = run->world;
    uint64_t opens = world->open_ms == UINT32_MAX ? world->up_ms : run->now_ms + world->open_ms;

    run->workers[index] = (struct worker){ .made_ms = run->now_ms,
                                           .opens_ms = opens,
                                           .unused_ms = opens };
}

static void grow(struct run *run, uint32_t target)
{
    struct scale_world *world = run->world;

    world->reversals += run->shrunk_ms != UINT64_MAX &&
                        (run->grown_ms == UINT64_MAX || run->shrunk_ms > run->grown_ms);
    world->growths++;
    for (uint32_t i = run->target; i < target; i++)
        start(run, i);
    run->grown_ms = run->now_ms;
    for (uint32_t i = run->target + 1; i <= target; i++)
        if (world->reached_ms[i] == 0)
            world->reached_ms[i] = (uint32_t)run->now_ms;
    if (target > world->largest)
        world->largest = target;
}

/* The worker that is unused longest goes; the others keep their order. */
static void shrink(struct run *run)
{
    uint32_t chosen = 0;

    for (uint32_t i = 1; i < run->target; i++)
        if (is_idle(run, &run->workers[i]) &&
            (!is_idle(run, &run->workers[chosen]) ||
             run->workers[i].unused_ms < run->workers[chosen].unused_ms))
            chosen = i;
    memmove(&run->workers[chosen], &run->workers[chosen + 1],
            (run->target - chosen - 1) * sizeof run->workers[0]);
    run->shrunk_ms = run->now_ms;
    run->world->leavers++;
}

static void scale(struct run *run)
{
    struct scale_figures figures = look(run);
    struct scale_verdict verdict = scale_decide(&run->world->law, &figures);

    if (verdict.target > run->target)
        grow(run, verdict.target);
    else if (verdict.target < run->target)
        shrink(run);
    run->target = verdict.target;
}

void scale_world_run(struct scale_world *world, const struct scale_load *load)
{
    struct run run = { .world = world,
                       .load = load,
                       .grown_ms = UINT64_MAX,
                       .shrunk_ms = UINT64_MAX,
                       .target = world->target_at_start };

    run.queue = calloc(SCALE_WORLD_QUEUE, sizeof *run.queue);
    if (!run.queue)
        abort();
    world->largest = run.target;
    for (uint32_t i = 0; i < run.target; i++)
        start(&run, i);
    for (; run.now_ms < SCALE_WORLD_SECONDS * MS_PER_S; run.now_ms += STEP_MS) {
        send(&run);
        work(&run);
        scale(&run);
        world->targets[run.now_ms / MS_PER_S] = run.target;
    }
    free(run.queue);
}
