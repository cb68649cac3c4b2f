/* SPDX-License-Identifier: MIT */
/*
 * Goal: a copy of a broadcast that waits for room goes to the worker that has the seat when there
 * is room, also when the workers are replaced at that moment, wherever a thread may be interrupted
 * between two atomic operations. It does not wait for the end of a former worker.
 *
 * Method: a worker emits a message to two members, one of which is full, so that its copy waits.
 * With odd seeds that member goes on while a change replaces the members. With even seeds it stays
 * as it is, and the change begins while the sender of the copy is on its way into the line of
 * waiters. Executors and callers are fibers on a core that lets others go first at each atomic
 * operation and each mutex, as the seed draws.
 *
 *      test_simulation_copies [--seed FIRST] [--seeds COUNT]
 *
 * promise P14
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/send.h"
#include "pool/change.h"
#include "runtime.h"
#include "storm/fiber_executor.h"

#include <weir/plugin.h>

#define THREADS 3u
#define MEMBERS 2u
#define CHANGES 2u
#define STEPS_MAX 1000000u /* until one rest: more means an endless loop */

/* The first byte of a message. */
#define FILLER 0u
#define COPIED 1u

struct trial {
    uint64_t seed;
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct fibers *fibers;
    struct spec *member_spec;
    struct pool *members, *feeder;
    bool has_emitted;
    bool is_free;    /* the members may go on */
    uint32_t copies; /* that members have handled */
};

/* --- the workers ------------------------------------------------------------------------------ */

static struct trial *trial_of(const void *state)
{
    return *(struct trial *const *)state;
}

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(const void **)state = settings;
    return 0;
}

static int handle_member(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct trial *trial = trial_of(state);

    (void)self;
    if (*(const uint8_t *)message->data == COPIED)
        trial->copies++;
    else
        while (!trial->is_free)
            fibers_rest();
    return WEIR_DONE;
}

static int handle_feeder(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *made = weir_message_new(self, NULL, 1);

    (void)message;
    if (!made)
        abort();
    *(uint8_t *)made->data = COPIED;
    if (weir_emit(self, 0, made) != 0)
        abort();
    trial_of(state)->has_emitted = true;
    return WEIR_DONE;
}

static const struct weir_output outputs[] = { { .name = "out" }, { 0 } };
static const struct weir_behaviour member = {
    .name = "member", .state_size = sizeof(void *), .open = open_worker, .handle = handle_member
};
static const struct weir_behaviour feeder = { .name = "feeder",
                                              .state_size = sizeof(void *),
                                              .open = open_worker,
                                              .handle = handle_feeder,
                                              .outputs = outputs };

/* --- fibers ----------------------------------------------------------------------------------- */

static uint64_t now_ns(void *context)
{
    (void)context;
    return 1;
}

static void run_release(void *context)
{
    ((struct trial *)context)->is_free = true;
    fibers_yield();
}

static struct executor *enter(struct trial *trial)
{
    struct executor *executor = runtime_enter(trial->runtime);

    if (!executor)
        abort();
    return executor;
}

static void run_changes(void *context)
{
    struct trial *trial = context;
    struct pool_change_options options = { .size = MEMBERS,
                                           .spec = trial->member_spec,
                                           .settings.mailbox = 1,
                                           .settings.route = WEIR_ROUTE_BROADCAST };

    while (!trial->has_emitted)
        fibers_rest();
    for (uint32_t i = 0; i < CHANGES; i++) {
        struct executor *executor = enter(trial);
        struct pool_change *change;

        if (pool_change_prepare(trial->members, executor, &options, &change) != 0)
            abort();
        pool_change_commit(change, executor);
        runtime_leave(executor);
        fibers_yield();
    }
}

static void come_to_rest(struct trial *trial)
{
    if (fibers_come_to_rest(trial->fibers, STEPS_MAX))
        return;
    (void)fprintf(stderr, "wrong: it never comes to rest, seed %" PRIu64 "\n", trial->seed);
    exit(1);
}

/* --- one trial -------------------------------------------------------------------------------- */

static struct pool *make_pool(struct trial *trial, struct pool_options *options)
{
    struct executor *executor = enter(trial);
    struct pool *pool = NULL;

    options->dispatcher = trial->dispatcher;
    if (pool_create(trial->runtime, executor, options, &pool) != 0)
        abort();
    runtime_leave(executor);
    come_to_rest(trial);
    return pool;
}

static void send_to(struct trial *trial, weir_pid to)
{
    struct executor *executor = enter(trial);
    struct message *message = message_create(&executor->cache, NULL, 1);

    *(uint8_t *)message->public.data = FILLER;
    if (send_message(trial->runtime, executor, to, WEIR_NORMAL, message) != 0)
        abort();
    runtime_leave(executor);
}

static void begin(struct trial *trial, uint64_t seed)
{
    static const uint32_t steps_between[] = { 2, 5, 15, 50 };
    struct runtime_options options = { .clock = { now_ns, trial } };

    *trial = (struct trial){ .seed = seed, .fibers = fibers_create(seed, 2) };
    if (runtime_create(&options, &trial->runtime) != 0 ||
        runtime_add_dispatcher(trial->runtime, "default", THREADS, NULL, &trial->dispatcher) != 0)
        abort();
    for (uint32_t i = 0; i < THREADS; i++) {
        struct executor *executor = dispatcher_executor(trial->dispatcher, i);

        executor->random = seed * THREADS + i + 1; /* not from its address in memory */
        fibers_add(trial->fibers, fiber_executor, executor, 1 + fibers_draw(trial->fibers, 4));
    }
    fibers_preempt_steps(trial->fibers, steps_between[fibers_draw(trial->fibers, 4)]);
}

static void make_pools(struct trial *trial)
{
    struct binding binding = { .when_full = WEIR_FULL_WAIT };
    struct pool_options members = { .path = "members",
                                    .size = MEMBERS,
                                    .spec = trial->member_spec = spec_create(&member, trial),
                                    .settings.mailbox = 1,
                                    .settings.route = WEIR_ROUTE_BROADCAST };
    struct pool_options feeding = { .path = "feeder",
                                    .size = 1,
                                    .spec = spec_create(&feeder, trial),
                                    .settings.mailbox = 1,
                                    .output_count = 1,
                                    .outputs = &binding };

    trial->members = make_pool(trial, &members);
    binding.target = trial->members->pid;
    trial->feeder = make_pool(trial, &feeding);
    spec_unref(feeding.spec);
}

static weir_pid pid_of_member(struct trial *trial, uint32_t index)
{
    const struct member *found = &atomic_load(&trial->members->members)->members[index];

    return (weir_pid)found->serial << 32 | (uint32_t)actor_pid(found->actor);
}

static void close_pool(struct trial *trial, struct pool *pool)
{
    struct executor *executor = enter(trial);

    pool_close(pool, executor);
    runtime_leave(executor);
    come_to_rest(trial);
    if (!pool_has_ended(pool))
        abort();
}

static void finish(struct trial *trial)
{
    struct executor *executor;

    close_pool(trial, trial->feeder);
    close_pool(trial, trial->members);
    executor = enter(trial);
    pool_destroy(trial->feeder, executor);
    pool_destroy(trial->members, executor);
    runtime_leave(executor);
    spec_unref(trial->member_spec);
    if (runtime_stop(trial->runtime) != 0)
        abort();
    runtime_destroy(trial->runtime);
    fibers_destroy(trial->fibers);
}

static bool expect(const struct trial *trial, bool holds, const char *what)
{
    if (!holds)
        (void)fprintf(stderr, "wrong: %s, seed %" PRIu64 ", %u copies\n", what, trial->seed,
                      trial->copies);
    return holds;
}

/* One message in hand, and one in the mailbox. */
static void fill(struct trial *trial, uint32_t index)
{
    for (uint32_t i = 0; i < 2; i++) {
        send_to(trial, pid_of_member(trial, index));
        come_to_rest(trial);
    }
}

static bool try_one(struct trial *trial, uint64_t seed)
{
    bool goes_on = seed % 2;

    begin(trial, seed);
    make_pools(trial);
    fill(trial, 1);
    send_to(trial, trial->feeder->pid);
    if (goes_on) {
        come_to_rest(trial);
        if (!expect(trial, trial->copies == 1, "the copy does not wait"))
            return false;
        fibers_add(trial->fibers, run_release, trial, 1 + fibers_draw(trial->fibers, 4));
    }
    fibers_add(trial->fibers, run_changes, trial, 1 + fibers_draw(trial->fibers, 4));
    come_to_rest(trial);
    if (!expect(trial, trial->copies == MEMBERS, "a copy is lost, stays, or is handled twice"))
        return false;
    trial->is_free = true;
    finish(trial);
    return true;
}

int main(int count, char **arguments)
{
    static struct trial trial;
    uint64_t first = 1, seeds = 2000;

    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seed") == 0)
            first = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--seeds") == 0)
            seeds = strtoull(arguments[i + 1], NULL, 10);
    }
    (void)printf("seeds %" PRIu64 "..%" PRIu64 "\n", first, first + seeds - 1);
    (void)fflush(stdout);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!try_one(&trial, seed))
            return 1;
    return 0;
}
