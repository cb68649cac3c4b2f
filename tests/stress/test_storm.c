/*
 * Goal: under everything at once nothing is lost and nothing is done twice: senders from outside
 * that are refused and try again, nested pools, forwarding, emitting with `wait`, requests, workers
 * that fail, and resizes from 16 threads; then the end.
 *
 *      senders -> front (two nested pools) -> back      by emit and by forward
 *                                          -> answer    by request, with the input kept
 *
 * Method: every id is counted where it is begun, passed on and answered. What was accepted and
 * never begun must be in the dead letters, and every ledger must balance with those counts.
 *
 *      test_storm [--seed N] [--messages N] [--resizes N]
 *
 * promises S1, S2, L1, L2, A1, A2, D2, P4, P7, P8 and O1
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actor/send.h"
#include "unit/support/rig.h"

#define THREADS 4u
#define SENDERS 4u
#define RESIZERS 16u
#define SIZE_MAX_OF_POOL 6u
#define BATCH 32u          /* messages sent in one read section */
#define TIMEOUT_MS 600000u /* of requests: longer than any run */
#define FRONT_FAILS 97u    /* every so many ids a worker fails with one */
#define BACK_FAILS 211u
#define ANSWER_FAILS 53u
#define ANSWER_IS_SILENT 31u

/* What became of one id. */
struct fate {
    _Atomic uint8_t begun;    /* at the front */
    _Atomic uint8_t passed;   /* on to the back */
    _Atomic uint8_t finished; /* begun at the back */
    _Atomic uint8_t asked;
    _Atomic uint8_t answered;
};

enum { FRONT_A, FRONT_B, BACK, ANSWER, POOLS };

struct storm {
    struct rig rig; /* its clock is the machine's */
    uint64_t seed;
    uint64_t messages; /* of all senders */
    uint64_t resizes;  /* of each resizer */
    struct fate *fates;
    struct pool *top;
    struct pool *pools[POOLS];
    struct spec *specs[POOLS];
    weir_pid answer;
    _Atomic uint64_t refused;
    _Atomic uint64_t opened;
    _Atomic uint64_t closed;
    _Atomic uint64_t overlaps;
    uint32_t wrong;
};

struct worker {
    struct storm *storm;
    const struct weir_message *kept;
    _Atomic bool in_callback;
};

static void expect(struct storm *storm, bool holds, const char *what, uint64_t figure)
{
    if (holds)
        return;
    storm->wrong++;
    (void)fprintf(stderr, "wrong: %s (%" PRIu64 ")\n", what, figure);
}

/* --- workers -------------------------------------------------------------------------------- */

static struct storm *enter(struct worker *worker)
{
    if (atomic_exchange(&worker->in_callback, true))
        atomic_fetch_add(&worker->storm->overlaps, 1);
    return worker->storm;
}

static int leave(struct worker *worker, int verdict)
{
    atomic_store(&worker->in_callback, false);
    return verdict;
}

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;

    (void)self;
    worker->storm = (struct storm *)(uintptr_t)settings;
    atomic_fetch_add(&worker->storm->opened, 1);
    return 0;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    struct worker *worker = state;

    (void)self;
    (void)reason;
    atomic_fetch_add(&worker->storm->closed, 1);
}

static uint64_t id_of(const struct weir_message *message)
{
    uint64_t id;

    memcpy(&id, message->data, sizeof id);
    return id;
}

static struct weir_message *copy_of(struct weir_self *self, uint64_t id)
{
    struct weir_message *copy = weir_message_new(self, NULL, sizeof id);

    if (!copy)
        abort();
    memcpy(copy->data, &id, sizeof id);
    return copy;
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct worker *worker = state;
    struct fate *fate = context;

    (void)enter(worker);
    (void)reply;
    atomic_fetch_add(&fate->answered, 1);
    if (weir_settle(self, worker->kept, WEIR_DONE) != 0)
        abort();
    (void)leave(worker, 0);
}

static int ask(struct weir_self *self, struct worker *worker, struct fate *fate,
               const struct weir_message *message)
{
    struct weir_message *question = copy_of(self, id_of(message));
    int status = weir_request(self, worker->storm->answer, question, TIMEOUT_MS, answered, fate,
                              NULL);

    if (status != 0) {
        weir_message_free(self, question);
        return WEIR_REJECT;
    }
    atomic_fetch_add(&fate->asked, 1);
    worker->kept = message;
    return WEIR_KEEP;
}

static int pass_on(struct weir_self *self, struct storm *storm, struct fate *fate,
                   const struct weir_message *message)
{
    /* Counted before: the message is the other's from then on. */
    atomic_fetch_add(&fate->passed, 1);
    if (weir_forward(self, storm->pools[BACK]->pid, message) == 0)
        return WEIR_DONE;
    atomic_fetch_sub(&fate->passed, 1);
    return WEIR_REJECT;
}

static int emit_copy(struct weir_self *self, struct fate *fate, uint64_t id)
{
    struct weir_message *copy = copy_of(self, id);

    atomic_fetch_add(&fate->passed, 1);
    if (weir_emit(self, 0, copy) != 0)
        abort();
    return WEIR_DONE;
}

static int handle_front(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct storm *storm = enter(state);
    uint64_t id = id_of(message);
    struct fate *fate = &storm->fates[id];
    int verdict;

    atomic_fetch_add(&fate->begun, 1);
    if (id % FRONT_FAILS == 0)
        verdict = WEIR_FAIL;
    else if (id % 3 == 0)
        verdict = ask(self, state, fate, message);
    else if (id % 3 == 1)
        verdict = pass_on(self, storm, fate, message);
    else
        verdict = emit_copy(self, fate, id);
    return leave(state, verdict);
}

static int handle_back(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct storm *storm = enter(state);
    uint64_t id = id_of(message);

    (void)self;
    atomic_fetch_add(&storm->fates[id].finished, 1);
    return leave(state, id % BACK_FAILS == 0 ? WEIR_FAIL : WEIR_DONE);
}

static int handle_answer(struct weir_self *self, void *state, const struct weir_message *message)
{
    uint64_t id = id_of(message);
    struct weir_message *reply;

    (void)enter(state);
    if (id % ANSWER_FAILS == 0)
        return leave(state, WEIR_FAIL);
    if (id % ANSWER_IS_SILENT == 0)
        return leave(state, WEIR_DONE);
    reply = copy_of(self, id);
    if (weir_reply(self, message, reply) != 0)
        abort();
    return leave(state, WEIR_DONE);
}

#define BEHAVIOUR(function)                                                                        \
    {                                                                                              \
        .name = #function, .state_size = sizeof(struct worker), .open = open_worker,               \
        .handle = (function), .close = close_worker                                                \
    }

static const struct weir_behaviour behaviours[POOLS] = {
    BEHAVIOUR(handle_front),
    BEHAVIOUR(handle_front),
    BEHAVIOUR(handle_back),
    BEHAVIOUR(handle_answer),
};

/* --- building ------------------------------------------------------------------------------- */

static void build_pool(struct storm *storm, int number, const char *path, uint32_t limit)
{
    struct binding binding = { storm->pools[BACK] ? storm->pools[BACK]->pid : 0, WHEN_FULL_WAIT };
    struct spec *spec = spec_create(&behaviours[number], storm);
    struct pool_options options = { .path = path,
                                    .size = 3,
                                    .limit = limit,
                                    .spec = spec,
                                    .output_count = 1,
                                    .outputs = &binding };

    if (!spec)
        abort();
    /* Short waits, and often: a place that waits to be opened again is part of the storm. */
    spec->restart.max = 5;
    spec->restart.backoff_ms_min = 1;
    spec->restart.backoff_ms_max = 4;
    if (number == FRONT_A || number == FRONT_B)
        options.parent = storm->top;
    storm->specs[number] = spec;
    storm->pools[number] = rig_pool(&storm->rig, &options);
    if (!storm->pools[number])
        abort();
}

static void build(struct storm *storm)
{
    struct runtime_options options = { .clock = clock_monotonic() };

    storm->fates = calloc(storm->messages, sizeof *storm->fates);
    if (!storm->fates || runtime_create(&options, &storm->rig.runtime) != 0 ||
        runtime_add_dispatcher(storm->rig.runtime, "default", THREADS, 0, &storm->rig.dispatcher) !=
            0 ||
        runtime_start(storm->rig.runtime) != 0)
        abort();
    build_pool(storm, BACK, "back", 8);
    build_pool(storm, ANSWER, "answer", 4);
    storm->answer = storm->pools[ANSWER]->pid;
    storm->top = rig_pool(&storm->rig, &(struct pool_options){ .path = "front" });
    build_pool(storm, FRONT_A, "front/a", 8);
    build_pool(storm, FRONT_B, "front/b", 3);
}

/* --- threads from outside ------------------------------------------------------------------- */

struct outsider {
    struct storm *storm;
    uint64_t number;
    uint64_t random;
    pthread_t thread;
};

static uint64_t next_random(struct outsider *outsider)
{
    uint64_t x = outsider->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return outsider->random = x;
}

/* Sends from `id` on until one is refused or the batch is over; returns the next id. */
static uint64_t send_some(struct storm *storm, uint64_t id, uint64_t end)
{
    struct executor *executor = runtime_enter(storm->rig.runtime);

    for (uint32_t i = 0; i < BATCH && id < end; i++) {
        struct message *message = message_create(&executor->cache, NULL, sizeof id);
        int status;

        memcpy(message->public.data, &id, sizeof id);
        status = send_message(storm->rig.runtime, executor, storm->top->pid, WEIR_NORMAL, message);
        if (status != 0) {
            message_destroy(&executor->cache, message);
            atomic_fetch_add(&storm->refused, 1);
            break;
        }
        id++;
    }
    runtime_leave(executor);
    return id;
}

static void *send_all(void *argument)
{
    struct outsider *outsider = argument;
    struct storm *storm = outsider->storm;
    uint64_t id = storm->messages / SENDERS * outsider->number;
    uint64_t end = id + storm->messages / SENDERS;

    while (id < end) {
        id = send_some(storm, id, end);
        (void)sched_yield();
    }
    return NULL;
}

static void *resize_all(void *argument)
{
    struct outsider *outsider = argument;
    struct storm *storm = outsider->storm;

    for (uint64_t i = 0; i < storm->resizes; i++) {
        uint64_t random = next_random(outsider);
        uint32_t size = 1 + (uint32_t)(random >> 8) % SIZE_MAX_OF_POOL;

        if (rig_resize(&storm->rig, storm->pools[random % POOLS], size, NULL) != 0)
            abort();
        (void)sched_yield();
    }
    return NULL;
}

static void run(struct storm *storm)
{
    struct outsider outsiders[SENDERS + RESIZERS];

    for (uint32_t i = 0; i < SENDERS + RESIZERS; i++) {
        outsiders[i] = (struct outsider){ .storm = storm, .number = i };
        outsiders[i].random = (storm->seed + 1) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull;
        outsiders[i].random |= 1;
        if (pthread_create(&outsiders[i].thread, NULL, i < SENDERS ? send_all : resize_all,
                           &outsiders[i]) != 0)
            abort();
    }
    for (uint32_t i = 0; i < SENDERS + RESIZERS; i++)
        pthread_join(outsiders[i].thread, NULL);
}

/* --- the end -------------------------------------------------------------------------------- */

/* Dead letters of a pool that were never begun. */
static uint64_t unbegun(struct pool *pool)
{
    return rig_dead(pool, DEAD_REMOVED) + rig_dead(pool, DEAD_TERMINATED) +
           rig_dead(pool, DEAD_EXPIRED);
}

static void expect_balance(struct storm *storm, struct pool *pool, uint64_t accepted)
{
    struct ledger_reading reading = rig_ledger(pool);

    expect(storm, ledger_reading_difference(&reading) == 0, "a ledger does not balance",
           reading.accepted);
    expect(storm, reading.queued + reading.in_hand + reading.held == 0, "something is left",
           reading.queued + reading.in_hand + reading.held);
    /* What was moved was accepted once more by another worker. */
    expect(storm, reading.accepted - reading.moved == accepted, "accepted differs from sent",
           reading.accepted - reading.moved);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

static void close_and_wait(struct storm *storm, struct pool *pool)
{
    rig_close(&storm->rig, pool);
    expect(storm, rig_wait(&storm->rig, has_ended, pool), "a pool does not end", 0);
}

static void examine(struct storm *storm)
{
    uint64_t never[2] = { 0 }, passed = 0, asked = 0;

    for (uint64_t id = 0; id < storm->messages; id++) {
        const struct fate *fate = &storm->fates[id];

        expect(storm, fate->begun <= 1, "begun twice", id);
        expect(storm, fate->finished <= fate->passed, "finished more often than passed on", id);
        expect(storm, fate->answered == fate->asked, "asked and not answered once", id);
        never[0] += fate->begun == 0;
        never[1] += fate->passed - fate->finished;
        passed += fate->passed;
        asked += fate->asked;
    }
    expect(storm, never[0] == unbegun(storm->pools[FRONT_A]) + unbegun(storm->pools[FRONT_B]),
           "lost at the front", never[0]);
    expect(storm, never[1] == unbegun(storm->pools[BACK]), "lost at the back", never[1]);
    expect(storm, passed > 0 && asked > 0, "nothing was passed on or asked", passed);
    expect_balance(storm, storm->top, storm->messages);
    expect_balance(storm, storm->pools[BACK], passed);
    expect_balance(storm, storm->pools[ANSWER], asked);
    expect(storm, storm->opened == storm->closed, "opened and not closed", storm->opened);
    expect(storm, storm->overlaps == 0, "callbacks overlap", storm->overlaps);
    expect(storm, storm->refused > 0, "nobody was refused", 0);
    expect(storm, dispatcher_steals(storm->rig.dispatcher) > 0, "nothing was stolen", 0);
    (void)printf("refused %" PRIu64 ", passed %" PRIu64 ", asked %" PRIu64 ", opened %" PRIu64
                 ", moved %" PRIu64 ", steals %" PRIu64 "\n",
                 atomic_load(&storm->refused), passed, asked, atomic_load(&storm->opened),
                 rig_ledger(storm->top).moved + rig_ledger(storm->pools[BACK]).moved,
                 dispatcher_steals(storm->rig.dispatcher));
}

static void destroy(struct storm *storm)
{
    struct executor *executor = runtime_enter(storm->rig.runtime);

    for (int i = 0; i < POOLS; i++) {
        pool_destroy(storm->pools[i], executor);
        spec_unref(storm->specs[i]);
    }
    pool_destroy(storm->top, executor);
    runtime_leave(executor);
    rig_finish(&storm->rig);
    free(storm->fates);
}

static void read_arguments(struct storm *storm, int count, char **arguments)
{
    for (int i = 1; i + 1 < count; i += 2) {
        uint64_t value = strtoull(arguments[i + 1], NULL, 10);

        if (strcmp(arguments[i], "--seed") == 0)
            storm->seed = value;
        else if (strcmp(arguments[i], "--messages") == 0)
            storm->messages = value;
        else if (strcmp(arguments[i], "--resizes") == 0)
            storm->resizes = value;
    }
    storm->messages -= storm->messages % SENDERS;
}

int main(int count, char **arguments)
{
    struct storm storm = { .seed = (uint64_t)time(NULL), .messages = 400000, .resizes = 1000 };

    read_arguments(&storm, count, arguments);
    (void)printf("seed %" PRIu64 ", messages %" PRIu64 ", resizes %" PRIu64 "\n", storm.seed,
                 storm.messages, storm.resizes * RESIZERS);
    (void)fflush(stdout);
    build(&storm);
    run(&storm);
    close_and_wait(&storm, storm.top);
    close_and_wait(&storm, storm.pools[ANSWER]);
    close_and_wait(&storm, storm.pools[BACK]);
    if (storm.wrong == 0)
        examine(&storm);
    if (storm.wrong == 0)
        destroy(&storm);
    return storm.wrong != 0;
}
