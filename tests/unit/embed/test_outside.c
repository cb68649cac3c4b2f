/* SPDX-License-Identifier: MIT */
/*
 * Goal: threads of the program work with any number of runtimes at once. A runtime ends and another
 * begins while threads that used it live on; threads come and go while a runtime lives. No message
 * is lost or mixed up, and no thread needs to say that it is done with a runtime.
 *
 * Method: some threads live through all phases, others for one phase. Each sends to every runtime
 * in turn, and frees a message that it did not send. Between two phases, while the threads wait,
 * the runtimes are shut down, compared with what was sent, destroyed and replaced.
 */
#include <pthread.h>
#include <stdlib.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define PHASES 4
#define RUNTIMES 3
#define LASTING 4 /* threads that live through all phases */
#define PASSING 4 /* threads of each phase */
#define ROUNDS 300

struct scene {
    struct hand hands[RUNTIMES]; /* changed between phases */
    weir_pid pids[RUNTIMES];
    pthread_barrier_t barrier; /* the lasting threads and the test */
    _Atomic uint32_t refused;
};

static void send_to(struct scene *scene, uint32_t index, uint64_t id)
{
    struct hand *hand = &scene->hands[index];

    weir_runtime_message_free(hand->runtime, hand_message(hand, (struct hand_order){ .id = id }));
    if (hand_send(hand, scene->pids[index], (struct hand_order){ .id = id }) != 0)
        atomic_fetch_add(&scene->refused, 1);
}

/* To each runtime the ids from 1 to ROUNDS. */
static void send_to_all(struct scene *scene)
{
    for (uint64_t id = 1; id <= ROUNDS; id++)
        for (uint32_t i = 0; i < RUNTIMES; i++)
            send_to(scene, i, id);
}

static void *run_passing(void *context)
{
    send_to_all(context);
    return NULL;
}

static void *run_lasting(void *context)
{
    struct scene *scene = context;

    for (uint32_t phase = 0; phase < PHASES; phase++) {
        (void)pthread_barrier_wait(&scene->barrier);
        send_to_all(scene);
        (void)pthread_barrier_wait(&scene->barrier);
    }
    return NULL;
}

static void start_all(pthread_t *threads, uint32_t count, void *(*run)(void *), struct scene *scene)
{
    for (uint32_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run, scene) != 0)
            abort();
}

static void join_all(const pthread_t *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

static void begin_runtime(struct scene *scene, uint32_t index)
{
    hand_begin(&scene->hands[index], 1);
    scene->pids[index] = hand_pool(&scene->hands[index], "pool", 2, 0);
}

static void end_runtime(struct scene *scene, uint32_t index)
{
    struct hand *hand = &scene->hands[index];
    const uint32_t senders = LASTING + PASSING;

    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand->runtime, scene->pids[index], wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand->handled), senders * ROUNDS);
    CU_ASSERT_EQUAL(atomic_load(&hand->sum), (uint64_t)senders * ROUNDS * (ROUNDS + 1) / 2);
    hand_finish(hand);
}

static void run_phase(struct scene *scene)
{
    pthread_t passing[PASSING];

    for (uint32_t i = 0; i < RUNTIMES; i++)
        begin_runtime(scene, i);
    (void)pthread_barrier_wait(&scene->barrier);
    start_all(passing, PASSING, run_passing, scene);
    join_all(passing, PASSING);
    (void)pthread_barrier_wait(&scene->barrier);
    for (uint32_t i = 0; i < RUNTIMES; i++)
        end_runtime(scene, i);
}

/* promise E1 */
static void test_threads_outlive_runtimes_and_runtimes_threads(void)
{
    struct scene scene = { .refused = 0 };
    pthread_t lasting[LASTING];

    pthread_barrier_init(&scene.barrier, NULL, LASTING + 1);
    start_all(lasting, LASTING, run_lasting, &scene);
    for (uint32_t phase = 0; phase < PHASES; phase++)
        run_phase(&scene);
    join_all(lasting, LASTING);
    CU_ASSERT_EQUAL(atomic_load(&scene.refused), 0);
    pthread_barrier_destroy(&scene.barrier);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "outlive", test_threads_outlive_runtimes_and_runtimes_threads },
        CU_TEST_INFO_NULL,
    };

    return suite_run("outside", tests);
}
