/* SPDX-License-Identifier: MIT */
/*
 * Goal: a retired object is freed once every reader has been quiescent or offline since, and not
 * before; nothing is freed twice or forgotten.
 *
 * Method: readers played by one thread; then a writer that exchanges a value under two readers,
 * which would see a freed one.
 */
#include "dispatch/reclaim.h"

#include <stdlib.h>

#include "unit/host/suite.h"

#include <weir/status.h>

#define EXCHANGES 2000

struct thing {
    struct retired retired; /* first */
    _Atomic uint32_t *freed;
    _Atomic uint32_t alive;
};

static void free_thing(struct retired *retired, struct reader *reader)
{
    struct thing *thing = (struct thing *)(void *)retired;

    (void)reader;
    atomic_fetch_add(thing->freed, 1);
    atomic_store(&thing->alive, 0);
    free(thing);
}

static struct thing *make(_Atomic uint32_t *freed)
{
    struct thing *thing = calloc(1, sizeof *thing);

    thing->retired.free = free_thing;
    thing->freed = freed;
    atomic_init(&thing->alive, 1);
    return thing;
}

struct fixture {
    struct reclaim reclaim;
    struct reader writer;
    struct reader reader;
    _Atomic uint32_t freed;
};

static void begin(struct fixture *f)
{
    reclaim_init(&f->reclaim);
    CU_ASSERT_EQUAL(reader_init(&f->writer, &f->reclaim), 0);
    CU_ASSERT_EQUAL(reader_init(&f->reader, &f->reclaim), 0);
    atomic_init(&f->freed, 0);
    reader_online(&f->writer);
}

static void finish(struct fixture *f)
{
    reader_finish(&f->reader);
    while (reader_poll(&f->writer))
        ;
    reader_finish(&f->writer);
    reclaim_finish(&f->reclaim);
}

/* A grace period: `reader` is quiescent as often as that takes, and the writer polls. */
static void pass_grace(struct fixture *f, void (*quiescent)(struct reader *reader))
{
    for (int i = 0; i < RECLAIM_GRACE; i++) {
        quiescent(&f->reader);
        (void)reader_poll(&f->writer);
    }
}

static void rest_between_turns(struct reader *reader)
{
    reader_quiescent(reader);
}

static void nap(struct reader *reader)
{
    reader_offline(reader);
    reader_online(reader);
}

/* promise D4 */
static void test_retired_thing_waits_for_every_online_reader(void)
{
    static struct fixture f;

    begin(&f);
    reader_online(&f.reader);
    reader_retire(&f.writer, &make(&f.freed)->retired);
    for (int i = 0; i < 10; i++)
        CU_ASSERT_TRUE(reader_poll(&f.writer));
    CU_ASSERT_EQUAL(f.freed, 0);
    pass_grace(&f, rest_between_turns);
    CU_ASSERT_EQUAL(f.freed, 1);
    CU_ASSERT_FALSE(reader_poll(&f.writer));
    finish(&f);
}

static void test_offline_reader_holds_nothing_up(void)
{
    static struct fixture f;

    begin(&f);
    reader_retire(&f.writer, &make(&f.freed)->retired);
    CU_ASSERT_FALSE(reader_poll(&f.writer));
    CU_ASSERT_EQUAL(f.freed, 1);
    reader_online(&f.reader);
    reader_retire(&f.writer, &make(&f.freed)->retired);
    CU_ASSERT_TRUE(reader_poll(&f.writer));
    reader_offline(&f.reader);
    CU_ASSERT_FALSE(reader_poll(&f.writer));
    CU_ASSERT_EQUAL(f.freed, 2);
    finish(&f);
}

static void test_reader_that_comes_and_goes_holds_nothing_up(void)
{
    static struct fixture f;

    begin(&f);
    reader_online(&f.reader);
    reader_retire(&f.writer, &make(&f.freed)->retired);
    CU_ASSERT_TRUE(reader_poll(&f.writer));
    pass_grace(&f, nap);
    CU_ASSERT_EQUAL(f.freed, 1);
    finish(&f);
}

/* All readers read the epoch between two turns: however many lists wait, and however often they are
 * polled, it is written once for each round in which all were quiescent. */
static void test_epoch_is_written_once_in_a_grace_period(void)
{
    enum { WRITERS = 5, ROUNDS_OF_ALL = 20, POLLS = 7 };
    static struct fixture f;
    static struct reader writers[WRITERS];

    begin(&f);
    reader_online(&f.reader);
    for (int i = 0; i < WRITERS; i++) {
        CU_ASSERT_EQUAL(reader_init(&writers[i], &f.reclaim), 0);
        reader_online(&writers[i]);
    }
    for (int round = 0; round < ROUNDS_OF_ALL; round++) {
        uint64_t epoch = atomic_load(&f.reclaim.epoch);

        reader_quiescent(&f.writer);
        reader_quiescent(&f.reader);
        for (int poll = 0; poll < POLLS; poll++) {
            for (int i = 0; i < WRITERS; i++) {
                reader_retire(&writers[i], &make(&f.freed)->retired);
                (void)reader_poll(&writers[i]);
            }
        }
        CU_ASSERT_TRUE(atomic_load(&f.reclaim.epoch) <= epoch + 1);
    }
    CU_ASSERT_TRUE(f.freed > 0);
    for (int i = 0; i < WRITERS; i++)
        reader_finish(&writers[i]);
    finish(&f);
    CU_ASSERT_EQUAL(f.freed, WRITERS * ROUNDS_OF_ALL * POLLS);
}

static void test_handed_over_things_are_freed_by_another(void)
{
    static struct fixture f;

    begin(&f);
    reader_online(&f.reader);
    reader_retire(&f.reader, &make(&f.freed)->retired);
    CU_ASSERT_TRUE(reader_poll(&f.reader)); /* the writer may be reading it */
    reader_retire(&f.reader, &make(&f.freed)->retired);
    reader_hand_over(&f.reader);
    reader_offline(&f.reader);
    while (reader_poll(&f.writer))
        ;
    CU_ASSERT_EQUAL(f.freed, 2);
    finish(&f);
}

static void test_reader_that_goes_away_leaves_its_things_to_others(void)
{
    static struct fixture f;
    static struct reader passing;

    begin(&f);
    CU_ASSERT_EQUAL(reader_init(&passing, &f.reclaim), 0);
    reader_online(&passing);
    reader_retire(&passing, &make(&f.freed)->retired);
    reader_finish(&passing);
    while (reader_poll(&f.writer))
        ;
    CU_ASSERT_EQUAL(f.freed, 1);
    finish(&f);
}

/* promise D11: none of two that go to sleep while the other is awake may free; the second does. */
static void test_last_one_that_rests_frees_what_all_have_left(void)
{
    static struct fixture f;

    begin(&f);
    reader_online(&f.reader);
    reader_retire(&f.writer, &make(&f.freed)->retired);
    reader_rest(&f.writer);
    CU_ASSERT_EQUAL(f.freed, 0); /* the other may be reading it */
    reader_retire(&f.reader, &make(&f.freed)->retired);
    reader_rest(&f.reader);
    CU_ASSERT_EQUAL(f.freed, 2);
    CU_ASSERT_FALSE(reader_is_online(&f.writer));
    CU_ASSERT_FALSE(reader_is_online(&f.reader));
    reader_online(&f.writer);
    finish(&f);
}

struct link {
    struct retired retired; /* first */
    struct link *next;
    uint32_t *freed;
};

static void free_link(struct retired *retired, struct reader *reader)
{
    struct link *link = (struct link *)(void *)retired;

    ++*link->freed;
    if (link->next)
        reader_retire(reader, &link->next->retired);
}

/* promise D11: the end of an object may retire another one. */
static void test_what_the_freed_retire_is_freed_before_the_rest(void)
{
    static struct fixture f;
    struct link links[6] = { 0 };
    uint32_t freed = 0;

    begin(&f);
    for (size_t i = 0; i < 6; i++)
        links[i] = (struct link){ { NULL, free_link }, i < 5 ? &links[i + 1] : NULL, &freed };
    reader_retire(&f.writer, &links[0].retired);
    reader_rest(&f.writer);
    CU_ASSERT_EQUAL(freed, 6);
    reader_online(&f.writer);
    finish(&f);
}

struct round {
    struct reclaim reclaim;
    pthread_barrier_t barrier;
    _Atomic uint32_t freed;
    uint32_t forgotten; /* rounds after which not all was freed */
};

#define RESTING 3
#define ROUNDS 300

static void *work_and_rest(void *argument)
{
    struct round *round = argument;
    struct reader reader;

    (void)reader_init(&reader, &round->reclaim);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        reader_online(&reader);
        reader_retire(&reader, &make(&round->freed)->retired);
        (void)pthread_barrier_wait(&round->barrier);
        reader_rest(&reader);
        if (pthread_barrier_wait(&round->barrier) == PTHREAD_BARRIER_SERIAL_THREAD &&
            atomic_load(&round->freed) != i * RESTING)
            round->forgotten++;
        (void)pthread_barrier_wait(&round->barrier);
    }
    reader_finish(&reader);
    return NULL;
}

/* promise D11 */
static void test_all_that_rest_at_once_leave_nothing(void)
{
    static struct round round;
    pthread_t threads[RESTING];

    reclaim_init(&round.reclaim);
    (void)pthread_barrier_init(&round.barrier, NULL, RESTING);
    for (int i = 0; i < RESTING; i++)
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, work_and_rest, &round), 0);
    for (int i = 0; i < RESTING; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(round.forgotten, 0);
    (void)pthread_barrier_destroy(&round.barrier);
    reclaim_finish(&round.reclaim);
}

static void test_full_table_refuses_a_reader(void)
{
    static struct reader readers[RECLAIM_READERS_MAX + 1];
    static struct reclaim reclaim;

    reclaim_init(&reclaim);
    for (int i = 0; i < RECLAIM_READERS_MAX; i++)
        CU_ASSERT_EQUAL(reader_init(&readers[i], &reclaim), 0);
    CU_ASSERT_EQUAL(reader_init(&readers[RECLAIM_READERS_MAX], &reclaim), WEIR_ENOMEM);
    reader_finish(&readers[5]);
    CU_ASSERT_EQUAL(reader_init(&readers[RECLAIM_READERS_MAX], &reclaim), 0);
    reclaim_finish(&reclaim);
}

/* --- readers at work ------------------------------------------------------------------------ */

struct scene {
    struct reclaim reclaim;
    _Atomic(struct thing *) present;
    _Atomic bool over;
    _Atomic uint32_t dead_seen;
};

static void *read_on(void *argument)
{
    struct scene *scene = argument;
    struct reader reader;
    bool naps = false;

    (void)reader_init(&reader, &scene->reclaim);
    reader_online(&reader);
    while (!atomic_load(&scene->over)) {
        struct thing *thing = atomic_load_explicit(&scene->present, memory_order_acquire);

        if (!atomic_load(&thing->alive))
            atomic_fetch_add(&scene->dead_seen, 1);
        if (naps) {
            reader_offline(&reader);
            reader_online(&reader);
        } else {
            reader_quiescent(&reader);
        }
        naps = !naps;
    }
    reader_finish(&reader);
    return NULL;
}

/* promise D4 */
static void test_reader_never_sees_a_freed_thing(void)
{
    static struct scene scene;
    static _Atomic uint32_t freed;
    pthread_t threads[2];
    struct reader writer;

    reclaim_init(&scene.reclaim);
    (void)reader_init(&writer, &scene.reclaim);
    reader_online(&writer);
    atomic_store(&scene.present, make(&freed));
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, read_on, &scene), 0);
    for (int i = 0; i < EXCHANGES; i++) {
        struct thing *old = atomic_exchange(&scene.present, make(&freed));

        reader_retire(&writer, &old->retired);
        (void)reader_poll(&writer);
        reader_quiescent(&writer);
    }
    atomic_store(&scene.over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    while (reader_poll(&writer))
        ;
    CU_ASSERT_EQUAL(atomic_load(&scene.dead_seen), 0);
    CU_ASSERT_EQUAL(atomic_load(&freed), EXCHANGES);
    free(atomic_load(&scene.present));
    reader_finish(&writer);
    reclaim_finish(&scene.reclaim);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "waits for readers", test_retired_thing_waits_for_every_online_reader },
        { "offline", test_offline_reader_holds_nothing_up },
        { "comes and goes", test_reader_that_comes_and_goes_holds_nothing_up },
        { "one epoch", test_epoch_is_written_once_in_a_grace_period },
        { "hand over", test_handed_over_things_are_freed_by_another },
        { "goes away", test_reader_that_goes_away_leaves_its_things_to_others },
        { "last one", test_last_one_that_rests_frees_what_all_have_left },
        { "one behind the other", test_what_the_freed_retire_is_freed_before_the_rest },
        { "all at once", test_all_that_rest_at_once_leave_nothing },
        { "full table", test_full_table_refuses_a_reader },
        { "at work", test_reader_never_sees_a_freed_thing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("reclaim", tests);
}
