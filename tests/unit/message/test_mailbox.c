/* SPDX-License-Identifier: MIT */
/*
 * Goal: a mailbox admits exactly what its limit allows, keeps the order of each sender, refuses
 * after close and after its end, and wakes its owner exactly once for each time that it slept.
 *
 * Method: one thread plays sender and owner; indexes are set close to their wrap; then several
 * threads send against one owner, and every message is counted.
 */
#include "message/mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "message/cache.h"
#include "message/control_queue.h"
#include "unit/host/suite.h"

#define SERIAL 7u
#define SENDERS 4
#define EACH 5000u

struct box {
    struct mailbox mailbox;
    struct cache cache;
};

static void begin(struct box *box, uint32_t limit)
{
    cache_init(&box->cache);
    mailbox_init(&box->mailbox, SERIAL, limit);
    mailbox_open(&box->mailbox);
}

static void finish(struct box *box)
{
    struct message *message;

    while ((message = mailbox_pop(&box->mailbox)))
        message_destroy(&box->cache, message);
    cache_finish(&box->cache);
}

static struct message *make(struct cache *cache, uint64_t id)
{
    struct message *message = message_create(cache, NULL, sizeof id);

    memcpy(message->public.data, &id, sizeof id);
    return message;
}

static uint64_t id_of(const struct message *message)
{
    uint64_t id;

    memcpy(&id, message->public.data, sizeof id);
    return id;
}

/* Pushes, and frees a refused message. */
static int push(struct box *box, uint32_t serial, uint64_t id, bool *wake)
{
    struct message *message = make(&box->cache, id);
    int status = mailbox_push(&box->mailbox, serial, message, wake);

    if (status != 0) {
        CU_ASSERT_EQUAL(id_of(message), id);
        message_destroy(&box->cache, message);
    }
    return status;
}

static uint64_t pop(struct box *box)
{
    struct message *message = mailbox_pop(&box->mailbox);
    uint64_t id = message ? id_of(message) : UINT64_MAX;

    message_destroy(&box->cache, message);
    return id;
}

/* promise S5 */
static void test_limit_of_one_is_exact(void)
{
    struct box box;
    bool wake;

    begin(&box, 1);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), 0);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), WEIR_EFULL);
    CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), 1);
    CU_ASSERT_EQUAL(pop(&box), 1);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 3, &wake), 0);
    CU_ASSERT_EQUAL(mailbox_accepted(&box.mailbox), 2);
    finish(&box);
}

static void test_no_limit_admits_all(void)
{
    struct box box;
    bool wake;

    begin(&box, 0);
    for (uint64_t id = 0; id < 1000; id++)
        CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
    CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), 1000);
    finish(&box);
}

static void test_lowered_limit_keeps_what_waits_and_refuses_until_below(void)
{
    struct box box;
    bool wake;

    begin(&box, 4);
    for (uint64_t id = 0; id < 4; id++)
        CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
    mailbox_set_limit(&box.mailbox, 2);
    CU_ASSERT_EQUAL(pop(&box), 0);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 9, &wake), WEIR_EFULL);
    CU_ASSERT_EQUAL(pop(&box), 1);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 9, &wake), WEIR_EFULL);
    CU_ASSERT_EQUAL(pop(&box), 2);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 9, &wake), 0);
    finish(&box);
}

static void test_raised_limit_admits_at_once(void)
{
    struct box box;
    bool wake;

    begin(&box, 1);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), 0);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), WEIR_EFULL);
    mailbox_set_limit(&box.mailbox, 2);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), 0);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 3, &wake), WEIR_EFULL);
    finish(&box);
}

static void test_fresh_or_closed_mailbox_refuses_closed(void)
{
    struct box box;
    bool wake;

    cache_init(&box.cache);
    mailbox_init(&box.mailbox, SERIAL, 2);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), WEIR_ECLOSED);
    mailbox_open(&box.mailbox);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), 0);
    mailbox_close(&box.mailbox);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(pop(&box), 1);
    finish(&box);
}

/* promise A3 */
static void test_ended_serial_refuses_terminated(void)
{
    struct box box;
    struct message *message;
    bool wake;

    begin(&box, 2);
    mailbox_close(&box.mailbox);
    mailbox_end(&box.mailbox);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(push(&box, SERIAL + 1, 1, &wake), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(control_queue_signal(&box.mailbox, SERIAL, 1, &wake), WEIR_ETERMINATED);
    message = make(&box.cache, 1);
    CU_ASSERT_EQUAL(control_queue_push(&box.mailbox, SERIAL, message, &wake), WEIR_ETERMINATED);
    message_destroy(&box.cache, message);
    finish(&box);
}

static void test_messages_come_out_in_order(void)
{
    struct box box;
    bool wake;

    begin(&box, 0);
    for (uint64_t id = 0; id < 50; id++)
        CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
    for (uint64_t id = 0; id < 50; id++)
        CU_ASSERT_EQUAL(pop(&box), id);
    CU_ASSERT_EQUAL(pop(&box), UINT64_MAX);
    CU_ASSERT_TRUE(mailbox_empty(&box.mailbox));
    finish(&box);
}

static void test_push_wakes_idle_owner_once(void)
{
    struct box box;
    bool wake;

    begin(&box, 0);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), 0);
    CU_ASSERT_FALSE(wake); /* not idle yet: its creator schedules it */
    CU_ASSERT_FALSE(mailbox_try_idle(&box.mailbox));
    (void)pop(&box);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), 0);
    CU_ASSERT_TRUE(wake);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 3, &wake), 0);
    CU_ASSERT_FALSE(wake);
    finish(&box);
}

/* promises S3 and S9 */
static void test_sleeper_finds_first_what_woke_it(void)
{
    struct box box;
    struct message *chain[3];
    bool wake;

    begin(&box, 3);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    for (uint64_t id = 0; id < 3; id++)
        CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
    CU_ASSERT_FALSE(mailbox_try_idle(&box.mailbox));
    for (uint64_t id = 0; id < 3; id++)
        CU_ASSERT_EQUAL(pop(&box), id);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    for (uint64_t id = 0; id < 3; id++)
        chain[id] = make(&box.cache, 3 + id);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, chain, 1, &wake), 1);
    CU_ASSERT_TRUE(wake);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, chain + 1, 2, &wake), 2);
    CU_ASSERT_FALSE(wake);
    for (uint64_t id = 3; id < 6; id++)
        CU_ASSERT_EQUAL(pop(&box), id);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    for (uint64_t id = 0; id < 3; id++)
        chain[id] = make(&box.cache, 6 + id);
    CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, chain, 3, &wake), 3);
    CU_ASSERT_TRUE(wake);
    for (uint64_t id = 6; id < 9; id++)
        CU_ASSERT_EQUAL(pop(&box), id);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    finish(&box);
}

static bool is_even(const void *context, const struct message *message)
{
    (void)context;
    return id_of(message) % 2 == 0;
}

/* What was taken out of the middle and put back comes first, and nobody got its place. */
static void test_message_that_is_put_back_keeps_its_place(void)
{
    struct mailbox_walk walk = { .may = is_even, .looks = UINT32_MAX };
    static const uint64_t order[] = { 2, 1, 3 };
    struct message *message;
    struct box box;
    bool wake;

    begin(&box, 3);
    mailbox_set_bytes_limit(&box.mailbox, 3 * sizeof(uint64_t));
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
    message = mailbox_take_if(&box.mailbox, &walk);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    mailbox_put_back(&box.mailbox, message);
    mailbox_return(&box.mailbox);
    CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), 3);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 4, &wake), WEIR_EFULL);
    for (uint32_t i = 0; i < 3; i++) {
        message = mailbox_pop(&box.mailbox);
        CU_ASSERT_PTR_NOT_NULL_FATAL(message);
        CU_ASSERT_EQUAL(id_of(message), order[i]);
        message_destroy(&box.cache, message);
    }
    CU_ASSERT_EQUAL(atomic_load(&box.mailbox.bytes), 0);
    finish(&box);
}

/* The owner slept: message 1 stays in front. With and without messages behind. */
static void test_message_that_is_put_back_comes_behind_the_one_that_woke(void)
{
    for (uint64_t count = 2; count <= 3; count++) {
        struct mailbox_walk walk = { .may = is_even, .looks = UINT32_MAX };
        struct message *message;
        struct box box;
        bool wake;

        begin(&box, 3);
        CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
        for (uint64_t id = 1; id <= count; id++)
            CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
        message = mailbox_take_if(&box.mailbox, &walk);
        CU_ASSERT_PTR_NOT_NULL_FATAL(message);
        CU_ASSERT_EQUAL(id_of(message), 2);
        mailbox_put_back(&box.mailbox, message);
        mailbox_return(&box.mailbox);
        CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), count);
        for (uint64_t id = 1; id <= count; id++) {
            message = mailbox_pop(&box.mailbox);
            CU_ASSERT_PTR_NOT_NULL_FATAL(message);
            CU_ASSERT_EQUAL(id_of(message), id);
            message_destroy(&box.cache, message);
        }
        finish(&box);
    }
}

static void test_refused_push_does_not_wake(void)
{
    struct box box;
    bool wake = false;

    begin(&box, 1);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    mailbox_close(&box.mailbox);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), WEIR_ECLOSED);
    CU_ASSERT_TRUE((atomic_load(&box.mailbox.word) & MAILBOX_IDLE) != 0);
    finish(&box);
}

static void test_muted_owner_is_woken_by_other_lanes_only(void)
{
    struct box box;
    uint32_t signals;
    bool wake;

    begin(&box, 0);
    CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), 0);
    CU_ASSERT_TRUE(mailbox_try_mute(&box.mailbox));
    CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), 0);
    CU_ASSERT_FALSE(wake);
    CU_ASSERT_EQUAL(control_queue_signal(&box.mailbox, SERIAL, 4, &wake), 0);
    CU_ASSERT_TRUE(wake);
    CU_ASSERT_EQUAL(control_queue_signal(&box.mailbox, SERIAL, 8, &wake), 0);
    CU_ASSERT_FALSE(wake);
    CU_ASSERT_FALSE(mailbox_try_mute(&box.mailbox));
    CU_ASSERT_FALSE(mailbox_try_idle(&box.mailbox));
    CU_ASSERT_PTR_NULL(control_queue_take(&box.mailbox, &signals));
    CU_ASSERT_EQUAL(signals, 12);
    CU_ASSERT_FALSE(mailbox_has_other(&box.mailbox));
    finish(&box);
}

static void test_other_lanes_come_out_oldest_first(void)
{
    struct box box;
    struct message *message;
    uint32_t signals;
    bool wake;

    begin(&box, 1);
    for (uint64_t id = 0; id < 5; id++)
        CU_ASSERT_EQUAL(control_queue_push(&box.mailbox, SERIAL, make(&box.cache, id), &wake), 0);
    CU_ASSERT_TRUE(mailbox_empty(&box.mailbox)); /* they take no place */
    message = control_queue_take(&box.mailbox, &signals);
    for (uint64_t id = 0; id < 5 && message; id++) {
        struct message *next = atomic_load(&message->next);

        CU_ASSERT_EQUAL(id_of(message), id);
        message_destroy(&box.cache, message);
        message = next;
    }
    CU_ASSERT_PTR_NULL(message);
    finish(&box);
}

/* As if so many messages had passed. */
static void pass(struct box *box, uint64_t count)
{
    uint64_t word = atomic_load(&box->mailbox.word) & ~0xffffffffull;

    atomic_store(&box->mailbox.taken, count);
    mailbox_return(&box->mailbox);
    atomic_store(&box->mailbox.word, word | (uint32_t)count);
}

/* promise S5 */
static void test_limit_that_no_memory_holds_refuses_nothing(void)
{
    const uint32_t limits[] = { INT32_MAX, 1u << 31, UINT32_MAX };
    struct box box;
    bool wake;

    for (uint32_t i = 0; i < 3; i++) {
        struct message *chain[2];

        begin(&box, limits[i]);
        for (uint32_t j = 0; j < 2; j++)
            chain[j] = make(&box.cache, j + 1);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 0, &wake), 0);
        CU_ASSERT_EQUAL(mailbox_push_chain(&box.mailbox, SERIAL, chain, 2, &wake), 2);
        CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), 3);
        finish(&box);
    }
}

/* promise S5 */
static void test_limit_set_after_many_messages_holds_at_once(void)
{
    /* The first: the 32 bits of the tail are at 1 when the limit is set, as they were long ago. */
    const uint64_t passed[] = { (1ull << 32) - 1, (1ull << 31) + 5, 3000000000ull };
    bool wake;

    for (uint32_t i = 0; i < 3; i++) {
        struct box box = { .mailbox = { .limit = 0 } };

        begin(&box, 0);
        pass(&box, passed[i]);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 0, &wake), 0);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 1, &wake), 0);
        mailbox_set_limit(&box.mailbox, 3);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 2, &wake), 0);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 3, &wake), WEIR_EFULL);
        CU_ASSERT_EQUAL(pop(&box), 0);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 3, &wake), 0);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 4, &wake), WEIR_EFULL);
        finish(&box);
    }
}

/* promise L1: accepted is 64 bits, also when the 32 bits of the admission word run over. */
static void test_tail_runs_over_and_counts_stay_exact(void)
{
    struct box box;
    uint64_t start = 0xfffffffdull;
    bool wake;

    begin(&box, 4);
    pass(&box, start);
    mailbox_set_limit(&box.mailbox, 4);
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t id = 0; id < 4; id++)
            CU_ASSERT_EQUAL(push(&box, SERIAL, id, &wake), 0);
        CU_ASSERT_EQUAL(push(&box, SERIAL, 4, &wake), WEIR_EFULL);
        CU_ASSERT_EQUAL(mailbox_waiting(&box.mailbox), 4);
        CU_ASSERT_EQUAL(mailbox_accepted(&box.mailbox), start + 4 * (round + 1));
        for (uint64_t id = 0; id < 4; id++)
            CU_ASSERT_EQUAL(pop(&box), id);
    }
    CU_ASSERT_EQUAL(mailbox_serial(atomic_load(&box.mailbox.word)), SERIAL);
    CU_ASSERT_FALSE(atomic_load(&box.mailbox.word) & MAILBOX_CLOSED);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    finish(&box);
}

/* --- several senders ------------------------------------------------------------------------ */

struct sender {
    struct mailbox *mailbox;
    struct cache cache;
    uint64_t base;
    uint64_t full;
    atomic_bool *scheduled; /* set by a sender while the owner sleeps; NULL: it never does */
    pthread_t thread;
};

/* Sends all it has; a refused message is sent again. */
static void *send_all(void *argument)
{
    struct sender *sender = argument;

    for (uint64_t i = 0; i < EACH; i++) {
        struct message *message = make(&sender->cache, sender->base + i);
        bool wake;

        while (mailbox_push(sender->mailbox, SERIAL, message, &wake) != 0) {
            sender->full++;
            (void)sched_yield();
        }
        if (wake && sender->scheduled)
            atomic_store(sender->scheduled, true);
    }
    return NULL;
}

/* promises S1, S3 and S5 */
static void test_many_senders_lose_nothing_and_keep_their_order(void)
{
    struct box box;
    struct sender senders[SENDERS];
    uint64_t next[SENDERS] = { 0 };
    uint32_t most = 0;
    uint32_t wrong = 0;

    begin(&box, 8);
    for (size_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ .mailbox = &box.mailbox, .base = i << 32 };
        cache_init(&senders[i].cache);
        CU_ASSERT_EQUAL(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    }
    for (uint64_t got = 0; got < (uint64_t)SENDERS * EACH;) {
        uint32_t waiting = mailbox_waiting(&box.mailbox);
        struct message *message = mailbox_pop(&box.mailbox);

        most = waiting > most ? waiting : most;
        if (!message) {
            (void)sched_yield();
            continue;
        }
        wrong += (uint32_t)id_of(message) != next[id_of(message) >> 32]++;
        message_destroy(&box.cache, message);
        got++;
    }
    for (size_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(most <= 8);
    CU_ASSERT_TRUE(mailbox_try_idle(&box.mailbox));
    CU_ASSERT_EQUAL(mailbox_accepted(&box.mailbox), SENDERS * EACH);
    finish(&box);
    for (size_t i = 0; i < SENDERS; i++)
        cache_finish(&senders[i].cache);
}

/* Takes all messages; sleeps when there are none, until a sender wakes it. */
static struct message *take_or_sleep(struct box *box, atomic_bool *scheduled)
{
    struct message *message = mailbox_pop(&box->mailbox);

    if (message || !mailbox_try_idle(&box->mailbox))
        return message;
    while (!atomic_exchange(scheduled, false))
        (void)sched_yield();
    return mailbox_pop(&box->mailbox);
}

/* promises S2 and S3: the message of the waking sender comes before the queue of the others. */
static void test_sleeps_between_many_senders_lose_nothing_and_keep_the_order(void)
{
    struct box box;
    struct sender senders[SENDERS];
    uint64_t next[SENDERS] = { 0 };
    atomic_bool scheduled = false;
    uint32_t wrong = 0;

    begin(&box, 8);
    for (size_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ .mailbox = &box.mailbox,
                                      .base = i << 32,
                                      .scheduled = &scheduled };
        cache_init(&senders[i].cache);
        CU_ASSERT_EQUAL(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    }
    for (uint64_t got = 0; got < (uint64_t)SENDERS * EACH;) {
        struct message *message = take_or_sleep(&box, &scheduled);

        if (!message)
            continue;
        wrong += (uint32_t)id_of(message) != next[id_of(message) >> 32]++;
        message_destroy(&box.cache, message);
        got++;
    }
    for (size_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(mailbox_empty(&box.mailbox));
    finish(&box);
    for (size_t i = 0; i < SENDERS; i++)
        cache_finish(&senders[i].cache);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "limit of one", test_limit_of_one_is_exact },
        { "no limit", test_no_limit_admits_all },
        { "limit lowered", test_lowered_limit_keeps_what_waits_and_refuses_until_below },
        { "limit raised", test_raised_limit_admits_at_once },
        { "limit huge", test_limit_that_no_memory_holds_refuses_nothing },
        { "limit late", test_limit_set_after_many_messages_holds_at_once },
        { "closed", test_fresh_or_closed_mailbox_refuses_closed },
        { "ended", test_ended_serial_refuses_terminated },
        { "order", test_messages_come_out_in_order },
        { "wake", test_push_wakes_idle_owner_once },
        { "what woke it", test_sleeper_finds_first_what_woke_it },
        { "put back", test_message_that_is_put_back_keeps_its_place },
        { "behind the one that woke",
          test_message_that_is_put_back_comes_behind_the_one_that_woke },
        { "no wake", test_refused_push_does_not_wake },
        { "muted", test_muted_owner_is_woken_by_other_lanes_only },
        { "other lanes", test_other_lanes_come_out_oldest_first },
        { "tail runs over", test_tail_runs_over_and_counts_stay_exact },
        { "many senders", test_many_senders_lose_nothing_and_keep_their_order },
        { "many senders, sleeps",
          test_sleeps_between_many_senders_lose_nothing_and_keep_the_order },
        CU_TEST_INFO_NULL,
    };

    return suite_run("mailbox", tests);
}
