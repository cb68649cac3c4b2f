/*
 * Goal: a thread that takes and gives references seldom writes their count; the last reference is
 * given back once, after all uses, also when the thread only holds it in advance.
 *
 * Method: shares played by one thread, and their objects' counts; then threads that take references
 * for others, which give them back, while the first one goes away.
 */
#include "dispatch/share.h"

#include <pthread.h>
#include <stddef.h>

#include "unit/host/suite.h"

#define THREADS 3
#define ROUNDS 100000u

struct object {
    struct refcount uses; /* first */
    _Atomic uint32_t released;
};

static void release(struct refcount *uses)
{
    struct object *object = (struct object *)(void *)uses;

    CU_ASSERT_EQUAL(atomic_load(&object->uses.references), 0);
    atomic_fetch_add(&object->released, 1);
}

/* With one reference. */
static void begin(struct object *object)
{
    *object = (struct object){ .uses.release = release };
    atomic_init(&object->uses.references, 1);
}

static uint32_t references(struct object *object)
{
    return atomic_load(&object->uses.references);
}

static void test_count_is_written_once_for_many(void)
{
    struct shares shares = { .shares[0].spare = 0 };
    struct object object;

    begin(&object);
    for (uint32_t i = 0; i < SHARE_BATCH; i++) {
        shares_take(&shares, &object.uses);
        CU_ASSERT_EQUAL(references(&object), 1 + SHARE_BATCH);
    }
    for (uint32_t i = 0; i < SHARE_BATCH; i++) {
        shares_give(&shares, &object.uses);
        CU_ASSERT_EQUAL(references(&object), 1 + SHARE_BATCH);
    }
    shares_return(&shares);
    CU_ASSERT_EQUAL(references(&object), 1);
    refcount_give(&object.uses);
    CU_ASSERT_EQUAL(object.released, 1);
}

static void test_share_does_not_grow_without_end(void)
{
    struct shares shares = { .shares[0].spare = 0 };
    struct object object;

    begin(&object);
    for (uint32_t i = 0; i < 10 * SHARE_BATCH; i++)
        refcount_take(&object.uses);
    for (uint32_t i = 0; i < 10 * SHARE_BATCH; i++)
        shares_give(&shares, &object.uses);
    CU_ASSERT_TRUE(references(&object) <= 1 + 2 * SHARE_BATCH);
    refcount_give(&object.uses);
    CU_ASSERT_EQUAL(object.released, 0);
    shares_return(&shares);
    CU_ASSERT_EQUAL(object.released, 1);
}

static void test_unused_share_is_returned_at_the_second_look(void)
{
    struct shares shares = { .shares[0].spare = 0 };
    struct object object;

    begin(&object);
    shares_take(&shares, &object.uses);
    refcount_give(&object.uses);
    shares_look(&shares);
    shares_give(&shares, &object.uses);
    shares_look(&shares);
    CU_ASSERT_EQUAL(object.released, 0);
    shares_look(&shares);
    CU_ASSERT_EQUAL(object.released, 1);
}

static void test_objects_without_a_share_are_counted(void)
{
    struct shares shares = { .shares[0].spare = 0 };
    struct object objects[SHARES + 1];

    for (uint32_t i = 0; i <= SHARES; i++) {
        begin(&objects[i]);
        shares_take(&shares, &objects[i].uses);
    }
    CU_ASSERT_EQUAL(references(&objects[SHARES]), 2);
    shares_give(&shares, &objects[SHARES].uses);
    CU_ASSERT_EQUAL(references(&objects[SHARES]), 1);
    shares_return(&shares);
    shares_take(&shares, &objects[SHARES].uses); /* there is a share now */
    CU_ASSERT_EQUAL(references(&objects[SHARES]), 1 + SHARE_BATCH);
    shares_give(&shares, &objects[SHARES].uses);
    shares_return(&shares);
    for (uint32_t i = 0; i <= SHARES; i++) {
        CU_ASSERT_EQUAL(references(&objects[i]), i < SHARES ? 2 : 1);
        CU_ASSERT_EQUAL(objects[i].released, 0);
    }
}

/* One of the threads that hand references to each other through a count of them. */
struct user {
    struct object *object;
    _Atomic uint32_t *handed; /* references that one thread took, for another to give */
    pthread_t thread;
};

static void *use(void *context)
{
    struct user *user = context;
    struct shares shares = { .shares[0].spare = 0 };

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t handed = atomic_load(user->handed);

        if (i % 3 == 0)
            shares_look(&shares);
        shares_take(&shares, &user->object->uses);
        if (i % 2 == 0)
            atomic_fetch_add(user->handed, 1);
        else
            shares_give(&shares, &user->object->uses);
        while (handed > 0 && !atomic_compare_exchange_weak(user->handed, &handed, handed - 1))
            ;
        if (handed > 0)
            shares_give(&shares, &user->object->uses);
    }
    shares_return(&shares);
    refcount_give(&user->object->uses); /* its own, from the start */
    return NULL;
}

static void test_last_reference_of_many_threads_releases_once(void)
{
    static struct object object;
    static _Atomic uint32_t handed;
    struct user users[THREADS];

    begin(&object);
    for (uint32_t i = 0; i < THREADS; i++) {
        refcount_take(&object.uses);
        users[i] = (struct user){ .object = &object, .handed = &handed };
        CU_ASSERT_EQUAL_FATAL(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    }
    refcount_give(&object.uses);
    for (uint32_t i = 0; i < THREADS; i++)
        (void)pthread_join(users[i].thread, NULL);
    CU_ASSERT_EQUAL(references(&object), atomic_load(&handed));
    while (atomic_load(&handed) > 0) {
        CU_ASSERT_EQUAL(object.released, 0);
        atomic_fetch_sub(&handed, 1);
        refcount_give(&object.uses);
    }
    CU_ASSERT_EQUAL(object.released, 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once for many", test_count_is_written_once_for_many },
        { "bounded", test_share_does_not_grow_without_end },
        { "looks", test_unused_share_is_returned_at_the_second_look },
        { "without a share", test_objects_without_a_share_are_counted },
        { "threads", test_last_reference_of_many_threads_releases_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("share", tests);
}
