/* SPDX-License-Identifier: MIT */
/*
 * Goal: a reading of a ledger is exact at one instant, also while its owner works.
 *
 * Method: an owner moves messages through a mailbox and a ledger on its own thread, in every way
 * there is, until the test has read often enough meanwhile. Each reading must balance, with at most
 * the owner's one message in hand.
 */
#include "stats/ledger.h"

#include <pthread.h>
#include <string.h>

#include "message/cache.h"
#include "message/mailbox.h"
#include "unit/host/suite.h"

#define ROUNDS_MAX 20000000u /* a second or two; reached only where the threads share a CPU */
#define READINGS 5000u       /* between which the owner was at work */

struct work {
    struct mailbox mailbox;
    struct ledger ledger;
    struct cache cache;
    _Atomic bool enough; /* set by the reader */
    _Atomic bool done;   /* set by the owner */
    uint32_t rounds;     /* the owner's, until it is done */
};

static void pop(struct work *work)
{
    message_destroy(&work->cache, mailbox_pop(&work->mailbox));
}

static void *own(void *argument)
{
    struct work *work = argument;
    struct ledger *ledger = &work->ledger;
    bool wake;

    for (; work->rounds < ROUNDS_MAX && !atomic_load(&work->enough); work->rounds++) {
        uint32_t i = work->rounds;
        struct message *message = message_create(&work->cache, NULL, 0);

        (void)mailbox_push(&work->mailbox, 1, message, &wake);
        pop(work);
        if (i % 4 == 0) {
            ledger_count(&ledger->put_by);
            ledger_count(&ledger->resumed);
        }
        ledger_count(i % 3 == 0 ? &ledger->done : i % 3 == 1 ? &ledger->dead : &ledger->moved);
    }
    atomic_store(&work->done, true);
    return NULL;
}

/* promise L1 */
static void test_reading_while_the_owner_works_balances(void)
{
    static struct work work;
    struct ledger_reading reading;
    pthread_t thread;
    uint64_t before = 0;
    uint32_t readings = 0;
    int wrong = 0;

    memset((void *)&work, 0, sizeof work);
    cache_init(&work.cache);
    mailbox_init(&work.mailbox, 1, 0);
    mailbox_open(&work.mailbox);
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, own, &work), 0);
    while (!atomic_load(&work.done)) {
        ledger_read(&work.ledger, &work.mailbox, &reading);
        wrong += ledger_reading_difference(&reading) != 0;
        wrong += reading.accepted < before;
        wrong += reading.queued + reading.in_hand + reading.held > 1;
        readings += reading.accepted > before;
        atomic_store(&work.enough, readings >= READINGS);
        before = reading.accepted;
    }
    pthread_join(thread, NULL);
    ledger_read(&work.ledger, &work.mailbox, &reading);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(reading.in_hand, 0);
    CU_ASSERT_EQUAL(reading.accepted, work.rounds);
    CU_ASSERT_EQUAL(reading.done + reading.dead + reading.moved, work.rounds);
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), 0);
    cache_finish(&work.cache);
}

/* promise L1 */
static void test_message_is_in_hand_until_it_is_settled_once(void)
{
    struct ledger_reading reading;
    struct work work;
    bool wake;

    memset((void *)&work, 0, sizeof work);
    cache_init(&work.cache);
    mailbox_init(&work.mailbox, 1, 0);
    mailbox_open(&work.mailbox);
    for (int i = 0; i < 2; i++)
        (void)mailbox_push(&work.mailbox, 1, message_create(&work.cache, NULL, 0), &wake);
    pop(&work);
    ledger_read(&work.ledger, &work.mailbox, &reading);
    CU_ASSERT_EQUAL(reading.in_hand, 1);
    CU_ASSERT_EQUAL(reading.queued, 1);
    ledger_count(&work.ledger.done);
    ledger_read(&work.ledger, &work.mailbox, &reading);
    CU_ASSERT_EQUAL(reading.in_hand, 0);
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), 0);
    ledger_count(&work.ledger.dead);
    ledger_read(&work.ledger, &work.mailbox, &reading);
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), -1);
    pop(&work);
    cache_finish(&work.cache);
}

static void test_difference_reports_the_missing_items(void)
{
    struct ledger_reading reading = {
        .accepted = 10, .done = 3, .dead = 2, .moved = 1, .queued = 2, .in_hand = 1, .held = 1
    };

    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), 0);
    reading.done--;
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), 1);
    reading.held += 3;
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), -2);
}

static void test_readings_add_up_field_by_field(void)
{
    struct ledger_reading sum = {
        .accepted = 28, .done = 1, .dead = 2, .moved = 3, .queued = 4, .in_hand = 5, .held = 13
    };
    struct ledger_reading one = sum;

    ledger_reading_add(&sum, &one);
    CU_ASSERT_EQUAL(sum.accepted, 56);
    CU_ASSERT_EQUAL(sum.done, 2);
    CU_ASSERT_EQUAL(sum.dead, 4);
    CU_ASSERT_EQUAL(sum.moved, 6);
    CU_ASSERT_EQUAL(sum.queued, 8);
    CU_ASSERT_EQUAL(sum.in_hand, 10);
    CU_ASSERT_EQUAL(sum.held, 26);
}

static void test_every_reason_has_a_name(void)
{
    for (int i = 0; i < DEAD_REASONS; i++)
        CU_ASSERT_STRING_NOT_EQUAL(dead_reason_name((enum dead_reason)i), "?");
    CU_ASSERT_STRING_EQUAL(dead_reason_name(DEAD_CRASHED), "crashed");
    CU_ASSERT_STRING_EQUAL(dead_reason_name(DEAD_REASONS), "?");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reading balances", test_reading_while_the_owner_works_balances },
        { "settled once", test_message_is_in_hand_until_it_is_settled_once },
        { "difference", test_difference_reports_the_missing_items },
        { "sum", test_readings_add_up_field_by_field },
        { "names", test_every_reason_has_a_name },
        CU_TEST_INFO_NULL,
    };

    return suite_run("ledger", tests);
}
