/*
 * Goal: a reading of a ledger is exact at one instant, also while its owner works.
 *
 * Method: an owner moves messages through a mailbox and a ledger on its own thread, in every way
 * there is; the test reads until the owner is done. Each reading must balance.
 */
#include "stats/ledger.h"

#include <pthread.h>
#include <string.h>

#include "message/cache.h"
#include "message/mailbox.h"
#include "unit/host/suite.h"

#define ROUNDS 20000u

struct work {
    struct mailbox mailbox;
    struct ledger ledger;
    struct cache cache;
    _Atomic bool done;
};

/* One step of a message between two gauges or counters, as the runtime makes it. */
static void step(struct ledger *ledger, _Atomic uint32_t *from, _Atomic uint64_t *to)
{
    ledger_begin(ledger);
    ledger_shift(from, -1);
    ledger_add(to, 1);
    ledger_end(ledger);
}

static void hold(struct ledger *ledger, int32_t by)
{
    ledger_begin(ledger);
    ledger_shift(&ledger->in_hand, -by);
    ledger_shift(&ledger->held, by);
    ledger_end(ledger);
}

static void pop(struct work *work)
{
    struct message *message;

    ledger_begin(&work->ledger);
    message = mailbox_pop(&work->mailbox);
    ledger_shift(&work->ledger.in_hand, 1);
    ledger_end(&work->ledger);
    message_destroy(&work->cache, message);
}

static void *own(void *argument)
{
    struct work *work = argument;
    struct ledger *ledger = &work->ledger;
    bool wake;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct message *message = message_create(&work->cache, NULL, 0);

        (void)mailbox_push(&work->mailbox, 1, message, &wake);
        pop(work);
        if (i % 4 == 0) {
            hold(ledger, 1);
            hold(ledger, -1);
        }
        step(ledger, &ledger->in_hand,
             i % 3 == 0   ? &ledger->done
             : i % 3 == 1 ? &ledger->dead
                          : &ledger->moved);
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
        before = reading.accepted;
    }
    pthread_join(thread, NULL);
    ledger_read(&work.ledger, &work.mailbox, &reading);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(reading.accepted, ROUNDS);
    CU_ASSERT_EQUAL(reading.done + reading.dead + reading.moved, ROUNDS);
    CU_ASSERT_EQUAL(ledger_reading_difference(&reading), 0);
    cache_finish(&work.cache);
}

static void test_difference_tells_what_is_missing(void)
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
        { "difference", test_difference_tells_what_is_missing },
        { "sum", test_readings_add_up_field_by_field },
        { "names", test_every_reason_has_a_name },
        CU_TEST_INFO_NULL,
    };

    return suite_run("ledger", tests);
}
